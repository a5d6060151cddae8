// What a person says of merges, done to a cache while its stream is replayed; and what there is to say
// something about.
//
// Slots and members are named by items of the stream, so that a correction still means the same when
// another setting has given the slots other numbers.
import { DpcacheError } from 'dpcache';
import type { Cache as TrustCache, Item } from 'dpcache/trust';
import type { Decision } from './chunk';
import type { Layout } from './layout';
import { exampleOf, labelLength } from './memory';
import type { Correction, Edit, MemberInfo, SlotRef, TrustInfo } from './protocol';

/** What the caller knows of the stream. */
export interface Source {
  /** Of an item by its number from 0, as it was observed. */
  item(i: number): Item;
  /** Of an item by its name among the members. */
  numberOf(id: string): number | undefined;
  label(i: number): string;
  time: number;
}

const textOf = (text: string): string => text.slice(0, labelLength);

/** Follows a replay, and makes corrections in it. */
export class Corrector {
  readonly #cache: TrustCache;
  readonly #source: Source;
  /** Events before the stream: members of theirs were there before. */
  readonly #before: number;
  readonly #slotOf: number[] = [];
  readonly #into = new Map<number, number>();

  constructor(cache: TrustCache, source: Source) {
    this.#cache = cache;
    this.#source = source;
    this.#before = cache.stats().seq;
  }

  /** To be called with what became of each item. */
  note({ slot, folded }: Decision): void {
    this.#slotOf.push(slot);
    for (const { slot: gone, into } of folded) this.#into.set(gone, into);
  }

  /** Makes a correction; undefined: it has changed no slot. Throws if it cannot be made. */
  make(correction: Correction, layout?: Layout): Edit | undefined {
    const { at } = correction;
    const time = this.#source.time;
    const cache = this.#cache;
    if (correction.kind === 'verdict') {
      const slot = this.#find(correction.slot);
      const other = this.#find(correction.other);
      if (slot === other) throw new Error('The two are one slot already.');
      const older = Math.min(slot, other);
      const newer = Math.max(slot, other);
      const isListed = cache
        .reviews()
        .some((one) => one.slot === newer && one.other === older);
      if (isListed) cache.review(newer, older, correction.verdict, { time });
      else if (correction.verdict === 'same') cache.mustMerge(older, newer, { time });
      else cache.mustNotMerge(older, newer, { time });
      if (correction.verdict === 'different') return undefined;
      this.#into.set(newer, older);
      layout?.remove(newer);
      return { at, kind: 'fold', slot: newer, into: older };
    }
    const { member: wanted } = correction;
    const item = 'item' in wanted ? wanted.item : -1;
    const slot = this.#find(item >= 0 ? { item } : (wanted as { slot: number }));
    const member = cache
      .members(slot)
      .find((one) =>
        'seq' in wanted ? one.member === wanted.seq : this.#itemOf(one.member, one.id) === item,
      );
    if (!member) throw new Error(`Slot ${slot} does not list that item.`);
    const brought = member.kept || item < 0 ? {} : { item: plain(this.#source.item(item)) };
    const opened = cache.split(slot, member.member, { time, ...brought });
    if (item >= 0) this.#slotOf[item] = opened;
    const now = cache.slot(opened);
    const from = cache.slot(slot);
    const [first] = cache.members(slot);
    const near = cache.score([now.key], { k: 6, time: null })[0] ?? [];
    const place = layout?.place(
      opened,
      near.filter((one) => one.slot !== opened),
    );
    return {
      at,
      kind: 'split',
      slot,
      opened,
      item,
      usage: now.usage,
      example: textOf(exampleOf(now.payload)),
      left: {
        usage: from.usage,
        example: textOf(exampleOf(from.payload)),
        first: first ? this.#itemOf(first.member, first.id) : -1,
      },
      x: place?.x ?? 0,
      y: place?.y ?? 0,
    };
  }

  /** What there is to be reviewed now. */
  info(slot: number): TrustInfo {
    const cache = this.#cache;
    return {
      slot,
      members: this.#members(slot),
      reviews: cache.reviews(),
      apart: cache.apart(),
    };
  }

  #members(slot: number): MemberInfo[] | null {
    if (slot === 0) return null;
    try {
      return this.#cache.members(slot).map((one) => {
        const item = this.#itemOf(one.member, one.id);
        const kept = one.kept ? one.text || exampleOf(one.payload) : (one.id ?? '');
        return {
          seq: one.member,
          item,
          name: one.id ?? '',
          text: textOf(item >= 0 ? this.#source.label(item) : kept),
          similarity: one.similarity,
          threshold: one.threshold,
          time: one.time,
          opened: one.opened,
          guarded: one.guarded,
        };
      });
    } catch (error) {
      // Without an audit, and for a slot that has gone, there is nothing to list.
      if (error instanceof DpcacheError) return null;
      throw error;
    }
  }

  #itemOf(seq: number, id: string | null): number {
    return seq > this.#before && id !== null ? (this.#source.numberOf(id) ?? -1) : -1;
  }

  #find(ref: SlotRef): number {
    let slot = 'item' in ref ? this.#slotOf[ref.item] : ref.slot;
    if (slot === undefined) throw new Error('That item has not come yet.');
    for (let into = this.#into.get(slot); into !== undefined; into = this.#into.get(slot)) slot = into;
    return slot;
  }
}

/** What split() takes of an item: its name is kept with the member. */
function plain({ id: _id, time: _time, ...item }: Item): Item {
  return item;
}

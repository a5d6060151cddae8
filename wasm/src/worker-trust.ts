// A cache of dpcache/trust that lives in a worker: its methods, as promises.
import { toInteger, toOptions } from './arguments.js';
import { DpcacheError } from './errors.js';
import { verdicts, type Verdict } from './judge.js';
import {
  prepareLookup,
  prepareTrusted,
  type AsyncTrust,
  type Decision,
  type Item,
  type Lookup,
  type LookupOptions,
  type Member,
  type Review,
} from './trust-items.js';
import type { Query } from './types.js';
import { WorkerCache } from './worker-cache.js';
import { checkAll, Parcel, plainOptions, trustedIn, type TransferOption } from './worker-parcel.js';

/** The methods of Cache of dpcache/trust. Calls are carried out in the order in which they are made. */
export class WorkerTrustCache extends WorkerCache implements AsyncTrust {
  override async observe(item: Item, options?: TransferOption): Promise<Decision> {
    const parcel = new Parcel(options);
    const sent = trustedIn(parcel, prepareTrusted(item));
    return this.alter('observeTrusted', [sent], parcel.buffers);
  }

  override async observeBatch(
    items: readonly Item[],
    options?: TransferOption,
  ): Promise<Decision[]> {
    const parcel = new Parcel(options);
    const checked = checkAll(items, 'items', (item) => trustedIn(parcel, prepareTrusted(item)));
    return this.alter('observeTrustedBatch', [checked], parcel.buffers);
  }

  async lookup(query: Query, options: LookupOptions & TransferOption = {}): Promise<Lookup> {
    const parcel = new Parcel(options);
    const asked = prepareLookup(query, options);
    return this.ask('lookup', [{ ...asked, key: parcel.query(asked.key) }], parcel.buffers);
  }

  async members(slot: number): Promise<Member[]> {
    return this.ask('members', [toInteger(slot, '/slot')]);
  }

  async split(
    slot: number,
    member: number,
    options: { time?: number; item?: Item } & TransferOption = {},
  ): Promise<number> {
    const parcel = new Parcel(options);
    toInteger(slot, '/slot');
    toInteger(member, '/member');
    const { time, item } = toOptions(options);
    const sent = item === undefined ? undefined : trustedIn(parcel, prepareTrusted(item));
    const at = time === undefined ? {} : { time };
    return this.alter('split', [slot, member, at, sent], parcel.buffers);
  }

  async mustNotMerge(slot: number, other: number, options?: { time?: number }): Promise<void> {
    return this.alter('mustNotMerge', [slot, other, plainOptions(options)]);
  }

  async mustMerge(slot: number, other: number, options?: { time?: number }): Promise<void> {
    return this.alter('mustMerge', [slot, other, plainOptions(options)]);
  }

  async reviews(): Promise<Review[]> {
    return this.ask('reviews', []);
  }

  async apart(): Promise<{ slot: number; other: number }[]> {
    return this.ask('apart', []);
  }

  async review(
    slot: number,
    other: number,
    verdict: Verdict,
    options?: { time?: number },
  ): Promise<void> {
    if (!verdicts.includes(verdict)) {
      throw DpcacheError.at('/verdict', `must be one of ${verdicts.join(', ')}`);
    }
    return this.alter('review', [slot, other, verdict, plainOptions(options)]);
  }
}

// dpcache/trust: a cache whose merges can be uncertain, guarded, listed and undone. Its WebAssembly is
// a file of its own, loaded by the first call.
import { readDecision, readMatch, readPayload } from './answers.js';
import { prepareAll, toInteger, toOptions, writeItem, writeKey } from './arguments.js';
import { Cache as PlainCache, named } from './cache.js';
import { DpcacheError } from './errors.js';
import {
  Hearing,
  verdicts,
  type Doubt,
  type Judge,
  type JudgeOptions,
  type Question,
  type Side,
  type Verdict,
} from './judge.js';
import { optionalTime } from './settings.js';
import type { TrustCore } from './trust-core.js';
import {
  emptyTrusted,
  founds,
  guards,
  prepareLookup,
  prepareTrusted,
  reasons,
  type Config,
  type Decision,
  type Guard,
  type Item,
  type Lookup,
  type LookupOptions,
  type Member,
  type Review,
  type Trusted,
} from './trust-items.js';
import { runtime } from './trust-runtime.js';
import type { Config as PlainConfig, LoadOptions, OpenOptions, Query } from './types.js';
import type { Reply, Request } from './wire.js';

export {
  advise,
  type Advice,
  type AdviceEncoder,
  type AdviceItem,
  type AdvicePair,
  type AdviseOptions,
  type TauTried,
  type Valley,
} from './advise.js';
export { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
export type { Judge, JudgeOptions, Question, Side, Verdict } from './judge.js';
export type {
  Config,
  Decision,
  Guard,
  Item,
  Lookup,
  LookupOptions,
  Member,
  Review,
} from './trust-items.js';
export type { Match, OpenOptions, Query } from './types.js';


// --- The order in which ../trust_bindings.cc reads and writes them

function writeTrusted(request: Request, { item, id, text, scope }: Trusted): void {
  writeItem(request, item);
  request.text(id);
  request.text(text);
  request.text(scope);
}

function readGuards(reply: Reply): Guard[] {
  const bits = reply.number();
  return guards.filter((_, i) => (bits >> i) & 1);
}

function readTrusted(reply: Reply): Decision {
  const decision = readDecision(reply);
  const uncertain = reply.number() !== 0;
  const verdict = reply.maybe();
  const said = verdict === null ? null : (verdicts[verdict] as Verdict);
  return { ...decision, uncertain, verdict: said, guarded: readGuards(reply) };
}

function readLookup(reply: Reply): Lookup {
  return {
    found: founds[reply.number()] as Lookup['found'],
    slot: readMatch(reply),
    other: readMatch(reply),
    novelty: reply.number(),
    tauMerge: reply.number(),
    threshold: reply.number(),
    guarded: readGuards(reply),
    reasons: reply.list(() => reasons[reply.number()] as Lookup['reasons'][number]),
  };
}

function readMember(reply: Reply): Member {
  return {
    member: reply.number(),
    id: reply.text() || null,
    time: reply.number(),
    opened: reply.number() !== 0,
    similarity: reply.number(),
    threshold: reply.number(),
    gate: reply.number(),
    guarded: readGuards(reply),
    kept: reply.number() !== 0,
    key: reply.maybeFloats(),
    value: reply.maybeFloats(),
    payload: readPayload(reply),
    exactKey: reply.maybeText(),
    text: reply.text(),
    scope: reply.text(),
  };
}

const firstText = (members: readonly Member[]): string =>
  members.find(({ text }) => text !== '')?.text ?? '';

const nothing = (): void => {};
const noAnswer = (): undefined => undefined;

/** The cache of dpcache, with more to say of its merges, and with a way to undo them. */
export class Cache extends PlainCache {
  #hearing: Hearing | undefined;

  static override async create(config: Config, options: OpenOptions = {}): Promise<Cache> {
    return PlainCache.made(
      config as PlainConfig,
      toOptions(options),
      runtime,
      (held) => new Cache(held),
    );
  }

  static override async load(bytes: Uint8Array, options: LoadOptions = {}): Promise<Cache> {
    return PlainCache.loaded(bytes, options, runtime, (held) => new Cache(held));
  }

  override observe(item: Item): Decision {
    const prepared = prepareTrusted(item);
    const decision = this.alter(
      this.#calls.observeTrusted,
      (request) => {
        request.number(1);
        writeTrusted(request, prepared);
      },
      readTrusted,
    );
    return this.#judged(decision, prepared);
  }

  override observeBatch(items: readonly Item[]): Decision[] {
    const { prepared, errors } = prepareAll(items, 'items', (item: Item) => prepareTrusted(item), emptyTrusted);
    const calls = this.#calls;
    const decisions = named(errors, () =>
      this.alter(
        calls.observeTrusted,
        (request) => {
          request.number(prepared.length);
          for (const item of prepared) writeTrusted(request, item);
        },
        (reply) => prepared.map(() => readTrusted(reply)),
      ),
    );
    return decisions.map((decision, i) => this.#judged(decision, prepared[i] as Trusted));
  }

  /**
   * From now on `judge` is asked of each item that is uncertain, when observe() has taken it (of a
   * batch, when all of it is taken). Its answer is recorded as that of review(), at once or when its
   * promise settles; a verdict that comes at once stands in the decision that observe() returns.
   * Errors leave the pair listed by reviews(). Null: nobody is asked any more.
   */
  onUncertain(judge: Judge | null, options: JudgeOptions = {}): void {
    const given = toOptions(options);
    this.#hearing =
      judge === null
        ? undefined
        : new Hearing(
            judge,
            {
              question: (doubt) => this.#question(doubt),
              record: ({ slot, other, time }, verdict) =>
                this.review(slot, other, verdict, { time }),
            },
            given,
          );
  }

  /** Settles when the judge has answered all that it was asked. */
  async judged(): Promise<void> {
    await this.#hearing?.over();
  }

  /** Whether there is an answer for a query: a hit, a miss, or a slot of which that is uncertain. */
  lookup(query: Query, options: LookupOptions = {}): Lookup {
    const { key, time, encoder, exactKey, text, scope } = prepareLookup(query, options);
    return this.ask(
      this.#calls.lookup,
      (request) => {
        writeKey(request, key);
        request.maybe(time);
        request.text(encoder);
        request.maybeText(exactKey);
        request.text(text);
        request.text(scope);
      },
      readLookup,
    );
  }

  /** What a slot has absorbed, in the order in which it came. `bad_config`: there is no audit. */
  members(slot: number): Member[] {
    toInteger(slot, '/slot');
    return this.ask(
      this.#calls.members,
      (request) => request.number(slot),
      (reply) => reply.list(() => readMember(reply)),
    );
  }

  /**
   * Undoes a merge: the member opens a slot of its own, whose id this returns, and the two are never
   * merged again. `bad_config`: what is kept does not allow it. With audit `ids` the item must be
   * given once more.
   */
  split(slot: number, member: number, options: { time?: number; item?: Item } = {}): number {
    toInteger(slot, '/slot');
    toInteger(member, '/member');
    const { time, item } = toOptions(options);
    const at = optionalTime(time);
    const brought = item === undefined ? undefined : prepareTrusted(item);
    return this.alter(
      this.#calls.split,
      (request) => {
        request.number(slot);
        request.number(member);
        request.number(at);
        request.number(brought === undefined ? 0 : 1);
        if (brought !== undefined) writeTrusted(request, brought);
      },
      (reply) => reply.number(),
    );
  }

  /** The two slots are never merged, nor what they are folded into. */
  mustNotMerge(slot: number, other: number, options: { time?: number } = {}): void {
    this.#pair(this.#calls.mustNotMerge, slot, other, options);
  }

  /** Folds `other` into `slot`, whatever their distance. */
  mustMerge(slot: number, other: number, options: { time?: number } = {}): void {
    this.#pair(this.#calls.mustMerge, slot, other, options);
  }

  /** The pairs that wait for a verdict. */
  reviews(): Review[] {
    return this.ask(this.#calls.pairs, nothing, (reply) =>
      reply.list(() => ({
        slot: reply.number(),
        other: reply.number(),
        similarity: reply.number(),
      })),
    );
  }

  /** The pairs that must not be merged, the older slot first. */
  apart(): { slot: number; other: number }[] {
    return this.ask(this.#calls.pairs, nothing, (reply) => {
      reply.list(() => [reply.number(), reply.number(), reply.number()]);
      return reply.list(() => ({ slot: reply.number(), other: reply.number() }));
    });
  }

  /** Answers for a pair of reviews(): `same` folds the newer slot into the older. `not_found`. */
  review(slot: number, other: number, verdict: Verdict, options: { time?: number } = {}): void {
    const place = verdicts.indexOf(verdict);
    if (place < 0) throw DpcacheError.at('/verdict', `must be one of ${verdicts.join(', ')}`);
    this.#pair(this.#calls.review, slot, other, options, place);
  }

  #judged(decision: Decision, { item, text }: Trusted): Decision {
    const { slot, nearest, folded, similarity, threshold } = decision;
    if (!this.#hearing || !decision.uncertain || decision.verdict !== null) return decision;
    if (nearest === null || decision.action === 'merge') return decision;
    const { time } = item;
    const doubt = { slot, other: nearest.slot, similarity, threshold, text, time };
    const verdict = this.#hearing.hear(doubt);
    if (verdict === null) return decision;
    const fold = verdict === 'same' ? [{ slot, into: doubt.other }] : [];
    return { ...decision, verdict, folded: [...folded, ...fold] };
  }

  #question(doubt: Doubt): Question | undefined {
    const { slot, similarity, threshold, text } = doubt;
    try {
      const { tauMerge = threshold } = this.config as Config;
      const item = this.#side(slot, text);
      // An answer before this one may have folded the other slot: then its heir is what is asked for.
      const pair = this.reviews().find((one) => one.slot === slot);
      if (pair === undefined) return undefined;
      doubt.other = pair.other;
      return { item, other: this.#side(doubt.other, ''), similarity, tauMerge, threshold };
    } catch (error) {
      const code = error instanceof DpcacheError ? error.code : '';
      if (code === 'not_found' || code === 'disposed') return undefined;
      throw error;
    }
  }

  #side(slot: number, known: string): Side {
    const { payload } = this.slot(slot);
    const kept = this.ask(
      this.#calls.slotText,
      (request) => request.number(slot),
      (reply) => reply.text(),
    );
    const { audit } = this.config as Config;
    const text = known || kept || (audit === 'full' ? firstText(this.members(slot)) : '');
    return { slot, text, payload };
  }

  get #calls(): TrustCore {
    return this.core as TrustCore;
  }

  #pair(
    call: (handle: number) => number,
    slot: number,
    other: number,
    options: { time?: number },
    more?: number,
  ): void {
    toInteger(slot, '/slot');
    toInteger(other, '/other');
    const at = optionalTime(toOptions(options).time);
    this.alter(
      call,
      (request) => {
        for (const number of [slot, other, at]) request.number(number);
        if (more !== undefined) request.number(more);
      },
      noAnswer,
    );
  }
}

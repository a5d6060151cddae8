// dpcache/trust: a cache whose merges can be uncertain, guarded, listed and undone. Its WebAssembly is
// a file of its own, loaded by the first call.
import { readDecision, readMatch, readPayload } from './answers.js';
import {
  emptyItem,
  prepareAll,
  prepareItem,
  prepareQuery,
  toInteger,
  toOptions,
  toText,
  toUtf8Text,
  writeItem,
  writeKey,
  type Prepared,
} from './arguments.js';
import { Cache as PlainCache, named } from './cache.js';
import { DpcacheError } from './errors.js';
import { optionalTime } from './settings.js';
import type { TrustCore } from './trust-core.js';
import { runtime } from './trust-runtime.js';
import type {
  Config as PlainConfig,
  Decision as PlainDecision,
  Item as PlainItem,
  Json,
  LoadOptions,
  Match,
  OpenOptions,
  Query,
} from './types.js';
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
export type { Match, OpenOptions, Query } from './types.js';

/** What keeps texts apart that say different things, however alike their vectors. */
export type Guard =
  | 'number'
  | 'negation'
  | 'antonym'
  | 'identifier'
  | 'entity'
  | 'replaced'
  | 'order'
  | 'scope';
export type Verdict = 'same' | 'different' | 'unknown';

// In the order of the library's.
const guards: readonly Guard[] = [
  'number',
  'negation',
  'antonym',
  'identifier',
  'entity',
  'replaced',
  'order',
  'scope',
];
const verdicts: readonly Verdict[] = ['same', 'different', 'unknown'];
const founds = ['miss', 'uncertain', 'hit'] as const;
const reasons = ['empty', 'exactKey', 'near', 'between', 'far', 'guarded', 'rival'] as const;

export interface Config extends PlainConfig {
  /**
   * At most so novel: an item merges. From here to the threshold it is uncertain: it opens a slot,
   * and the pair is listed for review. From 0 to the threshold, which is the default.
   */
  tauMerge?: number;
  /** What is kept of the items that slots absorb; `full`: all, so that merges can be undone. */
  audit?: 'none' | 'ids' | 'full';
  /** How many members a slot lists, [2, 2^20], default 1024; of more the first and the latest. */
  auditMembers?: number;
  guards?: readonly Guard[];
}

export interface Item extends PlainItem {
  /** Names the item among its slot's members. At most 1024 bytes. */
  id?: string;
  /** What the guards compare, of an item with a key. (Of one with a text it is that.) */
  guardText?: string;
  /** Tenant, namespace, filters: with the guard `scope` other scopes never share a slot. */
  scope?: string;
}

export interface Decision extends PlainDecision {
  /** Above `tauMerge`, and not above the threshold. */
  uncertain: boolean;
  verdict: Verdict | null;
  /** The guards that stopped merges with nearer slots. */
  guarded: Guard[];
}

export interface LookupOptions {
  /** Skip what has expired by then; default Date.now(), null: nothing. */
  time?: number | null;
  encoder?: string;
  exactKey?: string;
  guardText?: string;
  scope?: string;
}

export interface Lookup {
  found: 'hit' | 'uncertain' | 'miss';
  /** The one that answers, or may; on a miss the nearest. */
  slot: Match | null;
  /** The nearest of the others. */
  other: Match | null;
  novelty: number;
  tauMerge: number;
  threshold: number;
  guarded: Guard[];
  /** `rival`: the nearest other slot is within the threshold too. */
  reasons: (typeof reasons)[number][];
}

export interface Member {
  /** The number by which split() knows it: the seq of its event. */
  member: number;
  id: string | null;
  time: number;
  /** It opened a slot, this one or a folded one. */
  opened: boolean;
  /** When it came: to the slot joined, or to the nearest miss. */
  similarity: number;
  threshold: number;
  gate: number;
  guarded: Guard[];
  /** With audit `full`: what follows is its own. */
  kept: boolean;
  key: Float32Array | null;
  value: Float32Array | null;
  payload: Json | undefined;
  exactKey: string | null;
  text: string;
  scope: string;
}

/** The newer slot first. */
export interface Review {
  slot: number;
  other: number;
  similarity: number;
}

interface Trusted {
  item: Prepared;
  id: string;
  text: string;
  scope: string;
}

const empty: Trusted = { item: emptyItem, id: '', text: '', scope: '' };

const maybeText = (x: string | undefined, pointer: string): string =>
  x === undefined ? '' : toUtf8Text(x, pointer);

function prepare(item: Item): Trusted {
  if (typeof item !== 'object' || item === null) return { ...empty, item: prepareItem(item) };
  const { id, guardText, scope, ...plain } = item;
  const prepared = prepareItem(plain);
  const text = typeof prepared.key === 'string' ? prepared.key : undefined;
  if (text !== undefined && guardText !== undefined) {
    throw DpcacheError.at('/guardText', 'goes with a key: a text is for the guards too');
  }
  return {
    item: prepared,
    id: maybeText(id, '/id'),
    text: text ?? maybeText(guardText, '/guardText'),
    scope: maybeText(scope, '/scope'),
  };
}

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

const nothing = (): void => {};
const noAnswer = (): undefined => undefined;

/** The cache of dpcache, with more to say of its merges, and with a way to undo them. */
export class Cache extends PlainCache {
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
    const prepared = prepare(item);
    return this.alter(
      this.#calls.observeTrusted,
      (request) => {
        request.number(1);
        writeTrusted(request, prepared);
      },
      readTrusted,
    );
  }

  override observeBatch(items: readonly Item[]): Decision[] {
    const { prepared, errors } = prepareAll(items, 'items', prepare, empty);
    const calls = this.#calls;
    return named(errors, () =>
      this.alter(
        calls.observeTrusted,
        (request) => {
          request.number(prepared.length);
          for (const item of prepared) writeTrusted(request, item);
        },
        (reply) => prepared.map(() => readTrusted(reply)),
      ),
    );
  }

  /** Whether there is an answer for a query: a hit, a miss, or a slot of which that is uncertain. */
  lookup(query: Query, options: LookupOptions = {}): Lookup {
    const key = prepareQuery(query);
    const { time, encoder, exactKey, guardText, scope } = toOptions(options);
    const at = time === undefined ? Date.now() : time === null ? null : toInteger(time, '/time');
    const maker = encoder === undefined ? '' : toText(encoder, '/encoder');
    const exact = exactKey === undefined ? undefined : toUtf8Text(exactKey, '/exactKey');
    const text = typeof key === 'string' ? key : maybeText(guardText, '/guardText');
    const where = maybeText(scope, '/scope');
    return this.ask(
      this.#calls.lookup,
      (request) => {
        writeKey(request, key);
        request.maybe(at);
        request.text(maker);
        request.maybeText(exact);
        request.text(text);
        request.text(where);
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
    const brought = item === undefined ? undefined : prepare(item);
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

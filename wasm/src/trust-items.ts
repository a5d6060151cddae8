// What caches whose merges can be undone take and tell: the shapes that dpcache/trust, the worker and a
// server's client share, and the checking of what goes in. No WebAssembly.
import {
  emptyItem,
  prepareItem,
  prepareQuery,
  toInteger,
  toOptions,
  toText,
  toUtf8Text,
  type Prepared,
  type PreparedQuery,
} from './arguments.js';
import { DpcacheError } from './errors.js';
import type { Verdict } from './judge.js';
import type {
  Config as PlainConfig,
  Decision as PlainDecision,
  Item as PlainItem,
  Json,
  Match,
  Query,
} from './types.js';

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
// In the order of the library's.
export const guards: readonly Guard[] = [
  'number',
  'negation',
  'antonym',
  'identifier',
  'entity',
  'replaced',
  'order',
  'scope',
];
export const founds = ['miss', 'uncertain', 'hit'] as const;
export const reasons = ['empty', 'exactKey', 'near', 'between', 'far', 'guarded', 'rival'] as const;

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
  /**
   * Each correction and each answer moves `gate.b` by at most so much, and `gate.a` in proportion.
   * (0, 1]; 0.02 is a good one. Only with a gate. `config` tells where the gate has come to.
   */
  correctionRate?: number;
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

/** What `TrustCache` of `dpcache/worker` and of `dpcache/remote` have beside what `Cache` has. */
export interface AsyncTrust {
  lookup(query: Query, options?: LookupOptions): Promise<Lookup>;
  members(slot: number): Promise<Member[]>;
  split(slot: number, member: number, options?: { time?: number; item?: Item }): Promise<number>;
  mustNotMerge(slot: number, other: number, options?: { time?: number }): Promise<void>;
  mustMerge(slot: number, other: number, options?: { time?: number }): Promise<void>;
  reviews(): Promise<Review[]>;
  apart(): Promise<{ slot: number; other: number }[]>;
  review(slot: number, other: number, verdict: Verdict, options?: { time?: number }): Promise<void>;
}

/** An item that was checked. */
export interface Trusted {
  item: Prepared;
  id: string;
  text: string;
  scope: string;
}

export const emptyTrusted: Trusted = { item: emptyItem, id: '', text: '', scope: '' };

const maybeText = (x: string | undefined, pointer: string): string =>
  x === undefined ? '' : toUtf8Text(x, pointer);

export function prepareTrusted(
  item: Item,
  clock?: () => number,
): Trusted {
  if (typeof item !== 'object' || item === null) return { ...emptyTrusted, item: prepareItem(item) };
  const { id, guardText, scope, ...plain } = item;
  const prepared = prepareItem(plain, clock);
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

/** A query and what goes with it, checked. */
export interface PreparedLookup {
  key: PreparedQuery;
  time: number | null;
  encoder: string;
  exactKey: string | undefined;
  text: string;
  scope: string;
}

export function prepareLookup(
  query: Query,
  options: LookupOptions,
  clock: () => number = Date.now,
): PreparedLookup {
  const { time, encoder, exactKey, guardText, scope } = toOptions(options);
  const key = prepareQuery(query);
  return {
    key,
    time: time === undefined ? clock() : time === null ? null : toInteger(time, '/time'),
    encoder: encoder === undefined ? '' : toText(encoder, '/encoder'),
    exactKey: exactKey === undefined ? undefined : toUtf8Text(exactKey, '/exactKey'),
    text: typeof key === 'string' ? key : maybeText(guardText, '/guardText'),
    scope: maybeText(scope, '/scope'),
  };
}

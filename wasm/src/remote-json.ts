// Items and queries as the server takes them, and its answers as the types of this package.
//
// The server writes a float32 as the shortest decimal that stands for it, so Math.fround gives its
// bits.
import type { Prepared, PreparedOptions, PreparedQuery } from './arguments.js';
import { toBase64 } from './base64.js';
import { camel } from './names.js';
import type {
  CacheEvent,
  Decision,
  FullConfig,
  Json,
  Match,
  Reading,
  Slot,
  Stats,
} from './types.js';
import type { Verdict } from './judge.js';
import type { Guard } from './trust-items.js';

/** A body, as JSON or as plain floats. */
export type Body = string | Uint8Array<ArrayBuffer>;

/** Lengths of keys and values. */
export interface Shape {
  dimension: number;
  valueDimension: number;
}

// Stands for the server's clock where a time is asked for.
export const kServersClock = NaN;
export const serversClock = (): number => kServersClock;

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function bytesOf(floats: Float32Array): Uint8Array {
  if (isLittleEndian) return new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
  const view = new DataView(new ArrayBuffer(floats.byteLength));
  floats.forEach((x, i) => view.setFloat32(4 * i, x, true));
  return new Uint8Array(view.buffer);
}

function rows(parts: readonly Float32Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(bytesOf(part), at);
    at += part.byteLength;
  }
  return bytes;
}

// JSON has no unpaired surrogates; UTF-8, which the local cache encodes, reads them as this too.
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

export function keyOf(key: PreparedQuery): object {
  return typeof key === 'string' ? { text: wellFormed(key) } : { key: toBase64(bytesOf(key)) };
}

function isPlain(item: Prepared, { dimension, valueDimension }: Shape): boolean {
  return (
    item.key.length === dimension &&
    typeof item.key !== 'string' &&
    item.value.length === valueDimension &&
    item.payload.length === 0 &&
    item.exactKey === undefined &&
    Number.isNaN(item.time) &&
    item.ttlMs === undefined &&
    item.encoder === ''
  );
}

const utf8 = new TextEncoder();

/** Plain floats where no item is more than that. */
export function itemsBody(items: readonly Prepared[], shape: Shape): Body {
  if (items.every((item) => isPlain(item, shape))) {
    return rows(items.flatMap((item) => [item.key as Float32Array, item.value]));
  }
  return JSON.stringify({ items: items.map(itemJson) });
}

/** One item as JSON has it. */
export function itemJson(item: Prepared): object {
  return {
    ...keyOf(item.key),
    ...(item.value.length > 0 && { value: toBase64(bytesOf(item.value)) }),
    // As bytes, so that it is kept to the letter, as by a local cache.
    ...(item.payload.length > 0 && {
      payload_base64: toBase64(
        typeof item.payload === 'string' ? utf8.encode(item.payload) : item.payload,
      ),
    }),
    ...(item.exactKey !== undefined && { exact_key: item.exactKey }),
    ...(!Number.isNaN(item.time) && { time: item.time }),
    ...(item.ttlMs !== undefined && { ttl_ms: item.ttlMs }),
    ...(item.encoder !== '' && { encoder: wellFormed(item.encoder) }),
  };
}

/** The same of queries; `k` goes into the address. */
export function queriesBody(
  queries: readonly PreparedQuery[],
  { time, encoder }: PreparedOptions,
  { dimension }: Shape,
): Body {
  const isServersClock = time !== null && Number.isNaN(time);
  const plain = queries.filter((key) => typeof key !== 'string' && key.length === dimension);
  if (isServersClock && encoder === '' && plain.length === queries.length) {
    return rows(plain as Float32Array[]);
  }
  const common = {
    ...(!isServersClock && { time }),
    ...(encoder !== '' && { encoder: wellFormed(encoder) }),
  };
  return JSON.stringify({ queries: queries.map((key) => ({ ...keyOf(key), ...common })) });
}

// --- What the server answers. Its names are those of the types here, in snake_case.

/** A null stands for no payload. */
export function payloadOf(payload: Json): Json | undefined {
  return payload ?? undefined;
}

export function matchOf({ slot, similarity }: Match): Match {
  return { slot, similarity: Math.fround(similarity) };
}

const maybe = (x: number | null): number | null => (x === null ? null : Math.fround(x));
const maybeFloats = (x: readonly number[] | null | undefined): Float32Array | null =>
  x ? Float32Array.from(x) : null;

/** What the server says more where the cache has what can be uncertain or guarded. */
export type SentDecision = Decision & {
  uncertain?: true;
  verdict?: Verdict;
  guarded?: Guard[];
};

export function decisionOf(sent: Decision): Decision {
  return {
    action: sent.action,
    slot: sent.slot,
    novelty: Math.fround(sent.novelty),
    threshold: Math.fround(sent.threshold),
    gate: Math.fround(sent.gate),
    similarity: Math.fround(sent.similarity),
    nearest: sent.nearest && matchOf(sent.nearest),
    evicted: sent.evicted,
    folded: sent.folded,
    surprise: Math.fround(sent.surprise),
    budget: maybe(sent.budget),
  };
}

export interface SentReading {
  empty: boolean;
  value: number[] | null;
  null_weight: number;
  top: { slot: number; similarity: number; weight: number; payload: Json }[];
}

export function readingOf(sent: SentReading): Reading {
  return {
    empty: sent.empty,
    value: maybeFloats(sent.value),
    nullWeight: Math.fround(sent.null_weight),
    top: sent.top.map(({ slot, similarity, weight, payload }) => ({
      slot,
      similarity: Math.fround(similarity),
      weight: Math.fround(weight),
      payload: payloadOf(payload),
    })),
  };
}

export interface SentSlot {
  id: number;
  key?: number[];
  value?: number[];
  payload: Json;
  exact_keys: string[];
  usage: number;
  count: number;
  first_time: number;
  last_time: number;
  expires: number | null;
}

export function slotOf(sent: SentSlot): Slot {
  return {
    id: sent.id,
    key: Float32Array.from(sent.key ?? []),
    value: maybeFloats(sent.value),
    payload: payloadOf(sent.payload),
    exactKeys: sent.exact_keys,
    usage: sent.usage,
    count: sent.count,
    firstTime: sent.first_time,
    lastTime: sent.last_time,
    expires: sent.expires,
  };
}

/** An object with its names in camelCase. */
export function camelKeys<T>(sent: object): T {
  const entries = Object.entries(sent) as [string, unknown][];
  return Object.fromEntries(entries.map(([name, x]) => [camel(name), x])) as T;
}

export function statsOf(sent: object): Stats {
  const stats = camelKeys<Stats>(sent);
  return { ...stats, surprise: Math.fround(stats.surprise), budget: maybe(stats.budget) };
}

interface SentEvent {
  seq: number;
  kind: CacheEvent['kind'];
  time: number;
  item?: {
    key: number[];
    value?: number[];
    payload: Json;
    exact_key: string | null;
    ttl_ms: number | null;
  };
  decision?: Decision;
  removed?: number[];
  folded?: CacheEvent['folded'];
  config?: object;
  bytes: string;
}

export function eventOf(json: string, fromBase64: (text: string) => Uint8Array): CacheEvent {
  const sent = JSON.parse(json) as SentEvent;
  const { item } = sent;
  const decision = sent.decision ? decisionOf(sent.decision) : null;
  return {
    seq: sent.seq,
    kind: sent.kind,
    time: sent.time,
    item: item
      ? {
          key: Float32Array.from(item.key),
          value: maybeFloats(item.value),
          payload: payloadOf(item.payload),
          exactKey: item.exact_key,
          ttlMs: item.ttl_ms,
        }
      : null,
    decision,
    removed: sent.removed ?? [...(decision?.evicted ?? [])],
    folded: sent.folded ?? [...(decision?.folded ?? [])],
    config: sent.config ? camelKeys<FullConfig>(sent.config) : null,
    bytes: fromBase64(sent.bytes),
  };
}

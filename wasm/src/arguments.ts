// What users hand in, checked and brought into the form that a request takes. Here the users' own
// code may run (getters, toJSON, proxies); a request is written only when all of it has.
// Long for its many kinds of argument, one short function each.
import { fromBase64 } from './base64.js';
import { DpcacheError, type ItemError } from './errors.js';
import type { Item, Query, QueryOptions, Vector } from './types.js';
import type { Request } from './wire.js';

/** An item or query with nothing left to check but what the library checks itself. */
export interface Prepared {
  /** A text to be encoded, or the key. */
  key: string | Float32Array;
  value: Float32Array;
  payload: string | Uint8Array;
  exactKey: string | undefined;
  time: number;
  ttlMs: number | undefined;
  encoder: string;
}

const nothing = new Float32Array(0);
const itemFields = new Set([
  'key',
  'text',
  'value',
  'payload',
  'exactKey',
  'time',
  'ttlMs',
  'encoder',
]);

// The name of a typed array of any realm, which `instanceof` does not know; of anything else nothing,
// whatever it says of itself.
const nameOf = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype) as object,
  Symbol.toStringTag,
)?.get as (this: unknown) => string | undefined;

function isFloat32Array(x: unknown): x is Float32Array {
  return nameOf.call(x) === 'Float32Array';
}

function isUint8Array(x: unknown): x is Uint8Array {
  return nameOf.call(x) === 'Uint8Array';
}

/** Of an array that looks empty: whether its buffer was transferred, or made too short for it. */
function isGone(x: Float32Array | Uint8Array): boolean {
  if (x.byteLength > 0) return false;
  try {
    Uint8Array.prototype.keys.call(x);
    return false;
  } catch {
    return true;
  }
}

const gone = 'its buffer is detached: it was transferred, or made shorter';

function base64Floats(text: string, pointer: string): Float32Array {
  let bytes: Uint8Array;
  try {
    bytes = fromBase64(text);
  } catch {
    throw DpcacheError.at(pointer, 'is not base64');
  }
  if (bytes.length % 4 !== 0) {
    throw DpcacheError.at(pointer, `${bytes.length} bytes are no whole float32s`, 'bad_shape');
  }
  const view = new DataView(bytes.buffer);
  const floats = new Float32Array(bytes.length / 4);
  for (let i = 0; i < floats.length; i++) floats[i] = view.getFloat32(4 * i, true);
  return floats;
}

/** A vector as floats; its length and numbers are the library's to check. */
export function toFloats(vector: unknown, pointer: string): Float32Array {
  if (isFloat32Array(vector)) {
    if (isGone(vector)) throw DpcacheError.at(pointer, gone, 'bad_shape');
    return vector;
  }
  if (Array.isArray(vector)) {
    const floats = new Float32Array(vector.length);
    for (let i = 0; i < floats.length; i++) {
      const x: unknown = vector[i];
      if (typeof x !== 'number') throw DpcacheError.at(`${pointer}/${i}`, 'must be a number');
      floats[i] = x;
    }
    return floats;
  }
  if (typeof vector === 'string') return base64Floats(vector, pointer);
  throw DpcacheError.at(
    pointer,
    `must be a Float32Array, an array of numbers or base64, not ${kindOf(vector)}`,
  );
}

function kindOf(x: unknown): string {
  if (x === null || x === undefined) return String(x);
  if (typeof x !== 'object') return `a ${typeof x}`;
  return x.constructor?.name || 'an object';
}

/** A whole number that a double holds. */
export function toInteger(x: unknown, pointer: string): number {
  if (typeof x === 'number' && Number.isSafeInteger(x)) return x;
  throw DpcacheError.at(pointer, 'must be an integer');
}

export function toText(x: unknown, pointer: string): string {
  if (typeof x === 'string') return x;
  throw DpcacheError.at(pointer, `must be a string, not ${kindOf(x)}`);
}

/** A text that UTF-8 can hold: of others two would become one. */
export function toUtf8Text(x: unknown, pointer: string): string {
  const text = toText(x, pointer);
  if (!/\p{Surrogate}/u.test(text)) return text;
  throw DpcacheError.at(pointer, 'holds an unpaired surrogate');
}

/** The options of a call, which may be left out. */
export function toOptions<T extends object>(options: T): T {
  if (typeof options === 'object' && options !== null) return options;
  throw DpcacheError.at('', `the options must be an object, not ${kindOf(options)}`);
}

/** Any Uint8Array, of which detached ones are refused. */
export function toBytes(x: unknown, what: string): Uint8Array {
  if (isUint8Array(x)) {
    if (isGone(x)) throw DpcacheError.at('', gone);
    return x;
  }
  if (Object.prototype.toString.call(x) === '[object ArrayBuffer]') {
    try {
      return new Uint8Array(x as ArrayBuffer);
    } catch {
      throw DpcacheError.at('', gone);
    }
  }
  throw DpcacheError.at('', `${what} must be a Uint8Array, not ${kindOf(x)}`);
}

function toPayload(payload: unknown): string | Uint8Array {
  if (payload === undefined) return '';
  if (isUint8Array(payload)) {
    if (isGone(payload)) throw DpcacheError.at('/payload', gone);
    return payload;
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(payload);
  } catch (cause) {
    throw DpcacheError.at('/payload', `cannot be written as JSON: ${String(cause)}`);
  }
  if (text === undefined) throw DpcacheError.at('/payload', 'cannot be written as JSON');
  return text;
}

/** `clock` gives the time of an item that has none. */
export function prepareItem(item: Item, clock: () => number = Date.now): Prepared {
  if (typeof item !== 'object' || item === null) {
    throw DpcacheError.at('', `an item must be an object, not ${kindOf(item)}`);
  }
  for (const name in item) {
    if (!itemFields.has(name)) throw DpcacheError.at(`/${name}`, 'items have no such field');
  }
  const { key, text, value, payload, exactKey, time, ttlMs, encoder } = item;
  if (key !== undefined && text !== undefined) {
    throw DpcacheError.at('/text', 'an item has a key or a text, not both');
  }
  return {
    key: text === undefined ? toFloats(key, '/key') : toText(text, '/text'),
    value: value === undefined ? nothing : toFloats(value, '/value'),
    payload: toPayload(payload),
    exactKey: exactKey === undefined ? undefined : toUtf8Text(exactKey, '/exactKey'),
    time: time === undefined ? clock() : toInteger(time, '/time'),
    ttlMs: ttlMs === undefined ? undefined : toInteger(ttlMs, '/ttlMs'),
    encoder: encoder === undefined ? '' : toText(encoder, '/encoder'),
  };
}

/** Items of which some cannot be prepared stand as empty ones, with their errors. */
export function prepareAll<In, Out>(
  list: readonly In[],
  what: string,
  prepare: (one: In) => Out,
  instead: Out,
): { prepared: Out[]; errors: ItemError[] } {
  if (!Array.isArray(list)) throw DpcacheError.at('', `${what} must be an array`);
  const errors: ItemError[] = [];
  const prepared = Array.from(list as readonly In[], (one, index) => {
    try {
      return prepare(one);
    } catch (error) {
      if (!(error instanceof DpcacheError)) throw error;
      for (const one of error.errors) errors.push({ ...one, index });
      return instead;
    }
  });
  return { prepared, errors };
}

export const emptyItem: Prepared = {
  key: nothing,
  value: nothing,
  payload: '',
  exactKey: undefined,
  time: 0,
  ttlMs: undefined,
  encoder: '',
};

export type PreparedQuery = string | Float32Array;

export function prepareQuery(query: Query): PreparedQuery {
  if (typeof query === 'object' && query !== null && !Array.isArray(query)) {
    if ('text' in query && 'key' in query) {
      throw DpcacheError.at('/text', 'a query has a key or a text, not both');
    }
    if ('text' in query) return toText(query.text, '/text');
    if ('key' in query) return toFloats(query.key, '/key');
  }
  return toFloats(query as Vector, '/key');
}

export const emptyQuery: PreparedQuery = nothing;

export interface PreparedOptions {
  k: number;
  time: number | null;
  encoder: string;
}

export function prepareOptions(
  options: QueryOptions,
  clock: () => number = Date.now,
): PreparedOptions {
  const { k = 10, time, encoder } = toOptions(options);
  if (toInteger(k, '/k') < 0) throw DpcacheError.at('/k', 'must not be negative');
  return {
    k: Math.min(k, 0xffffffff - 1),
    time: time === undefined ? clock() : time === null ? null : toInteger(time, '/time'),
    encoder: encoder === undefined ? '' : toText(encoder, '/encoder'),
  };
}

// --- The order in which ../bindings.cc reads them

export function writeKey(request: Request, key: PreparedQuery): void {
  if (typeof key === 'string') {
    request.number(1);
    request.text(key);
  } else {
    request.number(0);
    request.floats(key);
  }
}

export function writeItem(request: Request, item: Prepared): void {
  writeKey(request, item.key);
  request.floats(item.value);
  if (typeof item.payload === 'string') request.text(item.payload);
  else request.bytes(item.payload);
  request.maybeText(item.exactKey);
  request.number(item.time);
  request.maybe(item.ttlMs);
  request.text(item.encoder);
}

export function writeOptions(request: Request, options: PreparedOptions): void {
  request.number(options.k);
  request.maybe(options.time);
  request.text(options.encoder);
}

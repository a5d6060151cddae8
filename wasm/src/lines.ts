// dpcache/lines: slots out of a cache and items into it as JSON Lines, the form of `dpcache export`,
// `dpcache import` and the server. Needs no WebAssembly of its own.
import { fromBase64, toBase64 } from './base64.js';
import { DpcacheError, type ItemError } from './errors.js';
import type { Decision, Item, Slot } from './types.js';

export { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
export type { Decision, Item, Slot } from './types.js';

/** A cache of `dpcache`, or of `dpcache/worker` or `dpcache/remote`. */
export interface LinesCache {
  slots(options: { after?: number; limit?: number }): Slot[] | Promise<Slot[]>;
  observeBatch(items: readonly Item[]): Decision[] | Promise<Decision[]>;
}

export interface ToLinesOptions {
  /** `decimal` (default), `base64` of float32, half as long, or `none`. */
  keys?: 'decimal' | 'base64' | 'none';
  /** Names what made the vectors, on each line, so that another cache can refuse them. */
  encoder?: string;
}

export interface TakeLinesOptions {
  /** Leave lines out that cannot be taken; default false: the first batch with one is refused. */
  skipBad?: boolean;
  /** Lines taken at once, 1 to 4,096, default 1,000. */
  batch?: number;
  /** The time of lines that bring none; default Date.now(). */
  time?: number;
  /** Called after each batch with the lines so far; false ends it. */
  onProgress?: (lines: number) => boolean | void;
}

/** A line that cannot be taken, counted from 1. */
export interface BadLine {
  line: number;
  reason: string;
}

export interface TakenLines {
  /** All that were read, empty ones too. */
  lines: number;
  taken: number;
  /** Slots. */
  opened: number;
  /** With `skipBad`, all of them. */
  bad: BadLine[];
}

const kPage = 256;
const kMostLines = 4096;

// The fewest digits that give the float32 back.
function shortest(x: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = String(Number(x.toPrecision(digits)));
    if (Math.fround(Number(text)) === x) return text;
  }
  return String(x);
}

function floats(list: Float32Array, form: 'decimal' | 'base64'): string {
  if (form === 'base64') {
    return `"${toBase64(new Uint8Array(list.buffer, list.byteOffset, list.byteLength))}"`;
  }
  return `[${Array.from(list, shortest).join(',')}]`;
}

/** One slot as a line, without the line's end. */
export function toLine(slot: Slot, options: ToLinesOptions = {}): string {
  const { keys = 'decimal', encoder } = options;
  const form = keys === 'base64' ? 'base64' : 'decimal';
  const fields = [`"id":${slot.id}`];
  if (keys !== 'none') fields.push(`"key":${floats(slot.key, form)}`);
  if (slot.value) fields.push(`"value":${floats(slot.value, form)}`);
  if (slot.payload !== undefined && slot.payload !== null) {
    fields.push(`"payload":${JSON.stringify(slot.payload)}`);
  }
  if (slot.exactKeys.length > 0) fields.push(`"exact_keys":${JSON.stringify(slot.exactKeys)}`);
  // A usage can be beyond the largest double.
  fields.push(`"usage":${Number.isFinite(slot.usage) ? slot.usage : '1e999'}`);
  fields.push(`"count":${slot.count}`);
  fields.push(`"first_time":${slot.firstTime}`, `"last_time":${slot.lastTime}`);
  if (slot.expires !== null) fields.push(`"expires":${slot.expires}`);
  if (encoder !== undefined) fields.push(`"encoder":${JSON.stringify(encoder)}`);
  return `{${fields.join(',')}}`;
}

/**
 * All slots in the order of their ids, a line each, with its end. Slots that come while it runs are
 * among them, as ids ascend.
 */
export async function* toLines(
  cache: LinesCache,
  options: ToLinesOptions = {},
): AsyncGenerator<string, void, undefined> {
  let after = 0;
  for (;;) {
    const page = await cache.slots({ after, limit: kPage });
    for (const slot of page) yield `${toLine(slot, options)}\n`;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

type Fields = Record<string, unknown>;

function fail(field: string, what: string): never {
  throw new RangeError(`/${field}: ${what}`);
}

function vector(fields: Fields, name: string): Float32Array | undefined {
  const from = fields[name];
  if (from === undefined || from === null) return undefined;
  if (typeof from === 'string') {
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = fromBase64(from);
    } catch {
      fail(name, 'is not base64 of little-endian float32');
    }
    if (bytes.length % 4 !== 0) fail(name, 'is not base64 of little-endian float32');
    return new Float32Array(bytes.buffer);
  }
  if (!Array.isArray(from)) fail(name, 'must be an array of numbers, or base64');
  from.forEach((x, i) => {
    if (typeof x !== 'number') fail(`${name}/${i}`, 'must be a number');
  });
  return Float32Array.from(from as number[]);
}

function text(fields: Fields, name: string): string | undefined {
  const from = fields[name];
  if (from === undefined || from === null) return undefined;
  return typeof from === 'string' ? from : fail(name, 'must be a string');
}

function integer(fields: Fields, name: string): number | undefined {
  const from = fields[name];
  if (from === undefined || from === null) return undefined;
  return Number.isSafeInteger(from) ? (from as number) : fail(name, 'must be an integer within 2^53 of 0');
}

function bytes(from: string, name: string): Uint8Array {
  try {
    return fromBase64(from);
  } catch {
    return fail(name, 'is not base64');
  }
}

function exactKeys(fields: Fields): string[] {
  const one = text(fields, 'exact_key');
  const list = fields['exact_keys'] ?? [];
  if (!Array.isArray(list)) fail('exact_keys', 'must be an array of strings');
  list.forEach((key, i) => {
    if (typeof key !== 'string') fail(`exact_keys/${i}`, 'must be a string');
  });
  return one === undefined ? (list as string[]) : [one, ...(list as string[])];
}

const kKnown = new Set(
  ('key text value payload payload_base64 exact_key exact_keys time first_time expires ttl_ms encoder ' +
    'id usage count last_time').split(' '),
);

/**
 * The items of a line: one, or as many as it has exact keys, since an item has one. Throws a
 * RangeError that says what is wrong.
 */
export function fromLine(line: string, time?: number): Item[] {
  let fields: Fields;
  try {
    fields = JSON.parse(line) as Fields;
  } catch {
    throw new RangeError('is not JSON');
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new RangeError('is not a JSON object');
  }
  for (const name of Object.keys(fields)) if (!kKnown.has(name)) fail(name, 'rows have no such field');
  const item: Item = {};
  const key = vector(fields, 'key');
  const words = text(fields, 'text');
  if (key !== undefined && words !== undefined) fail('text', 'a key or a text, not both');
  if (key !== undefined) item.key = key;
  else if (words !== undefined) item.text = words;
  else fail('key', 'a key or a text is needed');
  const value = vector(fields, 'value');
  if (value !== undefined) item.value = value;
  const base64 = text(fields, 'payload_base64');
  if (base64 !== undefined) item.payload = bytes(base64, 'payload_base64');
  if (fields['payload'] !== undefined && fields['payload'] !== null) {
    if (base64 !== undefined) fail('payload', 'a payload or its bytes, not both');
    item.payload = fields['payload'];
  }
  const when = integer(fields, 'time') ?? integer(fields, 'first_time') ?? time;
  if (when !== undefined) item.time = when;
  const ends = integer(fields, 'expires');
  const ttl = integer(fields, 'ttl_ms');
  if (ttl !== undefined) item.ttlMs = ttl;
  else if (ends !== undefined) {
    if (when === undefined) fail('expires', 'needs a time or first_time to count from');
    item.ttlMs = ends - when;
  }
  const encoder = text(fields, 'encoder');
  if (encoder !== undefined && words === undefined) item.encoder = encoder;
  const keys = exactKeys(fields);
  return keys.length === 0 ? [item] : keys.map((exactKey) => ({ ...item, exactKey }));
}

// Whole lines, whatever the pieces are that they come in.
async function* linesOf(
  source: string | Iterable<string> | AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  const pieces = typeof source === 'string' ? [source] : source;
  for await (const piece of pieces as AsyncIterable<string | Uint8Array>) {
    const parts = (rest + (typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }))).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

interface Sent {
  line: number;
  items: Item[];
}

/**
 * Takes lines into a cache, in batches that are taken whole or not at all. `source` is the text, or
 * pieces of it (a file's stream, a Response's body). Without `skipBad` the first batch with a bad line
 * is refused with a DpcacheError that names all bad lines of it; what stood before it has been taken.
 */
export async function takeLines(
  cache: LinesCache,
  source: string | Iterable<string> | AsyncIterable<string | Uint8Array>,
  options: TakeLinesOptions = {},
): Promise<TakenLines> {
  const { skipBad = false, batch = 1000, time, onProgress } = options;
  if (!Number.isSafeInteger(batch) || batch < 1 || batch > kMostLines) {
    throw DpcacheError.at('/batch', `must be an integer from 1 to ${kMostLines}`);
  }
  const result: TakenLines = { lines: 0, taken: 0, opened: 0, bad: [] };
  let sent: Sent[] = [];
  let bad: BadLine[] = [];

  const refuse = (): never => {
    const shown = bad.slice(0, 20);
    const errors: ItemError[] = shown.map(({ line, reason }) => ({
      index: line - 1,
      code: 'bad_request',
      pointer: '',
      detail: `line ${line}: ${reason}`,
    }));
    throw DpcacheError.of(errors);
  };
  // Sends what is there; lines that the cache refuses become bad ones.
  const flush = async (): Promise<void> => {
    if (bad.length > 0 && !skipBad) refuse();
    for (;;) {
      const items = sent.flatMap((one) => one.items);
      if (items.length === 0) break;
      try {
        const decisions = await cache.observeBatch(items);
        result.taken += sent.length;
        result.opened += decisions.filter(({ action }) => action === 'allocate').length;
        break;
      } catch (thrown) {
        const error = DpcacheError.from(thrown);
        const owners = sent.flatMap((one, at) => one.items.map(() => at));
        const about = new Map<number, string>();
        for (const { index, pointer, detail } of error.errors) {
          const at = owners[index];
          if (at !== undefined && pointer !== '' && !about.has(at)) about.set(at, `${pointer}: ${detail}`);
        }
        if (about.size === 0) throw thrown;  // not about the items
        for (const [at, reason] of about) {
          const line = sent[at]?.line;
          if (line !== undefined) bad.push({ line, reason });
        }
        sent = sent.filter((_, at) => !about.has(at));
        if (!skipBad) refuse();
      }
    }
    bad.sort((a, b) => a.line - b.line);
    result.bad.push(...bad);
    sent = [];
    bad = [];
  };

  let pending = 0;
  for await (const line of linesOf(source)) {
    result.lines++;
    if (line.trim() === '') continue;
    try {
      const items = fromLine(line, time);
      sent.push({ line: result.lines, items });
      pending += items.length;
    } catch (thrown) {
      bad.push({ line: result.lines, reason: (thrown as Error).message });
    }
    if (pending < batch && bad.length < batch) continue;
    await flush();
    pending = 0;
    if (onProgress?.(result.lines) === false) return result;
  }
  await flush();
  onProgress?.(result.lines);
  return result;
}

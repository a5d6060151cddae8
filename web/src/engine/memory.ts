// A cache for the page's settings, new or from a memory file, and what its slots say of themselves.
import { Cache, DpcacheError, type Config, type FullConfig, type Json } from 'dpcache';
import type { Knobs } from '../settings';
import type { Stream } from './stream';

export const labelLength = 400; // of a text, on the page

export interface MemoryFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** What may change in a cache that exists. The policies of key and value may not. */
const changeable = (knobs: Knobs): Config => ({
  tau: knobs.tau,
  theta: knobs.theta,
  usageDecay: knobs.decay,
  budget: knobs.budget,
  m0: knobs.m0,
  beta: knobs.beta,
});

/** Where the knobs differ from the memory's settings: a change is an event, no change is none. */
function changes(knobs: Knobs, config: FullConfig): Config {
  const isSame = (wanted: unknown, there: unknown): boolean =>
    typeof wanted === 'number' && typeof there === 'number'
      ? Math.abs(wanted - there) <= 1e-6 * Math.abs(there) // the memory holds float32
      : wanted === there;
  const there = new Map<string, unknown>(Object.entries(config));
  return Object.fromEntries(
    Object.entries(changeable(knobs)).filter(
      // A learned gate takes tau's place.
      ([name, wanted]) => !isSame(wanted, there.get(name)) && !(name === 'tau' && config.gate),
    ),
  );
}

export async function makeCache(
  knobs: Knobs,
  stream: Stream,
  file: MemoryFile | null,
  time: number,
): Promise<Cache> {
  if (file) {
    const cache = await Cache.load(file.bytes);
    const changed = changes(knobs, cache.config);
    if (Object.keys(changed).length > 0) cache.configure(changed, { time });
    return cache;
  }
  const config: Config = {
    ...changeable(knobs),
    keyUpdate: knobs.key,
    valueUpdate: knobs.value,
  };
  return Cache.create(
    stream.kind === 'text'
      ? { ...config, text: { masks: knobs.masks.length > 0 ? knobs.masks : 'none' } }
      : { ...config, dimension: stream.dimension },
  );
}

/** Whether keys are made from text by the built-in encoder. */
export const isTextMemory = (cache: Cache): boolean =>
  cache.config.encoder?.startsWith('dpcache-text/') ?? false;

/** Why the text of a memory cannot be encoded here, though it is one of text; or null. */
function foreignText(cache: Cache): string | null {
  try {
    cache.nearest({ text: '' }, { time: null });
    return null;
  } catch (error) {
    if (!(error instanceof DpcacheError) || error.code !== 'encoder_mismatch') return null;
    return `This memory can be looked at only: ${error.errors[0]?.detail ?? error.message}.`;
  }
}

/** Why the stream cannot go into the cache, or null. */
export function misfit(cache: Cache, stream: Stream): string | null {
  const { dimension, valueDimension } = cache.config;
  if (valueDimension > 0) {
    return 'This memory keeps a value vector with each item, which the stream does not have.';
  }
  if (stream.kind === 'text') {
    return isTextMemory(cache)
      ? foreignText(cache)
      : 'This memory holds vectors, the stream is text.';
  }
  if (isTextMemory(cache)) return 'This memory holds text, the stream is vectors.';
  return stream.dimension === dimension
    ? null
    : `This memory's vectors have ${dimension} numbers, the stream's have ${stream.dimension}.`;
}

/** The text of a payload as the command line writes it; another payload as JSON. */
export function exampleOf(payload: Json | undefined): string {
  if (payload === undefined) return '(nothing kept)';
  if (typeof payload === 'string') return payload;
  if (typeof payload === 'object' && payload !== null && 'text' in payload) {
    const { text } = payload;
    if (typeof text === 'string') return text;
  }
  return JSON.stringify(payload);
}

// A cache for the page's settings, new or from a memory file, and what its slots say of themselves.
import { Cache, DpcacheError, type Config as PlainConfig, type Json } from 'dpcache';
import type { Cache as TrustCache, Config as TrustConfig, Guard } from 'dpcache/trust';
import { needsTrust, type Knobs } from '../settings';
import type { FullConfig } from './protocol';
import type { Stream } from './stream';

export const labelLength = 400; // of a text, on the page

export interface MemoryFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** A cache, and itself once more where it can tell more of its merges and undo them. */
export interface Memory {
  cache: Cache;
  trusted: TrustCache | null;
}

// A slot whose members are not all listed cannot lose one; a stream has fewer items than that.
const auditMembers = 2 ** 20;

type Config = PlainConfig & Pick<TrustConfig, 'tauMerge' | 'audit' | 'auditMembers' | 'guards'>;

/** The WebAssembly that knows of trust; fetched when it is asked for first. */
const loadTrust = async (): Promise<typeof TrustCache> => (await import('dpcache/trust')).Cache;

/** What makes merges trustworthy. `tau`: the threshold; a band has no room above it. */
const trustOf = (knobs: Knobs, tau: number): Config => ({
  guards: knobs.guards,
  audit: knobs.audit,
  ...(knobs.merge === null ? {} : { tauMerge: Math.min(knobs.merge, tau) }),
});

/** What may change in a cache that exists. The policies of key and value may not. */
const changeable = (knobs: Knobs): PlainConfig => ({
  tau: knobs.tau,
  theta: knobs.theta,
  usageDecay: knobs.decay,
  budget: knobs.budget,
  m0: knobs.m0,
  beta: knobs.beta,
});

const near = (wanted: number, there: number): boolean =>
  Math.abs(wanted - there) <= 1e-6 * Math.abs(there); // the memory holds float32

/** Where the knobs differ from the memory's settings: a change is an event, no change is none. */
function changes(knobs: Knobs, config: FullConfig): PlainConfig {
  const isSame = (wanted: unknown, there: unknown): boolean =>
    typeof wanted === 'number' && typeof there === 'number'
      ? near(wanted, there)
      : wanted === there;
  const there = new Map<string, unknown>(Object.entries(config));
  return Object.fromEntries(
    Object.entries(changeable(knobs)).filter(
      // A learned gate takes tau's place.
      ([name, wanted]) => !isSame(wanted, there.get(name)) && !(name === 'tau' && config.gate),
    ),
  );
}

/** The same of what makes merges trustworthy. A guard that the page has no knob for stays. */
function trustChanges(knobs: Knobs, config: FullConfig): { [Name in keyof Config]: unknown } {
  const there = config.guards ?? [];
  const wanted: Guard[] = [...knobs.guards, ...there.filter((name) => name === 'scope')];
  const threshold = config.gate?.b ?? knobs.tau;
  const merge = knobs.merge === null ? null : Math.min(knobs.merge, threshold);
  const isSame = merge === null ? config.tauMerge === undefined : near(merge, config.tauMerge ?? NaN);
  return {
    ...(wanted.join() === there.join() ? {} : { guards: wanted }),
    ...(knobs.audit === (config.audit ?? 'none') ? {} : { audit: knobs.audit, auditMembers }),
    ...(isSame ? {} : { tauMerge: merge }),
  };
}

/** Whether a memory file has more than the library's first form has: guards, an audit, pairs apart. */
export function isTrustFile(bytes: Uint8Array): boolean {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  try {
    const header: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
    const { __metadata__: told } = header as { __metadata__?: Record<string, string> };
    return told?.['dpcache.format_version'] === '2';
  } catch {
    return false; // load() says what is wrong with it
  }
}

/** The memory in a file. */
export async function loadMemory(bytes: Uint8Array, isTrusted: boolean): Promise<Memory> {
  if (!isTrusted) return { cache: await Cache.load(bytes), trusted: null };
  const trusted = await (await loadTrust()).load(bytes);
  return { cache: trusted, trusted };
}

export async function makeMemory(
  knobs: Knobs,
  stream: Stream,
  file: MemoryFile | null,
  time: number,
): Promise<Memory> {
  if (file) {
    const memory = await loadMemory(file.bytes, needsTrust(knobs) || isTrustFile(file.bytes));
    const { cache, trusted } = memory;
    const config: FullConfig = cache.config;
    const changed = {
      ...changes(knobs, config),
      ...(trusted ? trustChanges(knobs, config) : {}),
    } as PlainConfig;
    if (Object.keys(changed).length > 0) cache.configure(changed, { time });
    return memory;
  }
  const plain: PlainConfig = {
    ...changeable(knobs),
    keyUpdate: knobs.key,
    valueUpdate: knobs.value,
    ...(stream.kind === 'text'
      ? { text: { masks: knobs.masks.length > 0 ? knobs.masks : 'none' } }
      : { dimension: stream.dimension }),
  };
  if (!needsTrust(knobs)) return { cache: await Cache.create(plain), trusted: null };
  const TrustedCache = await loadTrust();
  const config = { ...plain, ...trustOf(knobs, knobs.tau), auditMembers };
  const trusted = await TrustedCache.create(config);
  return { cache: trusted, trusted };
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

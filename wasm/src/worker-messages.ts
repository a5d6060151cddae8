// What a page and its worker say to each other.
import type { ErrorCode, ItemError } from './errors.js';
import type { Prepared, PreparedOptions, PreparedQuery } from './arguments.js';
import type {
  CacheEvent,
  Config,
  Decision,
  EncoderConfig,
  Fold,
  FullConfig,
  Match,
  OwnMask,
  Reading,
  Slot,
  Stats,
} from './types.js';
import type { Verdict } from './judge.js';
import type { ConfigChanges } from './settings.js';
import type {
  Decision as TrustDecision,
  Lookup,
  Member,
  PreparedLookup,
  Review,
  Trusted,
} from './trust-items.js';

/** An item or query that the page could check, or why it is refused. */
export type Checked<T> = T | { refused: readonly ItemError[] };

/** A URL, or a module by the number that the page has given to its source. */
export type SentWasm = string | { number: number; module: WebAssembly.Module };

/** Another cache than that of `dpcache`. */
export type Kind = 'trust';

/** Every call of a worker: arguments and result. `target` of a request is the object it is about. */
export interface Calls {
  create(config: Config, wasm?: SentWasm, kind?: Kind): void;
  load(bytes: Uint8Array, ownMasks?: readonly OwnMask[], wasm?: SentWasm, kind?: Kind): void;
  createEncoder(config: EncoderConfig, wasm?: SentWasm): { id: string; dimension: number };
  dispose(): void;
  listen(on: boolean): void;

  observe(item: Prepared): Decision;
  observeBatch(items: readonly Checked<Prepared>[]): Decision[];
  read(query: PreparedQuery, options: PreparedOptions): Reading;
  nearest(query: PreparedQuery, options: PreparedOptions): Match | null;
  score(
    queries: Float32Array | readonly Checked<{ query: PreparedQuery }>[],
    options: PreparedOptions,
  ): Match[][];
  slot(id: number): Slot;
  slots(options: { after?: number; limit?: number } | undefined): Slot[];
  size(): number;
  erase(id: number, options: { time?: number } | undefined): void;
  consolidate(options: { similarity?: number; time?: number } | undefined): Fold[];
  configure(changes: ConfigChanges, options: { time?: number } | undefined): void;
  config(): FullConfig;
  stats(): Stats;
  warning(): string;
  apply(bytes: Uint8Array): void;
  metadata(): Record<string, string>;
  setMetadata(metadata: Record<string, string>): void;
  save(): Uint8Array;
  saveNext(): Uint8Array;

  // Of caches of the kind `trust`.
  observeTrusted(item: Trusted): TrustDecision;
  observeTrustedBatch(items: readonly Checked<Trusted>[]): TrustDecision[];
  lookup(asked: PreparedLookup): Lookup;
  members(slot: number): Member[];
  split(slot: number, member: number, options: { time?: number }, item?: Trusted): number;
  mustNotMerge(slot: number, other: number, options: { time?: number } | undefined): void;
  mustMerge(slot: number, other: number, options: { time?: number } | undefined): void;
  reviews(): Review[];
  apart(): { slot: number; other: number }[];
  review(
    slot: number,
    other: number,
    verdict: Verdict,
    options: { time?: number } | undefined,
  ): void;

  encode(text: string): Float32Array;
  mask(text: string): string;
}

export type CallName = keyof Calls;

/** `dpcache` marks our messages, since a worker may have others too. */
export interface CallMessage {
  dpcache: 'call';
  call: number;
  target: number;
  name: CallName;
  args: readonly unknown[];
}

export interface SentError {
  /** DpcacheError if it has a code, else what JavaScript threw. */
  code?: ErrorCode;
  name: string;
  detail: string;
  errors?: readonly ItemError[];
}

export interface ReplyMessage {
  dpcache: 'reply';
  call: number;
  result?: unknown;
  error?: SentError;
  /** What happened during the call, if somebody listens. */
  events?: CacheEvent[];
}

/** Comes before the first reply. The worker holds the Web Lock `lock` as long as it lives. */
export interface AliveMessage {
  dpcache: 'alive';
  lock?: string;
}

export type FromWorker = ReplyMessage | AliveMessage;

export function isOurs<T extends { dpcache: string }>(data: unknown): data is T {
  return typeof data === 'object' && data !== null && 'dpcache' in data;
}

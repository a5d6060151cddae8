// What goes into a cache and what comes out: the shapes that the cache, the worker and users share.
// Names, defaults and ranges are those of core/include/dpcache/*.h, in camelCase.

/** `dimension` numbers: a Float32Array, plain numbers, or base64 of little-endian float32. */
export type Vector = Float32Array | readonly number[] | string;

/** What JSON can say. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

/** Which parts of a text may vary: `"all"`, `"none"`, or names as in `"number,hex"` or a list. */
export type MaskNames = string | readonly MaskName[];
export type MaskName = 'number' | 'hex' | 'ip' | 'uuid' | 'time' | 'path';

/** A mask of one's own: what `pattern` matches is read as `<name>`. Outside the same-bits promise. */
export interface OwnMask {
  /** `[a-z][a-z0-9_]*` */
  name: string;
  pattern: RegExp;
}

/** The built-in encoder: from text to unit vector, without a model. It compares wording. */
export interface EncoderConfig {
  /** [16, 4096], default 256. */
  dimension?: number;
  /** [0, 2^53), default 0; another seed gives an unrelated space. */
  seed?: number;
  /** Default `"none"`. */
  masks?: MaskNames;
  /** Replaced before the built-in ones. */
  ownMasks?: readonly OwnMask[];
}

/** The settings of a cache. */
export interface Config {
  /** Length of a key, [1, 65536]. Not needed with `text`. */
  dimension?: number;
  /** Length of a value, [0, 65536], default 0: slots have no value vector. */
  valueDimension?: number;
  /**
   * The novelty threshold: an item opens a slot iff 1 − max cosine > tau. [0, 2], default 0.4, or
   * 0.17 with `text`. It is a novelty: a similarity of .9 is a tau of .1. Not together with `gate`.
   */
  tau?: number;
  /** The learned gate g = sigmoid(a (novelty − b)): a > 0, b in [0, 2]. */
  gate?: { a: number; b: number };
  /** Temperature of the readout, [1e-4, 100], default 0.05. */
  theta?: number;
  keyUpdate?: 'frozen' | 'centroid';
  valueUpdate?: 'first' | 'last' | 'mean' | 'ema';
  /** Rate of `valueUpdate: "ema"`, (0, 1], default 0.5. */
  ema?: number;
  /** Factor on every usage per observed item, (0, 1], default 1: plain counts. */
  usageDecay?: number;
  /** Keep the sum of each slot's keys, which consolidate() needs. */
  keepSums?: boolean;
  budget?: 'none' | 'fixed' | 'adaptive' | 'ghost';
  /** Hard cap in every mode, at least 1. */
  maxSlots?: number;
  /** The budget is m0 (fixed) or m0 + beta × surprise (adaptive). Default 1024 each. */
  m0?: number;
  beta?: number;
  /** Rate of the surprise, (0, 1], default 0.05. */
  eta?: number;
  /** Whether the least used slot is dropped or folded into its nearest. Default `"evict"`. */
  shrink?: 'evict' | 'merge';
  /** Similarity of the null slot, [−1, 1]: a query unlike every slot gives weight to "unknown". */
  nullSimilarity?: number;
  /** How long a slot lives, in milliseconds from its first item. */
  ttlMs?: number;
  /** Names what made the vectors. Items that name another encoder are refused. */
  encoder?: string;
  /**
   * Items and queries may be text, turned into keys by the built-in encoder: `text: {}` is enough.
   * Sets `dimension` and `encoder`.
   */
  text?: EncoderConfig;
}

/** The settings in force: every default filled in, `text` spelled out in `encoder`. */
export type FullConfig = Required<
  Pick<
    Config,
    | 'dimension'
    | 'valueDimension'
    | 'theta'
    | 'keyUpdate'
    | 'valueUpdate'
    | 'ema'
    | 'usageDecay'
    | 'keepSums'
    | 'budget'
    | 'm0'
    | 'beta'
    | 'eta'
    | 'shrink'
  >
> &
  Pick<Config, 'tau' | 'gate' | 'maxSlots' | 'nullSimilarity' | 'ttlMs' | 'encoder'>;

/** One element of the stream: a key, or a text where the cache has an encoder. */
export interface Item {
  key?: Vector;
  text?: string;
  /** `valueDimension` numbers; needed when that is above 0. */
  value?: Vector;
  /** Any JSON value, as JSON.stringify writes it; or a Uint8Array of bytes that are kept as they are. */
  payload?: unknown;
  /** An item merges into the slot that has absorbed this key, whatever its vector. */
  exactKey?: string;
  /** Milliseconds, by your clock; default Date.now(). */
  time?: number;
  /** Instead of the config's, if this item opens a slot. */
  ttlMs?: number;
  /** If given, must be the config's. */
  encoder?: string;
}

/** A vector, or a text where the cache has an encoder. */
export type Query = Vector | { key: Vector } | { text: string };

export interface QueryOptions {
  /** How many slots to list, default 10; a mix is always over all. */
  k?: number;
  /** Slots that have expired by then are skipped; default Date.now(), null skips none. */
  time?: number | null;
  /** If given, must be the config's. */
  encoder?: string;
}

/** A slot and its similarity, a cosine in [−1, 1]. */
export interface Match {
  slot: number;
  similarity: number;
}

/** A slot that was folded into another one and is gone. */
export interface Fold {
  slot: number;
  into: number;
}

/** What became of an item. */
export interface Decision {
  action: 'allocate' | 'merge';
  /** The slot that was opened or joined. */
  slot: number;
  /** 1 − similarity, [0, 2]; 1 when there was no slot. */
  novelty: number;
  /** The novelty above which an item allocates. */
  threshold: number;
  /** Probability of a slot by the gate; 0 or 1 for a plain tau. */
  gate: number;
  /** To the slot joined; on allocation to the nearest one, or 0. */
  similarity: number;
  /** On allocation the nearest miss, if there was any slot; else null. */
  nearest: Match | null;
  /** Slots dropped to meet the budget, in this order. */
  evicted: number[];
  /** Slots folded to meet the budget, in this order. */
  folded: Fold[];
  /** T, the running rate of novelty. */
  surprise: number;
  /** M, the number of slots allowed now; null without a budget. */
  budget: number | null;
}

export interface Weighted extends Match {
  /** Share in the mix, [0, 1]. */
  weight: number;
  payload: Json | undefined;
}

/** The answer to a query: softmax attention over all slots. */
export interface Reading {
  /** There was no slot to read. */
  empty: boolean;
  /** The mixed value; null if `empty` or without value vectors. */
  value: Float32Array | null;
  /** The null slot's share; 0 without one. */
  nullWeight: number;
  /** The k most similar slots, best first, then the oldest. */
  top: Weighted[];
}

/** A copy of one slot. */
export interface Slot {
  id: number;
  /** Unit length. */
  key: Float32Array;
  value: Float32Array | null;
  /** The JSON value; the text itself where it is not JSON; undefined if there is none. */
  payload: Json | undefined;
  /** In the order in which they were absorbed. */
  exactKeys: string[];
  /** Decayed count of the items absorbed. */
  usage: number;
  count: number;
  firstTime: number;
  lastTime: number;
  /** The first time at which the slot is gone; null: never. */
  expires: number | null;
}

export interface Stats {
  slots: number;
  items: number;
  allocations: number;
  merges: number;
  evictions: number;
  folds: number;
  expirations: number;
  erasures: number;
  nextId: number;
  /** Number of the last event. */
  seq: number;
  /** 16 hex digits: a chain over all events. Two caches with one hash have one history. */
  stateHash: string;
  surprise: number;
  budget: number | null;
  /** Memory held, about. */
  bytes: number;
}

/** A change of a cache, with all that repeating it needs. */
export interface CacheEvent {
  /** 1, 2, 3, … without gaps. */
  seq: number;
  kind:
    | 'observe'
    | 'erase'
    | 'expire'
    | 'consolidate'
    | 'config'
    | 'split'
    | 'must_not_merge'
    | 'must_merge'
    | 'review';
  time: number;
  /** Of `observe`: the key of unit length, and what came with it. */
  item: EventItem | null;
  /** Of `observe`. */
  decision: Decision | null;
  /** Slots that are gone: evicted (`observe`), erased or expired. */
  removed: number[];
  folded: Fold[];
  /** Of `config`. */
  config: FullConfig | null;
  /** The canonical bytes, as apply() takes them and logs store them. */
  bytes: Uint8Array;
}

export interface EventItem {
  key: Float32Array;
  value: Float32Array | null;
  payload: Json | undefined;
  exactKey: string | null;
  ttlMs: number | null;
}

/** Where the WebAssembly comes from, when not from the file beside the module. */
export type WasmSource = URL | string | Response | BufferSource | WebAssembly.Module;

export interface OpenOptions {
  /** Caches with one source share one instance, and its memory. */
  wasm?: WasmSource | PromiseLike<WasmSource>;
}

export interface LoadOptions extends OpenOptions {
  /** The masks of one's own that the memory's encoder was made with, if any. */
  ownMasks?: readonly OwnMask[];
}

// The cache as JavaScript sees it: checks arguments, makes one call, reads the answer.
import {
  parseConfig,
  readDecision,
  readEvent,
  readFolds,
  readMatch,
  readMatches,
  readReading,
  readSlot,
  readStats,
} from './answers.js';
import {
  emptyItem,
  emptyQuery,
  prepareAll,
  prepareItem,
  prepareOptions,
  prepareQuery,
  toBytes,
  toFloats,
  toInteger,
  toOptions,
  toUtf8Text,
  writeItem,
  writeKey,
  writeOptions,
} from './arguments.js';
import type { Core } from './core.js';
import { dispose } from './dispose.js';
import { Encoder } from './encoder.js';
import { DpcacheError, type ItemError } from './errors.js';
import { checkMasks, type CheckedMask } from './patterns.js';
import { runtime, type Runtime } from './runtime.js';
import { checkObject, configJson, optionalTime, type ConfigChanges } from './settings.js';
import type {
  CacheEvent,
  Config,
  Decision,
  EncoderConfig,
  Fold,
  FullConfig,
  Item,
  LoadOptions,
  Match,
  OpenOptions,
  Query,
  QueryOptions,
  Reading,
  Slot,
  Stats,
} from './types.js';
import type { Reply, Request } from './wire.js';

export type { ConfigChanges };

export interface Held {
  runtime: Runtime;
  handle: number;
  patterns: number[];
}

const release = ({ runtime, handle, patterns }: Held): void => {
  if (runtime.isBroken) return;
  runtime.core.freeCache(handle);
  runtime.patterns.forget(patterns);
};
// A net for caches that were never disposed. Their memory outlives them for a while.
const forgotten = new FinalizationRegistry(release);

const slotsAtOnce = 1024;
const trusted = ['tauMerge', 'audit', 'auditMembers', 'guards', 'correctionRate'];
const mostRounds = 1000;

/**
 * A memory that keeps distinct items, not every item.
 *
 * Every call is synchronous, and over when it returns. What it returns is yours: copies, never views
 * of the WebAssembly heap. On any error the cache is as it was. N slots of d floats: observe, read and
 * nearest read N d floats once.
 *
 * Errors are DpcacheErrors with the library's codes. `disposed` can come from every method.
 */
export class Cache {
  readonly #held: Held;
  readonly #listeners = new Set<(event: CacheEvent) => void>();
  #untold: CacheEvent[] = [];
  #rounds = 0; // of telling what listeners have changed when told of what listeners have changed …
  #disposed = false;

  protected constructor(held: Held) {
    this.#held = held;
    forgotten.register(this, held, this);
  }

  /** `bad_config`: a setting out of its range. `unavailable`: the WebAssembly cannot be loaded. */
  static async create(config: Config, options: OpenOptions = {}): Promise<Cache> {
    checkObject(config, 'the config');
    for (const name of trusted) {
      if ((config as Record<string, unknown>)[name] === undefined) continue;
      throw DpcacheError.at(`/${name}`, 'is for the Cache of dpcache/trust', 'bad_config');
    }
    return Cache.made(config, toOptions(options), runtime, (held) => new Cache(held));
  }

  protected static async made<C extends Cache>(
    config: Config,
    options: OpenOptions,
    start: typeof runtime,
    wrap: (held: Held) => C,
  ): Promise<C> {
    checkObject(config, 'the config');
    const { text, ...settings } = config;
    const own = checkMasks(text?.ownMasks, '/text/ownMasks');
    const open = await start(options.wasm);
    // Another module than the encoder's own is none of the encoder's.
    const encoder = start === runtime ? options : {};
    const full = text === undefined ? settings : await withText(settings, text, open, encoder);
    const json = configJson(full);
    return Cache.#make(open, own, open.core.createCache, (request) => request.text(json), wrap);
  }

  /**
   * The cache in a memory file, as save() and the command line write it.
   * `bad_snapshot`: damaged, cut, or not a memory file. `encoder_mismatch`: other masks of one's own.
   */
  static async load(bytes: Uint8Array, options: LoadOptions = {}): Promise<Cache> {
    return Cache.loaded(bytes, options, runtime, (held) => new Cache(held));
  }

  protected static async loaded<C extends Cache>(
    bytes: Uint8Array,
    options: LoadOptions,
    start: typeof runtime,
    wrap: (held: Held) => C,
  ): Promise<C> {
    const file = toBytes(bytes, 'a memory file');
    const own = checkMasks(toOptions(options).ownMasks, '/ownMasks');
    const open = await start(options.wasm);
    // Meanwhile it may have been transferred.
    const write = (request: Request): void => request.bytes(toBytes(file, 'a memory file'));
    return Cache.#make(open, own, open.core.loadCache, write, wrap);
  }

  static #make<C>(
    open: Runtime,
    own: readonly CheckedMask[],
    call: () => number,
    write: (request: Request) => void,
    wrap: (held: Held) => C,
  ): C {
    let patterns: number[] = [];
    try {
      open.request.begin();
      write(open.request);
      patterns = open.patterns.write(open.request, own);
      const handle = open.call(call, 0).number();
      return wrap({ runtime: open, handle, patterns });
    } catch (error) {
      open.patterns.forget(patterns);
      throw error;
    } finally {
      open.tidy();
    }
  }

  /**
   * Takes one item: joins the nearest slot, or opens one if the item is novel.
   * `bad_shape`, `not_finite`, `zero_norm`: the key or value. `bad_request`: another field.
   * `encoder_mismatch`: another encoder, or a text without one. `full`: no memory left.
   */
  observe(item: Item): Decision {
    const prepared = prepareItem(item);
    const { core } = this.#open();
    return this.#change(core.observe, (request) => writeItem(request, prepared), readDecision);
  }

  /**
   * Takes items in order, with exactly the decisions that observe() would make one by one. The batch
   * is refused whole if an item is bad; the error names every bad one by its index.
   */
  observeBatch(items: readonly Item[]): Decision[] {
    const { prepared, errors } = prepareAll(items, 'items', prepareItem, emptyItem);
    const { core } = this.#open();
    return named(errors, () =>
      this.#change(
        core.observeBatch,
        (request) => {
          request.number(prepared.length);
          for (const item of prepared) writeItem(request, item);
        },
        (reply) => prepared.map(() => readDecision(reply)),
      ),
    );
  }

  /** Softmax attention over all slots: the mixed value, and the `k` most similar slots. */
  read(query: Query, options: QueryOptions = {}): Reading {
    return this.#query(this.#open().core.read, query, options, readReading);
  }

  /** The most similar slot; null if there is none. Ties go to the oldest. */
  nearest(query: Query, options: QueryOptions = {}): Match | null {
    return this.#query(this.#open().core.nearest, query, options, readMatch);
  }

  /**
   * For each query its `k` most similar slots, best first, then the oldest. Queries are a list, or
   * one Float32Array of rows.
   */
  score(queries: readonly Query[] | Float32Array, options: QueryOptions = {}): Match[][] {
    const rows = this.#rows(queries);
    const { prepared, errors } = prepareAll(rows, 'queries', prepareQuery, emptyQuery);
    const checked = prepareOptions(options);
    const { core } = this.#open();
    if (prepared.length === 0) return [];
    return named(errors, () =>
      this.#call(
        core.score,
        (request) => {
          request.number(prepared.length);
          for (const key of prepared) writeKey(request, key);
          writeOptions(request, checked);
        },
        (reply) => prepared.map(() => readMatches(reply)),
      ),
    );
  }

  /** `not_found`: no slot has this id. */
  slot(id: number): Slot {
    toInteger(id, '/slot');
    return this.#call(this.#open().core.slot, (request) => request.number(id), readSlot);
  }

  /** Slots with an id above `after`, ascending; `limit` of them, or all. */
  slots(options: { after?: number; limit?: number } = {}): Slot[] {
    const { after = 0, limit = Infinity } = toOptions(options);
    if (toInteger(after, '/after') < 0) throw DpcacheError.at('/after', 'must not be negative');
    if (!(limit >= 0)) throw DpcacheError.at('/limit', 'must not be negative');
    const { core } = this.#open();
    const list: Slot[] = [];
    for (;;) {
      const wanted = Math.min(limit - list.length, slotsAtOnce);
      if (wanted < 1) return list;
      const from = list.at(-1)?.id ?? after;
      const write = (request: Request): void => {
        request.number(from);
        request.number(Math.floor(wanted));
      };
      const page = this.#call(core.slots, write, (reply) => reply.list(() => readSlot(reply)));
      list.push(...page);
      if (page.length < wanted) return list;
    }
  }

  /** The number of slots. */
  get size(): number {
    return this.#open().core.size(this.#held.handle);
  }

  /** Removes a slot; its id is never used again. `not_found`. */
  erase(id: number, options: { time?: number } = {}): void {
    toInteger(id, '/slot');
    const at = optionalTime(toOptions(options).time);
    this.#change(
      this.#open().core.erase,
      (request) => {
        request.number(id);
        request.number(at);
      },
      () => undefined,
    );
  }

  /**
   * Folds slots whose centroids are at least `similarity` alike (default 1 − threshold), the best pair
   * first: mends what noise has split. `bad_config`: the cache keeps no key sums (`keepSums`).
   */
  consolidate(options: { similarity?: number; time?: number } = {}): Fold[] {
    const { similarity, time } = toOptions(options);
    if (similarity !== undefined && !Number.isFinite(similarity)) {
      throw DpcacheError.at('/similarity', 'must be a number in [-1, 1]');
    }
    const at = optionalTime(time);
    return this.#change(
      this.#open().core.consolidate,
      (request) => {
        request.maybe(similarity);
        request.number(at);
      },
      readFolds,
    );
  }

  /** The settings in force. */
  get config(): FullConfig {
    return this.#call(this.#open().core.config, nothing, (reply) => parseConfig(reply.text()));
  }

  /**
   * Changes settings from here on; null takes one away. `bad_config`: out of range, or one that
   * cannot change (dimension, valueDimension, keyUpdate, valueUpdate, keepSums, encoder).
   */
  configure(changes: ConfigChanges, options: { time?: number } = {}): void {
    checkObject(changes, 'the changes');
    const json = configJson({ ...this.config, ...changes });
    const at = optionalTime(toOptions(options).time);
    this.#change(
      this.#open().core.configure,
      (request) => {
        request.text(json);
        request.number(at);
      },
      () => undefined,
    );
  }

  stats(): Stats {
    return this.#call(this.#open().core.stats, nothing, readStats);
  }

  /** A sentence if the threshold looks wrong (it merged nearly all or nearly nothing), else empty. */
  warning(): string {
    return this.#call(this.#open().core.warning, nothing, (reply) => reply.text());
  }

  /**
   * Calls `listener` after each change, before the call that makes it returns. A listener may use the
   * cache; what it changes is told when all have heard of the event at hand, so that each hears of
   * all in order. What it throws is reported as uncaught, and stops nobody. Returns a function that
   * ends it.
   */
  onEvent(listener: (event: CacheEvent) => void): () => void {
    if (typeof listener !== 'function') throw DpcacheError.at('', 'a listener must be a function');
    const { core } = this.#open();
    const own = (event: CacheEvent): void => listener(event); // one listener may be added twice
    this.#listeners.add(own);
    core.listen(this.#held.handle, 1);
    return () => {
      this.#listeners.delete(own);
      const { runtime, handle } = this.#held;
      if (this.#listeners.size > 0 || this.#disposed || runtime.isBroken) return;
      core.listen(handle, 0);
    };
  }

  /** Repeats a recorded event, from its `bytes`. `conflict`: it does not follow this state. */
  apply(bytes: Uint8Array): void {
    const event = toBytes(bytes, 'an event');
    this.#change(
      this.#open().core.apply,
      (request) => request.bytes(event),
      () => undefined,
    );
  }

  /** Strings that travel with the memory file and that nothing here reads. */
  metadata(): Record<string, string> {
    return this.#call(this.#open().core.metadata, nothing, (reply) =>
      Object.fromEntries(reply.list(() => [reply.text(), reply.text()])),
    );
  }

  /** Replaces them. Names that begin with `dpcache.` are kept for the file itself. */
  setMetadata(metadata: Record<string, string>): void {
    checkObject(metadata, 'the metadata');
    const entries = Object.entries(metadata);
    for (const [name, value] of entries) {
      if (name.startsWith('dpcache.')) throw DpcacheError.at(`/${name}`, 'is a reserved name');
      for (const text of [name, value]) toUtf8Text(text, `/${name}`);
    }
    this.#call(
      this.#open().core.setMetadata,
      (request) => {
        request.number(entries.length);
        for (const entry of entries) for (const text of entry) request.text(text);
      },
      () => undefined,
    );
  }

  /** The memory file: the same bytes on every platform, and what load() and the command line read. */
  save(): Uint8Array {
    const { core } = this.#open();
    return this.#call(core.save, nothing, (reply) => {
      const begin = reply.number();
      try {
        return core.HEAPU8.slice(begin, begin + reply.number());
      } finally {
        core.freeFile();
      }
    });
  }

  /** Gives the memory back at once. The cache cannot be used afterwards. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#listeners.clear();
    forgotten.unregister(this);
    release(this.#held);
  }

  [dispose](): void {
    this.dispose();
  }

  /** For classes with more calls: the glue, if the cache can be used. */
  protected get core(): Core {
    return this.#open().core;
  }
  protected ask<T>(
    call: (handle: number) => number,
    write: (request: Request) => void,
    read: (reply: Reply) => T,
  ): T {
    return this.#call(call, write, read);
  }
  protected alter<T>(
    call: (handle: number) => number,
    write: (request: Request) => void,
    read: (reply: Reply) => T,
  ): T {
    return this.#change(call, write, read);
  }

  #open(): Runtime {
    if (this.#disposed) throw new DpcacheError('disposed', 'this cache was disposed');
    this.#held.runtime.check();
    return this.#held.runtime;
  }

  #call<T>(
    call: (handle: number) => number,
    write: (request: Request) => void,
    read: (reply: Reply) => T,
  ): T {
    const { runtime, handle } = this.#held;
    try {
      runtime.request.begin();
      write(runtime.request);
      return read(runtime.call(call, handle));
    } finally {
      runtime.tidy();
    }
  }

  #change<T>(
    call: (handle: number) => number,
    write: (request: Request) => void,
    read: (reply: Reply) => T,
  ): T {
    if (this.#listeners.size === 0) return this.#call(call, write, read);
    if (this.#rounds > mostRounds) {
      throw DpcacheError.at('', 'listeners change the cache whenever they are told of a change');
    }
    const answer = this.#call(call, write, (reply) => {
      const result = read(reply);
      this.#hear(reply);
      return result;
    });
    this.#tell();
    return answer;
  }

  #query<T>(
    call: (handle: number) => number,
    query: Query,
    options: QueryOptions,
    read: (reply: Reply) => T,
  ): T {
    const key = prepareQuery(query);
    const checked = prepareOptions(options);
    this.#open(); // again: the arguments may have run code
    const write = (request: Request): void => {
      writeKey(request, key);
      writeOptions(request, checked);
    };
    return this.#call(call, write, read);
  }

  #rows(queries: readonly Query[] | Float32Array): readonly Query[] {
    if (Array.isArray(queries)) return queries as readonly Query[];
    const floats = toFloats(queries, '');
    const { dimension } = this.config;
    if (floats.length % dimension !== 0) {
      const detail = `${floats.length} numbers are no whole rows of ${dimension}`;
      throw DpcacheError.at('', detail, 'bad_shape');
    }
    return Array.from({ length: floats.length / dimension }, (_, i) =>
      new Float32Array(floats.buffer, floats.byteOffset + 4 * i * dimension, dimension),
    );
  }

  // Reads the events of the call that is being answered.
  #hear(reply: Reply): void {
    const { core } = this.#held.runtime;
    const count = core.countEvents();
    if (count === 0) return;
    reply.begin(core.takeEvents()); // longer than the answer, which stands in them too
    for (let i = 0; i < count; i++) this.#untold.push(readEvent(reply));
  }

  #tell(): void {
    if (this.#rounds > 0) return; // a listener has made the change: whoever called it goes on
    while (this.#untold.length > 0) {
      ++this.#rounds;
      const events = this.#untold;
      this.#untold = [];
      for (const event of events) {
        for (const listener of [...this.#listeners]) {
          try {
            listener(event);
          } catch (error) {
            queueMicrotask(() => {
              throw error;
            });
          }
        }
      }
    }
    this.#rounds = 0;
  }
}

const nothing = (): void => {};

/** Settings whose keys come from text: the encoder's dimension, id and tau, where none are given. */
async function withText(
  settings: Omit<Config, 'text'>,
  text: EncoderConfig,
  { core }: Runtime,
  options: OpenOptions,
): Promise<Config> {
  const { dimension, encoder: wantedId, tau, gate } = settings;
  const wanted = dimension === undefined ? text : { dimension, ...text };
  let encoder: Encoder;
  try {
    encoder = await Encoder.create(wanted, options);
  } catch (error) {
    if (!(error instanceof DpcacheError) || error.code !== 'bad_config') throw error;
    const inText = (one: ItemError): ItemError => ({ ...one, pointer: `/text${one.pointer}` });
    throw DpcacheError.of(error.errors.map(inText));
  }
  encoder.dispose();
  const { id } = encoder;
  if (dimension !== undefined && dimension !== encoder.dimension) {
    throw DpcacheError.at('/dimension', 'is not that of text', 'bad_config');
  }
  if (wantedId !== undefined && wantedId !== id) {
    throw DpcacheError.at('/encoder', `is not that of text, ${id}`, 'bad_config');
  }
  const own = tau === undefined && gate === undefined ? { tau: core.textTau() } : {};
  return { ...settings, ...own, dimension: encoder.dimension, encoder: id };
}

/**
 * Runs a call on a batch in which the items with `errors` stand empty: the library refuses those too,
 * and all the others that are bad. Then the error says of each what is wrong with it.
 */
export function named<T>(errors: readonly ItemError[], run: () => T): T {
  if (errors.length === 0) return run();
  try {
    run();
  } catch (error) {
    if (!(error instanceof DpcacheError)) throw error;
    const known = new Set(errors.map(({ index }) => index));
    const others = error.errors.filter(({ index }) => !known.has(index));
    throw DpcacheError.of([...errors, ...others].sort((a, b) => a.index - b.index));
  }
  throw DpcacheError.of(errors);
}

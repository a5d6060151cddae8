// A cache and an encoder that live in a worker: the methods of Cache and Encoder, as promises.
//
// Long for its methods, one for each of Cache. Each checks its arguments here, so that errors are
// those of the main entry and the users' own code runs at the call, and then makes one call.
import {
  prepareItem,
  prepareOptions,
  prepareQuery,
  toBytes,
  toFloats,
  toOptions,
  toText,
} from './arguments.js';
import { asyncDispose } from './async-dispose.js';
import { kOnChange, type TellsOfChanges } from './autosave.js';
import { DpcacheError } from './errors.js';
import { kSaveNext, type SavesItself } from './save-next.js';
import { checkObject, type ConfigChanges } from './settings.js';
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
import { linkTo, sentWasm, type Caller, type Link, type WorkerLike } from './worker-link.js';
import type { CallName, Calls, Kind, SentWasm } from './worker-messages.js';
import {
  checkAll,
  Parcel,
  plainConfig,
  plainEncoder,
  plainMasks,
  plainOptions,
  type TransferOption,
} from './worker-parcel.js';

export interface WorkerOption {
  /**
   * Which worker does the work: `'shared'`, the default, is one for all; `'own'` is one more, which
   * ends with dispose(); or a Worker that runs `dpcache/worker-thread`, which stays yours to end.
   */
  worker?: 'shared' | 'own' | WorkerLike;
}
export type WorkerOpenOptions = OpenOptions & WorkerOption;
export type WorkerLoadOptions = LoadOptions & WorkerOption & TransferOption;

/** An object in a worker, and the line to it. */
export interface Held {
  link: Link;
  target: number;
}

const release = ({ link, target }: Held): void => {
  link.call(target, 'dispose', []).catch(() => undefined);
  link.release();
};
const forgotten = new FinalizationRegistry(release);

// Makes something in a worker; `call` does it.
async function make<T>(
  options: WorkerOpenOptions,
  start: () => WorkerLike,
  call: (held: Held, wasm: SentWasm | undefined) => Promise<T>,
): Promise<{ held: Held; result: T }> {
  const link = linkTo(toOptions(options).worker, start);
  const held = { link, target: link.newTarget() };
  try {
    const wasm = options.wasm === undefined ? undefined : await sentWasm(options.wasm);
    return { held, result: await call(held, wasm) };
  } catch (error) {
    link.release();
    throw error;
  }
}

export async function makeCache(
  start: () => WorkerLike,
  config: Config,
  options: WorkerOpenOptions,
  kind?: Kind,
): Promise<Held> {
  checkObject(config, 'the config');
  const plain = plainConfig(config);
  const { held } = await make(options, start, ({ link, target }, wasm) =>
    link.call(target, 'create', [plain, wasm, kind]),
  );
  return held;
}

export async function makeLoaded(
  start: () => WorkerLike,
  bytes: Uint8Array,
  options: WorkerLoadOptions,
  kind?: Kind,
): Promise<Held> {
  const parcel = new Parcel(options);
  const sent = parcel.array(toBytes(bytes, 'a memory file'));
  const ownMasks = plainMasks(toOptions(options).ownMasks);
  const { held } = await make(options, start, ({ link, target }, wasm) =>
    link.call(target, 'load', [sent, ownMasks, wasm, kind], parcel.buffers),
  );
  return held;
}

export async function makeEncoder(
  start: () => WorkerLike,
  config: EncoderConfig,
  options: WorkerOpenOptions,
): Promise<{ held: Held; result: { id: string; dimension: number } }> {
  checkObject(config, 'the config');
  const plain = plainEncoder(config);
  return make(options, start, ({ link, target }, wasm) =>
    link.call(target, 'createEncoder', [plain, wasm]),
  );
}

/** The methods of Cache. Calls are carried out in the order in which they are made. */
export class WorkerCache implements Caller, SavesItself, TellsOfChanges {
  readonly #held: Held;
  readonly #listeners = new Set<(event: CacheEvent) => void>();
  readonly #onChange = new Set<() => void>();
  #disposed: Promise<void> | undefined;

  /** Not for users: see create() and load(). */
  constructor(held: Held) {
    this.#held = held;
    forgotten.register(this, held, this);
  }

  /** One message to the worker and one back; `transfer` hands the buffers of key and value over. */
  async observe(item: Item, options?: TransferOption): Promise<Decision> {
    const parcel = new Parcel(options);
    return this.alter('observe', [parcel.item(prepareItem(item))], parcel.buffers);
  }

  /** One message to the worker and one back for all items. */
  async observeBatch(items: readonly Item[], options?: TransferOption): Promise<Decision[]> {
    const parcel = new Parcel(options);
    const checked = checkAll(items, 'items', (item) => parcel.item(prepareItem(item)));
    return this.alter('observeBatch', [checked], parcel.buffers);
  }

  async read(query: Query, options: QueryOptions & TransferOption = {}): Promise<Reading> {
    const parcel = new Parcel(options);
    const sent = parcel.query(prepareQuery(query));
    return this.ask('read', [sent, prepareOptions(options)], parcel.buffers);
  }

  async nearest(query: Query, options: QueryOptions & TransferOption = {}): Promise<Match | null> {
    const parcel = new Parcel(options);
    const sent = parcel.query(prepareQuery(query));
    return this.ask('nearest', [sent, prepareOptions(options)], parcel.buffers);
  }

  async score(
    queries: readonly Query[] | Float32Array,
    options: QueryOptions & TransferOption = {},
  ): Promise<Match[][]> {
    const parcel = new Parcel(options);
    if (!Array.isArray(queries)) {
      const rows = parcel.array(toFloats(queries, ''));
      return this.ask('score', [rows, prepareOptions(options)], parcel.buffers);
    }
    const checked = checkAll(queries as readonly Query[], 'queries', (query) => ({
      query: parcel.query(prepareQuery(query)),
    }));
    return this.ask('score', [checked, prepareOptions(options)], parcel.buffers);
  }

  async slot(id: number): Promise<Slot> {
    return this.ask('slot', [id]);
  }

  async slots(options?: { after?: number; limit?: number }): Promise<Slot[]> {
    return this.ask('slots', [plainOptions(options)]);
  }

  async size(): Promise<number> {
    return this.ask('size', []);
  }

  async erase(id: number, options?: { time?: number }): Promise<void> {
    return this.alter('erase', [id, plainOptions(options)]);
  }

  async consolidate(options?: { similarity?: number; time?: number }): Promise<Fold[]> {
    return this.alter('consolidate', [plainOptions(options)]);
  }

  async configure(changes: ConfigChanges, options?: { time?: number }): Promise<void> {
    checkObject(changes, 'the changes');
    const plain = plainConfig(changes as Config) as ConfigChanges;
    return this.alter('configure', [plain, plainOptions(options)]);
  }

  async config(): Promise<FullConfig> {
    return this.ask('config', []);
  }

  async stats(): Promise<Stats> {
    return this.ask('stats', []);
  }

  async warning(): Promise<string> {
    return this.ask('warning', []);
  }

  /**
   * Calls `listener` after each change with its event, before the promise of the call that made it
   * is settled. Resolves to a function that ends this. Events hold keys: they have their price.
   */
  async onEvent(listener: (event: CacheEvent) => void): Promise<() => void> {
    if (typeof listener !== 'function') {
      throw DpcacheError.at('', 'a listener must be a function');
    }
    const own = (event: CacheEvent): void => listener(event); // the same one may listen twice
    this.#listeners.add(own);
    if (this.#listeners.size === 1) await this.ask('listen', [true]);
    return () => {
      if (!this.#listeners.delete(own) || this.#listeners.size > 0 || this.#disposed) return;
      this.ask('listen', [false]).catch(() => undefined);
    };
  }

  async apply(bytes: Uint8Array, options?: TransferOption): Promise<void> {
    const parcel = new Parcel(options);
    return this.alter('apply', [parcel.array(toBytes(bytes, 'an event'))], parcel.buffers);
  }

  async metadata(): Promise<Record<string, string>> {
    return this.ask('metadata', []);
  }

  async setMetadata(metadata: Record<string, string>): Promise<void> {
    checkObject(metadata, 'the metadata');
    return this.ask('setMetadata', [{ ...metadata }]);
  }

  async save(): Promise<Uint8Array> {
    return this.ask('save', []);
  }

  /** Calls made before are carried out. Later ones are refused with `disposed`. */
  dispose(): Promise<void> {
    return (this.#disposed ??= this.#dispose());
  }

  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** @internal */
  async [kSaveNext](): Promise<Uint8Array> {
    return this.ask('saveNext', []);
  }

  /** @internal */
  [kOnChange](listener: () => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  /** @internal */
  heard(events: readonly CacheEvent[]): void {
    for (const event of events) {
      for (const listener of [...this.#listeners]) {
        try {
          listener(event);
        } catch (error) {
          // The call is done, whatever a listener makes of it.
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    }
  }

  protected ask<Name extends CallName>(
    name: Name,
    args: Parameters<Calls[Name]>,
    transfer?: ArrayBuffer[],
  ): Promise<ReturnType<Calls[Name]>> {
    if (this.#disposed) throw new DpcacheError('disposed', 'this cache was disposed');
    return this.#held.link.call(this.#held.target, name, args, transfer, this);
  }

  protected async alter<Name extends CallName>(
    name: Name,
    args: Parameters<Calls[Name]>,
    transfer?: ArrayBuffer[],
  ): Promise<ReturnType<Calls[Name]>> {
    const result = await this.ask(name, args, transfer);
    for (const listener of this.#onChange) listener();
    return result;
  }

  async #dispose(): Promise<void> {
    const { link, target } = this.#held;
    forgotten.unregister(this);
    // A worker that is dead has nothing left to give back.
    if (!link.ended) await link.call(target, 'dispose', [], [], this).catch(() => undefined);
    link.release();
  }
}

/** The methods of Encoder. */
export class WorkerEncoder {
  readonly #held: Held;
  #disposed: Promise<void> | undefined;
  /** Spells out everything that the vectors depend on; equal ids, equal vectors. */
  readonly id: string;
  /** Length of the vectors. */
  readonly dimension: number;

  /** Not for users: see create(). */
  constructor({ held, result }: { held: Held; result: { id: string; dimension: number } }) {
    this.#held = held;
    this.id = result.id;
    this.dimension = result.dimension;
    forgotten.register(this, held, this);
  }

  /** The unit vector of a text. */
  async encode(text: string): Promise<Float32Array> {
    return this.#call('encode', [toText(text, '/text')]);
  }

  /** What encode() sees. */
  async mask(text: string): Promise<string> {
    return this.#call('mask', [toText(text, '/text')]);
  }

  dispose(): Promise<void> {
    return (this.#disposed ??= this.#dispose());
  }

  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #call<Name extends CallName>(
    name: Name,
    args: Parameters<Calls[Name]>,
  ): Promise<ReturnType<Calls[Name]>> {
    if (this.#disposed) throw new DpcacheError('disposed', 'this encoder was disposed');
    return this.#held.link.call(this.#held.target, name, args);
  }

  async #dispose(): Promise<void> {
    const { link, target } = this.#held;
    forgotten.unregister(this);
    if (!link.ended) await link.call(target, 'dispose', []).catch(() => undefined);
    link.release();
  }
}

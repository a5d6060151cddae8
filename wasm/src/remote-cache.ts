// A cache on a server: the methods of Cache, as promises, by the REST API of `dpcache serve`.
//
// Long for its methods, one for each of Cache. Arguments are checked and written down at the call,
// as those of the worker's cache, so that errors are the same and arrays can be used again at once.
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
  type Prepared,
  type PreparedQuery,
} from './arguments.js';
import { asyncDispose } from './async-dispose.js';
import { copyOf } from './copy.js';
import { DpcacheError, type ItemError } from './errors.js';
import { EventStream } from './remote-events.js';
import {
  camelKeys,
  decisionOf,
  itemsBody,
  matchOf,
  queriesBody,
  readingOf,
  serversClock,
  slotOf,
  statsOf,
  type Body,
  type SentDecision,
  type SentReading,
  type SentSlot,
  type Shape,
} from './remote-json.js';
import {
  limit,
  Server,
  type CallOptions,
  type Message,
  type ServerOptions,
} from './remote-server.js';
import { checkEncoder, checkObject, configJson, type ConfigChanges } from './settings.js';
import type {
  CacheEvent,
  Config,
  Decision,
  Fold,
  FullConfig,
  Item,
  Match,
  Query,
  QueryOptions,
  Reading,
  Slot,
  Stats,
} from './types.js';
import type { WorkerCache } from './worker-cache.js';
import type { TransferOption } from './worker-parcel.js';

/** What `Cache` of `dpcache/worker` and of `dpcache/remote` have in common: all that it does. */
export type AsyncCache = Pick<
  WorkerCache,
  | 'observe'
  | 'observeBatch'
  | 'read'
  | 'nearest'
  | 'score'
  | 'slot'
  | 'slots'
  | 'size'
  | 'erase'
  | 'consolidate'
  | 'configure'
  | 'config'
  | 'stats'
  | 'warning'
  | 'onEvent'
  | 'apply'
  | 'metadata'
  | 'setMetadata'
  | 'save'
  | 'dispose'
  | typeof Symbol.asyncDispose
>;

/** When a change is acknowledged: on the disk, or when it is made. */
export type Durability = 'sync' | 'relaxed';

/** Which cache, on which server. */
export interface RemoteOptions extends ServerOptions {
  /** `[A-Za-z0-9][A-Za-z0-9._-]*`, at most 128 characters. */
  name: string;
}
export interface RemoteCreateOptions extends RemoteOptions {
  /** Default `'sync'`. */
  durability?: Durability;
}
/** `transfer` is taken for the sake of programs that use a worker too, and means nothing here. */
export type RemoteCallOptions = CallOptions & TransferOption;

export interface ObserveOptions extends RemoteCallOptions {
  /**
   * A repetition with the same key and the same items is answered as the first time and changes
   * nothing, also of another program. At most 255 ASCII characters; default: one of its own for
   * each call.
   */
  idempotencyKey?: string;
}

/** What the server lists of a cache. */
export interface CacheLine {
  name: string;
  dimension: number;
  slots: number;
  items: number;
  allocations: number;
  merges: number;
  evictions: number;
  seq: number;
  /** Memory, about. */
  bytes: number;
}

const kMostItems = 4096;
const kMostSlots = 1000;
const kMostRounds = 10;

/** The server's caches that the token is for, by name. */
export async function listCaches(options: ServerOptions): Promise<CacheLine[]> {
  const server = new Server(toOptions(options));
  const list: CacheLine[] = [];
  let after: string | null = null;
  do {
    const query = { limit: 1000, after: after ?? undefined };
    const page: { caches: CacheLine[]; next: string | null } = await server.ask(
      { method: 'GET', path: 'v1/caches', query, again: 'always' },
      {},
      (response) => response.json() as Promise<{ caches: CacheLine[]; next: string | null }>,
    );
    list.push(...page.caches);
    after = page.next;
  } while (after !== null);
  return list;
}

interface SentCache {
  config: object & { dimension: number; value_dimension: number };
  stats: object;
  warning: string;
}

export const json = <T>(response: Response): Promise<T> => response.json() as Promise<T>;

function pathOf(name: unknown): string {
  if (typeof name === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) {
    return `v1/caches/${name}`;
  }
  throw DpcacheError.at(
    '/name',
    "a cache's name is [A-Za-z0-9][A-Za-z0-9._-]*, at most 128 characters",
  );
}

/** The config as the server takes it. */
function configBody(config: Config, durability: Durability | undefined): string {
  checkObject(config, 'the config');
  const { text, ...settings } = config;
  const sent = JSON.parse(configJson({ ...settings, durability })) as Record<string, unknown>;
  if (text !== undefined) {
    const { dimension } = settings;
    try {
      if (text?.ownMasks !== undefined) {
        throw DpcacheError.at('/ownMasks', 'the server knows no masks of yours', 'unavailable');
      }
      const encoder = checkEncoder(
        dimension === undefined || typeof text !== 'object' ? text : { dimension, ...text },
      );
      sent['text'] = encoder;
      if (dimension !== undefined && dimension !== encoder.dimension) {
        throw DpcacheError.at('', 'has not the dimension of the config', 'bad_config');
      }
    } catch (error) {
      if (!(error instanceof DpcacheError)) throw error;
      throw DpcacheError.of(
        error.errors.map((one) => ({ ...one, pointer: `/text${one.pointer}` })),
      );
    }
  }
  return JSON.stringify(sent);
}

export function checkTime(time: number | undefined): number | undefined {
  return time === undefined ? undefined : toInteger(time, '/time');
}

const unavailable = (what: string): DpcacheError =>
  new DpcacheError('unavailable', `${what}: the server has no such call`);

/**
 * A cache that a server keeps: the interface of `Cache` of `dpcache/worker`.
 *
 * Calls that change it are sent one after the other, in the order in which they are made, and calls
 * that ask wait for the changes before them. Others may change it at the same time. Times that are
 * not given are the server's.
 */
export class Cache implements AsyncCache {
  readonly #server: Server;
  protected readonly path: string;
  protected readonly shape: Shape;
  readonly #listeners = new Map<(event: CacheEvent) => void, (error: DpcacheError) => void>();
  #stream: Promise<EventStream> | undefined; // for all listeners but those with an `after`
  readonly #ownStreams = new Set<EventStream>();
  #changes: Promise<unknown> = Promise.resolve(); // the last of them, settled when it is over
  #disposed: Promise<void> | undefined;
  /** Its name on the server. */
  readonly name: string;

  protected constructor(server: Server, name: string, { config }: SentCache) {
    this.#server = server;
    this.path = pathOf(name);
    this.shape = { dimension: config.dimension, valueDimension: config.value_dimension };
    this.name = name;
  }

  /** A new cache. `precondition_failed`: there is one of this name. `bad_config`. */
  static async create(config: Config, options: RemoteCreateOptions): Promise<Cache> {
    const { name, durability } = toOptions(options);
    const body = configBody(config, durability);
    const server = new Server(options);
    const message: Message = {
      method: 'PUT',
      path: pathOf(name),
      headers: { 'if-none-match': '*' },
      body,
      again: 'never',
    };
    return new this(server, name, await server.ask(message, {}, json<SentCache>));
  }

  /** The cache of this name. `not_found`. */
  static async open(options: RemoteOptions): Promise<Cache> {
    const { name } = toOptions(options);
    const server = new Server(options);
    const message: Message = { method: 'GET', path: pathOf(name), again: 'always' };
    return new this(server, name, await server.ask(message, {}, json<SentCache>));
  }

  /** The cache of this name with the settings that it has, or if there is none a new one. */
  static async openOrCreate(config: Config, options: RemoteCreateOptions): Promise<Cache> {
    configBody(config, toOptions(options).durability); // bad ones are refused in any case
    for (let round = 1; ; round++) {
      try {
        return await this.open(options);
      } catch (error) {
        if (!(error instanceof DpcacheError) || error.code !== 'not_found') throw error;
      }
      try {
        return await this.create(config, options);
      } catch (error) {
        // Somebody else was quicker.
        const isTaken =
          error instanceof DpcacheError &&
          (error.code === 'precondition_failed' || error.code === 'conflict');
        if (!isTaken || round >= kMostRounds) throw error;
      }
    }
  }

  /**
   * Brings a memory file, as save() and the command line write it, to the server. It takes the
   * place of the cache of this name, if there is one. `bad_snapshot`.
   */
  static async load(bytes: Uint8Array, options: RemoteOptions): Promise<Cache> {
    const { name } = toOptions(options);
    const body = copyOf(toBytes(bytes, 'a memory file'));
    const server = new Server(options);
    const path = `${pathOf(name)}/snapshot`;
    await server.ask({ method: 'PUT', path, body, again: 'never' }, {}, () => undefined);
    return this.open(options);
  }

  /**
   * One request. It is sent again, with the same Idempotency-Key, if the connection fails: the item
   * counts once.
   */
  async observe(item: Item, options: ObserveOptions = {}): Promise<Decision> {
    const body = itemsBody([prepareItem(item, serversClock)], this.shape);
    const [decision] = await this.sendItems(body, 1, options);
    return decisionOf(decision as SentDecision);
  }

  /** One request for all items, at most 4,096 of them: taken whole or refused whole. */
  async observeBatch(items: readonly Item[], options: ObserveOptions = {}): Promise<Decision[]> {
    const prepare = (item: Item): Prepared => prepareItem(item, serversClock);
    const sent = await this.sendAll(items, prepare, emptyItem, itemsBody, options);
    return sent.map(decisionOf);
  }

  async read(query: Query, options: QueryOptions & RemoteCallOptions = {}): Promise<Reading> {
    const [reading] = await this.#queries<SentReading>('read', [prepareQuery(query)], options);
    return readingOf(reading as SentReading);
  }

  async nearest(
    query: Query,
    options: QueryOptions & RemoteCallOptions = {},
  ): Promise<Match | null> {
    const sent = await this.#queries<{ top: Match[] }>('score', [prepareQuery(query)], {
      ...options,
      k: 1,
    });
    const best = sent[0]?.top[0];
    return best ? matchOf(best) : null;
  }

  /** One request for each 4,096 queries. */
  async score(
    queries: readonly Query[] | Float32Array,
    options: QueryOptions & RemoteCallOptions = {},
  ): Promise<Match[][]> {
    const rows = this.#rows(queries);
    const { prepared, errors } = prepareAll(rows, 'queries', prepareQuery, emptyQuery);
    prepareOptions(options);
    this.check();
    return named(errors, async () => {
      const sent = await this.#queries<{ top: Match[] }>('score', prepared, options);
      return sent.map(({ top }) => top.map(matchOf));
    });
  }

  async slot(id: number, options: RemoteCallOptions = {}): Promise<Slot> {
    const path = `${this.path}/slots/${toInteger(id, '/slot')}`;
    return slotOf(await this.ask({ method: 'GET', path }, options, json<SentSlot>));
  }

  /** One request for each 1,000 slots. `keys: false` leaves the keys out: they are empty then. */
  async slots(
    options: { after?: number; limit?: number; keys?: boolean } & RemoteCallOptions = {},
  ): Promise<Slot[]> {
    const { after = 0, limit: most = Infinity, keys = true } = toOptions(options);
    if (toInteger(after, '/after') < 0) throw DpcacheError.at('/after', 'must not be negative');
    if (!(most >= 0)) throw DpcacheError.at('/limit', 'must not be negative');
    this.check();
    const list: Slot[] = [];
    for (let next: number | null = after; next !== null; ) {
      const wanted = Math.floor(Math.min(most - list.length, kMostSlots));
      if (wanted < 1) break;
      const query = { after: next, limit: wanted, keys: keys ? 1 : 0 };
      const page: { slots: SentSlot[]; next: number | null } = await this.ask(
        { method: 'GET', path: `${this.path}/slots`, query },
        options,
        json<{ slots: SentSlot[]; next: number | null }>,
      );
      for (const slot of page.slots) list.push(slotOf(slot));
      next = page.next;
    }
    return list;
  }

  async size(options: RemoteCallOptions = {}): Promise<number> {
    return (await this.stats(options)).slots;
  }

  async erase(id: number, options: { time?: number } & RemoteCallOptions = {}): Promise<void> {
    const path = `${this.path}/slots/${toInteger(id, '/slot')}`;
    const query = { time: checkTime(toOptions(options).time) };
    return this.alter({ method: 'DELETE', path, query }, options, () => undefined);
  }

  async consolidate(
    options: { similarity?: number; time?: number } & RemoteCallOptions = {},
  ): Promise<Fold[]> {
    const { similarity, time } = toOptions(options);
    if (similarity !== undefined && !Number.isFinite(similarity)) {
      throw DpcacheError.at('/similarity', 'must be a number in [-1, 1]');
    }
    const message = {
      method: 'POST',
      path: `${this.path}/consolidate`,
      query: { time: checkTime(time) },
      body: JSON.stringify({ similarity }),
    } as const;
    return (await this.alter(message, options, json<{ folded: Fold[] }>)).folded;
  }

  /** The settings that `changes` names; if others change some at the same time, both hold. */
  async configure(
    changes: ConfigChanges & { durability?: Durability },
    options: { time?: number } & RemoteCallOptions = {},
  ): Promise<void> {
    checkObject(changes, 'the changes');
    const own = { ...changes };
    configJson(own);
    const query = { time: checkTime(toOptions(options).time) };
    await this.#inTurn(options, async () => {
      for (let round = 1; ; round++) {
        const [its, tag] = await this.#server.ask(this.#its, options, async (response) => {
          const { config } = await json<SentCache>(response);
          return [camelKeys<FullConfig>(config), response.headers.get('etag')] as const;
        });
        const headers = { 'if-match': tag ?? '*' };
        const body = configJson({ ...its, ...own });
        try {
          return await this.#server.ask(
            // Done twice it is what it is done once: the first one has changed the tag.
            { method: 'PUT', path: this.path, query, headers, body, again: 'always' },
            options,
            () => undefined,
          );
        } catch (error) {
          const isOld = error instanceof DpcacheError && error.code === 'precondition_failed';
          if (!isOld || round >= kMostRounds) throw error;
        }
      }
    });
  }

  async config(options: RemoteCallOptions = {}): Promise<FullConfig & { durability: Durability }> {
    return camelKeys((await this.ask(this.#its, options, json<SentCache>)).config);
  }

  async stats(options: RemoteCallOptions = {}): Promise<Stats> {
    return statsOf((await this.ask(this.#its, options, json<SentCache>)).stats);
  }

  async warning(options: RemoteCallOptions = {}): Promise<string> {
    return (await this.ask(this.#its, options, json<SentCache>)).warning;
  }

  /**
   * Calls `listener` with every change from here on, or behind the event `after`, whoever makes it,
   * in order and without gaps, soon after it is on the server's disk. When the connection ends it
   * is taken up where it broke off, for as long as it takes; `onError` is told if that cannot be:
   * the cache is gone, the token is no longer good, or the server has not kept the events since
   * (`not_found`). Default: console.error. Resolves, when the server has said yes, to a function
   * that ends this.
   */
  async onEvent(
    listener: (event: CacheEvent) => void,
    options: { after?: number; onError?: (error: DpcacheError) => void } & CallOptions = {},
  ): Promise<() => void> {
    if (typeof listener !== 'function') throw DpcacheError.at('', 'a listener must be a function');
    const { after, onError = (error: DpcacheError) => console.error('dpcache events:', error) } =
      toOptions(options);
    this.check();
    if (after !== undefined) return this.#listenBehind(after, listener, onError);
    const own = (event: CacheEvent): void => listener(event); // the same one may listen twice
    const end = (): void => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#stopStream();
    };
    this.#listeners.set(own, onError);
    this.#stream ??= this.#startStream(options);
    try {
      await this.#stream;
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** `unavailable`. */
  async apply(bytes: Uint8Array): Promise<void> {
    toBytes(bytes, 'an event');
    throw unavailable('apply');
  }

  /** `unavailable`. */
  async metadata(): Promise<Record<string, string>> {
    throw unavailable('metadata');
  }

  /** `unavailable`. */
  async setMetadata(metadata: Record<string, string>): Promise<void> {
    checkObject(metadata, 'the metadata');
    throw unavailable('setMetadata');
  }

  /** The memory file, as Cache.load() of every entry and the command line read it. */
  async save(options: RemoteCallOptions = {}): Promise<Uint8Array> {
    const path = `${this.path}/snapshot`;
    return this.ask(
      { method: 'GET', path },
      options,
      async (response) => new Uint8Array(await response.arrayBuffer()),
    );
  }

  /** Removes the cache from the server, with all that it holds, and disposes of this. */
  async remove(options: RemoteCallOptions = {}): Promise<void> {
    await this.alter({ method: 'DELETE', path: this.path }, options, () => undefined);
    await this.dispose();
  }

  /**
   * Ends this end of the line; the server keeps the cache. Calls made before are carried out. Later
   * ones are refused with `disposed`.
   */
  dispose(): Promise<void> {
    return (this.#disposed ??= this.#dispose());
  }

  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #dispose(): Promise<void> {
    this.#listeners.clear();
    this.#stopStream();
    for (const stream of this.#ownStreams) stream.stop();
    await this.#changes;
  }

  get #its(): Message {
    return { method: 'GET', path: this.path, again: 'always' };
  }

  protected check(): void {
    if (this.#disposed) throw new DpcacheError('disposed', 'this cache was disposed');
  }

  /** Behind the changes that were asked for before. */
  protected async ask<T>(
    message: Omit<Message, 'again'>,
    options: CallOptions,
    read: (response: Response) => T | PromiseLike<T>,
  ): Promise<T> {
    this.check();
    toOptions(options);
    await unlessAborted(this.#changes, options.signal);
    return this.#server.ask({ ...message, again: 'always' }, options, read);
  }

  protected alter<T>(
    message: Omit<Message, 'again'> & { again?: Message['again'] },
    options: CallOptions,
    read: (response: Response) => T | PromiseLike<T>,
  ): Promise<T> {
    return this.#inTurn(options, () =>
      this.#server.ask({ again: 'never', ...message }, options, read),
    );
  }

  /** Runs `change` when those before it are over. */
  #inTurn<T>(options: CallOptions, change: () => Promise<T>): Promise<T> {
    this.check();
    toOptions(options);
    const before = this.#changes;
    const own = unlessAborted(before, options.signal).then(change);
    // Who is behind it waits for those before it too, even if it has been given up meanwhile.
    this.#changes = Promise.allSettled([before, own]);
    return own;
  }

  protected async sendItems(
    body: Body,
    count: number,
    options: ObserveOptions,
  ): Promise<SentDecision[]> {
    const { idempotencyKey = newKey() } = toOptions(options);
    if (typeof idempotencyKey !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
      throw DpcacheError.at('/idempotencyKey', 'must be 1 to 255 ASCII characters without blanks');
    }
    const { decisions } = await this.alter(
      {
        method: 'POST',
        path: `${this.path}/observe`,
        query: { count },
        headers: { 'idempotency-key': idempotencyKey },
        body,
        again: 'always',
      },
      options,
      json<{ decisions: SentDecision[] }>,
    );
    return decisions;
  }

  /** A batch, whose items `prepare` checks and `bodyOf` writes down. */
  protected async sendAll<In, Out>(
    items: readonly In[],
    prepare: (item: In) => Out,
    empty: Out,
    bodyOf: (items: readonly Out[], shape: Shape) => Body,
    options: ObserveOptions,
  ): Promise<SentDecision[]> {
    const { prepared, errors } = prepareAll(items, 'items', prepare, empty);
    this.check();
    if (prepared.length === 0) return [];
    if (prepared.length > kMostItems) {
      throw new DpcacheError(
        'too_large',
        `a batch has at most ${kMostItems} items, not ${prepared.length}: ` +
          'a larger one could not be taken whole or refused whole',
      );
    }
    const body = bodyOf(prepared, this.shape);
    return named(errors, () => this.sendItems(body, prepared.length, options));
  }

  async #queries<T>(
    verb: 'read' | 'score',
    queries: readonly PreparedQuery[],
    options: QueryOptions & CallOptions,
  ): Promise<T[]> {
    const prepared = prepareOptions(options, serversClock);
    const path = `${this.path}/${verb}`;
    const pieces: { body: Body; count: number }[] = [];
    for (let at = 0; at < queries.length; at += kMostItems) {
      const piece = queries.slice(at, at + kMostItems);
      pieces.push({ body: queriesBody(piece, prepared, this.shape), count: piece.length });
    }
    const results: T[] = [];
    const errors: ItemError[] = [];
    let status: number | undefined;
    for (const [i, { body, count }] of pieces.entries()) {
      const query = { k: prepared.k, count };
      try {
        const message = { method: 'POST', path, query, body } as const;
        results.push(...(await this.ask(message, options, json<{ results: T[] }>)).results);
      } catch (error) {
        if (pieces.length === 1 || !isOfItems(error)) throw error;
        status ??= error.status;
        for (const one of error.errors) errors.push({ ...one, index: one.index + i * kMostItems });
      }
    }
    if (errors.length > 0) throw DpcacheError.of(errors, status === undefined ? {} : { status });
    return results;
  }

  #rows(queries: readonly Query[] | Float32Array): readonly Query[] {
    if (Array.isArray(queries)) return queries as readonly Query[];
    const floats = toFloats(queries, '');
    const { dimension } = this.shape;
    if (floats.length % dimension !== 0) {
      const detail = `${floats.length} numbers are no whole rows of ${dimension}`;
      throw DpcacheError.at('', detail, 'bad_shape');
    }
    return Array.from({ length: floats.length / dimension }, (_, i) =>
      new Float32Array(floats.buffer, floats.byteOffset + 4 * i * dimension, dimension),
    );
  }

  async #listenBehind(
    after: number,
    listener: (event: CacheEvent) => void,
    onError: (error: DpcacheError) => void,
  ): Promise<() => void> {
    if (toInteger(after, '/after') < 0) throw DpcacheError.at('/after', 'must not be negative');
    const stream: EventStream = new EventStream(
      this.#server,
      `${this.path}/events`,
      after,
      (event) => report(() => listener(event)),
      (error) => {
        this.#ownStreams.delete(stream);
        report(() => onError(error));
      },
    );
    const end = (): void => {
      this.#ownStreams.delete(stream);
      stream.stop();
    };
    this.#ownStreams.add(stream);
    try {
      await stream.start();
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  async #startStream(options: CallOptions): Promise<EventStream> {
    const { seq } = await this.stats(options);
    const tell = (event: CacheEvent): void => {
      for (const listener of [...this.#listeners.keys()]) {
        report(() => listener(event));
      }
    };
    const onEnd = (error: DpcacheError): void => {
      const all = [...this.#listeners.values()];
      this.#listeners.clear();
      this.#stream = undefined;
      for (const onError of all) report(() => onError(error));
    };
    const stream = new EventStream(this.#server, `${this.path}/events`, seq, tell, onEnd);
    await stream.start();
    return stream;
  }

  #stopStream(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.then((one) => one.stop(), () => undefined);
  }
}

// Whether the server has refused what is in the body.
function isOfItems(error: unknown): error is DpcacheError {
  return error instanceof DpcacheError && [400, 409, 422].includes(error.status ?? 0);
}

// What a listener throws is its own affair.
function report(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

// Not crypto.randomUUID(), which pages without https have not.
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function unlessAborted(
  promise: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!signal) return void (await promise);
  const { signal: own, end } = limit([signal]);
  try {
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => reject(own.reason as Error);
      if (own.aborted) abort();
      own.addEventListener('abort', abort, { once: true });
      void promise.then(() => resolve());
    });
  } finally {
    end();
  }
}

/**
 * Runs a call on a batch in which the items with `errors` stand empty: the server refuses those
 * too, and all the others that are bad. Then the error says of each what is wrong with it.
 */
async function named<T>(errors: readonly ItemError[], run: () => Promise<T>): Promise<T> {
  if (errors.length === 0) return run();
  try {
    await run();
  } catch (error) {
    if (!isOfItems(error)) throw error;
    const known = new Set(errors.map(({ index }) => index));
    const others = error.errors.filter(({ index }) => !known.has(index));
    const all = [...errors, ...others].sort((a, b) => a.index - b.index);
    throw DpcacheError.of(all, error.status === undefined ? {} : { status: error.status });
  }
  throw DpcacheError.of(errors);
}

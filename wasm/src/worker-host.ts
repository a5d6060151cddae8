// The worker's end of the line: it holds the caches and carries calls out in their order.
import type { Prepared, PreparedOptions, PreparedQuery } from './arguments.js';
import { Cache } from './cache.js';
import { Encoder } from './encoder.js';
import { DpcacheError } from './errors.js';
import { saveNext } from './save-next.js';
import { Cache as TrustCache } from './trust.js';
import type { Item as TrustItem, Trusted } from './trust-items.js';
import type { CacheEvent, Item, OpenOptions, Query, QueryOptions } from './types.js';
import {
  isOurs,
  type CallMessage,
  type CallName,
  type Calls,
  type FromWorker,
  type Kind,
  type ReplyMessage,
  type SentError,
  type SentWasm,
} from './worker-messages.js';
import { isRefused } from './worker-parcel.js';

export interface Port {
  post(message: FromWorker, transfer: ArrayBuffer[]): void;
  /** Calls `listener` with the data of every message. */
  listen(listener: (data: unknown) => void): void;
  /** Is called once, when the first call has come. */
  showLife?(): void;
}

/** Answers every call that comes through `port`. */
export function serve(port: Port): void {
  const host = new Host();
  let first = true;
  port.listen((data) => {
    if (!isOurs<CallMessage>(data) || data.dpcache !== 'call') return;
    if (first) {
      first = false;
      port.post({ dpcache: 'alive' }, []);
      port.showLife?.();
    }
    void host.answer(data).then(({ reply, transfer }) => {
      try {
        port.post(reply, transfer);
      } catch (error) {
        port.post({ dpcache: 'reply', call: reply.call, error: sent(error) }, []);
      }
    });
  });
}

type Answers = {
  [Name in Exclude<CallName, 'create' | 'load' | 'createEncoder' | 'dispose' | 'listen'>]: (
    ...args: Parameters<Calls[Name]>
  ) => ReturnType<Calls[Name]>;
};

class Host {
  readonly #caches = new Map<number, Cache>();
  readonly #encoders = new Map<number, Encoder>();
  readonly #modules = new Map<number, WebAssembly.Module>();
  readonly #listening = new Map<number, () => void>();
  #events: CacheEvent[] = []; // of the call that is being carried out

  async answer(message: CallMessage): Promise<{ reply: ReplyMessage; transfer: ArrayBuffer[] }> {
    const reply: ReplyMessage = { dpcache: 'reply', call: message.call };
    try {
      // Only making something takes time; all else is done before the next message is looked at.
      const result = this.#carryOut(message);
      if (this.#events.length > 0) {
        reply.events = this.#events;
        this.#events = [];
      }
      reply.result = result instanceof Promise ? await result : result;
    } catch (error) {
      reply.error = sent(error);
    }
    const buffers = new Set<ArrayBuffer>();
    collect(reply.result, buffers);
    for (const { item, bytes } of reply.events ?? []) {
      collect(item, buffers);
      collect(bytes, buffers);
    }
    return { reply, transfer: [...buffers] };
  }

  #carryOut({ target, name, args }: CallMessage): unknown {
    switch (name) {
      case 'create':
      case 'load':
      case 'createEncoder':
        return this.#make(target, name, args as never);
      case 'dispose':
        this.#listening.delete(target);
        this.#caches.get(target)?.dispose();
        this.#caches.delete(target);
        this.#encoders.get(target)?.dispose();
        this.#encoders.delete(target);
        return undefined;
      case 'listen':
        return this.#listen(target, args[0] as boolean);
      case 'encode':
      case 'mask':
        return this.#encoder(target)[name](args[0] as string);
      default: {
        const cache = this.#cache(target);
        const answers =
          cache instanceof TrustCache
            ? { ...answersOf(cache), ...trustAnswersOf(cache) }
            : (answersOf(cache) as Answers);
        return (answers[name] as (...args: readonly unknown[]) => unknown)(...args);
      }
    }
  }

  async #make(
    target: number,
    name: 'create' | 'load' | 'createEncoder',
    args: Parameters<Calls['create' | 'load' | 'createEncoder']>,
  ): Promise<unknown> {
    if (name === 'create') {
      const [config, wasm, kind] = args as Parameters<Calls['create']>;
      this.#caches.set(target, await classOf(kind).create(config, this.#open(wasm)));
      return undefined;
    }
    if (name === 'load') {
      const [bytes, ownMasks, wasm, kind] = args as Parameters<Calls['load']>;
      const options = { ...this.#open(wasm), ...(ownMasks && { ownMasks }) };
      this.#caches.set(target, await classOf(kind).load(bytes, options));
      return undefined;
    }
    const [config, wasm] = args as Parameters<Calls['createEncoder']>;
    const encoder = await Encoder.create(config, this.#open(wasm));
    this.#encoders.set(target, encoder);
    return { id: encoder.id, dimension: encoder.dimension };
  }

  // A module arrives as a new object each time. The first is used, so that one instance is made.
  #open(wasm: SentWasm | undefined): OpenOptions {
    if (wasm === undefined) return {};
    if (typeof wasm === 'string') return { wasm };
    const known = this.#modules.get(wasm.number) ?? wasm.module;
    this.#modules.set(wasm.number, known);
    return { wasm: known };
  }

  #listen(target: number, on: boolean): void {
    this.#listening.get(target)?.();
    this.#listening.delete(target);
    if (!on) return;
    const stop = this.#cache(target).onEvent((event) => this.#events.push(event));
    this.#listening.set(target, stop);
  }

  #cache(target: number): Cache {
    const cache = this.#caches.get(target);
    if (!cache) throw new DpcacheError('disposed', 'this cache was disposed');
    return cache;
  }

  #encoder(target: number): Encoder {
    const encoder = this.#encoders.get(target);
    if (!encoder) throw new DpcacheError('disposed', 'this encoder was disposed');
    return encoder;
  }
}

// What is loaded with trust is its JavaScript; the WebAssembly comes with the first cache of it.
function classOf(kind: Kind | undefined): typeof Cache {
  return kind === 'trust' ? TrustCache : Cache;
}

type TrustAnswers = Pick<
  Answers,
  | 'observeTrusted'
  | 'observeTrustedBatch'
  | 'lookup'
  | 'members'
  | 'split'
  | 'mustNotMerge'
  | 'mustMerge'
  | 'reviews'
  | 'apart'
  | 'review'
>;

function trustAnswersOf(cache: TrustCache): TrustAnswers {
  return {
    observeTrusted: (item) => cache.observe(toTrusted(item)),
    observeTrustedBatch: (items) =>
      cache.observeBatch(items.map((one) => (isRefused(one) ? refusing(one) : toTrusted(one)))),
    lookup: ({ key, time, encoder: name, exactKey, text, scope }) =>
      cache.lookup(toQuery(key), {
        time,
        ...(name !== '' && { encoder: name }),
        ...(exactKey !== undefined && { exactKey }),
        ...(typeof key !== 'string' && { guardText: text }),
        scope,
      }),
    members: (slot) => cache.members(slot),
    split: (slot, member, options, item) =>
      cache.split(slot, member, { ...options, ...(item && { item: toTrusted(item) }) }),
    mustNotMerge: (slot, other, options) => cache.mustNotMerge(slot, other, options),
    mustMerge: (slot, other, options) => cache.mustMerge(slot, other, options),
    reviews: () => cache.reviews(),
    apart: () => cache.apart(),
    review: (slot, other, verdict, options) => cache.review(slot, other, verdict, options),
  };
}

function answersOf(cache: Cache): Omit<Answers, 'encode' | 'mask' | keyof TrustAnswers> {
  return {
    observe: (item) => cache.observe(toItem(item)),
    observeBatch: (items) =>
      cache.observeBatch(items.map((item) => (isRefused(item) ? refusing(item) : toItem(item)))),
    read: (query, options) => cache.read(toQuery(query), toOptions(options)),
    nearest: (query, options) => cache.nearest(toQuery(query), toOptions(options)),
    score: (queries, options) =>
      cache.score(
        queries instanceof Float32Array
          ? queries
          : queries.map((one) => (isRefused(one) ? refusing(one) : toQuery(one.query))),
        toOptions(options),
      ),
    slot: (id) => cache.slot(id),
    slots: (options) => cache.slots(options),
    size: () => cache.size,
    erase: (id, options) => cache.erase(id, options),
    consolidate: (options) => cache.consolidate(options),
    configure: (changes, options) => cache.configure(changes, options),
    config: () => cache.config,
    stats: () => cache.stats(),
    warning: () => cache.warning(),
    apply: (bytes) => cache.apply(bytes),
    metadata: () => cache.metadata(),
    setMetadata: (metadata) => cache.setMetadata(metadata),
    save: () => cache.save(),
    saveNext: () => saveNext(cache) as Uint8Array,
  };
}

const encoder = new TextEncoder();

function toItem(item: Prepared): Item {
  const { key, value, payload, exactKey, time, ttlMs } = item;
  return {
    ...(typeof key === 'string' ? { text: key } : { key }),
    ...(value.length > 0 && { value }),
    // Bytes are kept as they are, so JSON that the page has written is not read again.
    ...(payload.length > 0 && {
      payload: typeof payload === 'string' ? encoder.encode(payload) : payload,
    }),
    ...(exactKey !== undefined && { exactKey }),
    time,
    ...(ttlMs !== undefined && { ttlMs }),
    ...(item.encoder !== '' && { encoder: item.encoder }),
  };
}

function toTrusted({ item, id, text, scope }: Trusted): TrustItem {
  return {
    ...toItem(item),
    id,
    ...(typeof item.key !== 'string' && { guardText: text }),
    scope,
  };
}

function toQuery(query: PreparedQuery): Query {
  return typeof query === 'string' ? { text: query } : { key: query };
}

function toOptions({ k, time, encoder: name }: PreparedOptions): QueryOptions {
  return { k, time, ...(name !== '' && { encoder: name }) };
}

// An item or query that is refused for the reason that the page has found, when it is read.
function refusing(checked: { refused: readonly DpcacheError['errors'][number][] }): {
  key: Float32Array;
} {
  return {
    get key(): Float32Array {
      throw DpcacheError.of(checked.refused);
    },
  };
}

// The buffers of a result, all of them copies that nobody else has.
function collect(result: unknown, buffers: Set<ArrayBuffer>): void {
  if (typeof result !== 'object' || result === null) return;
  if (ArrayBuffer.isView(result)) {
    if (result.byteLength > 0) buffers.add(result.buffer as ArrayBuffer);
  } else if (Array.isArray(result)) {
    for (const one of result) collect(one, buffers);
  } else {
    if ('key' in result) collect(result.key, buffers);
    if ('value' in result) collect(result.value, buffers);
  }
}

function sent(error: unknown): SentError {
  if (error instanceof DpcacheError) {
    const detail = error.message.slice(error.code.length + 2);
    return { code: error.code, name: error.name, detail, errors: error.errors };
  }
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, detail: message };
}

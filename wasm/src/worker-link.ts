// The page's end of the line to a worker: calls and replies, and what happens when it dies.
//
// A worker can end in many ways, few of which are told: in Node by an event; in browsers by one only
// if its script cannot be loaded, else by the Web Lock that it held; and one that never ran our code
// by its silence. All of them reject what is pending.
import { DpcacheError } from './errors.js';
import type { CacheEvent, WasmSource } from './types.js';
import {
  isOurs,
  type CallMessage,
  type CallName,
  type Calls,
  type FromWorker,
  type ReplyMessage,
  type SentError,
  type SentWasm,
} from './worker-messages.js';

/** A Worker of the browser or of node:worker_threads that runs `dpcache/worker-thread`. */
export interface WorkerLike {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  terminate(): unknown;
}

interface BrowserWorker extends WorkerLike {
  addEventListener(type: string, listener: (event: Event) => void): void;
}

interface NodeWorker extends WorkerLike {
  on(event: string, listener: (argument: unknown) => void): void;
  ref(): void;
  unref(): void;
}

/** Who made a call. It is kept until the reply, so that its listeners hear of it. */
export interface Caller {
  heard(events: readonly CacheEvent[]): void;
}

interface Pending {
  caller: Caller | undefined;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

// A worker of ours without caches ends after this time. Starting one takes about 50 ms.
const kLingerMs = 5000;

const kTakesConfig: ReadonlySet<CallName> = new Set(['create', 'createEncoder', 'configure']);

// A worker that has said nothing for so long runs something else, or failed before we listened.
const kSilenceMs = 60_000;

let shared: Link | undefined;
const links = new WeakMap<WorkerLike, Link>();

/** `given` by the user, or the one that is shared, or one more. It is held until release(). */
export function linkTo(
  given: 'shared' | 'own' | WorkerLike | undefined,
  start: () => WorkerLike,
): Link {
  let link: Link | undefined;
  if (typeof given === 'object') {
    link = links.get(given);
    if (!link) links.set(given, (link = new Link(given, false)));
  } else if (given === 'own') {
    link = new Link(start(), true);
  } else if (given === undefined || given === 'shared') {
    if (!shared || shared.ended) shared = new Link(start(), true);
    link = shared;
  } else {
    throw DpcacheError.at('/worker', "must be a Worker, 'shared' or 'own'");
  }
  link.retain();
  return link;
}

export class Link {
  readonly #worker: WorkerLike;
  readonly #ours: boolean;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #targets = 0;
  #held = 0; // objects in the worker, about
  #heardOf = false;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #end: DpcacheError | undefined;

  constructor(worker: WorkerLike, ours: boolean) {
    this.#worker = worker;
    this.#ours = ours;
    if (isBrowserWorker(worker)) {
      worker.addEventListener('message', (event) => this.#receive((event as MessageEvent).data));
      worker.addEventListener('messageerror', () => this.#die('a reply could not be read'));
      worker.addEventListener('error', (event) => {
        // Our code in the worker throws nothing, but until then it may not have been found.
        const { message } = event as ErrorEvent;
        const why = message ? `: ${message}` : '';
        if (!this.#heardOf) this.#die(`its script cannot be loaded${why}`);
      });
    } else {
      const thread = worker as NodeWorker;
      thread.on('message', (data) => this.#receive(data));
      thread.on('messageerror', () => this.#die('a reply could not be read'));
      thread.on('error', (error) => this.#die(String(error)));
      thread.on('exit', (code) => this.#die(`exit code ${String(code)}`));
      if (ours) thread.unref(); // Node ends when nothing is under way
    }
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  retain(): void {
    this.#held++;
  }

  release(): void {
    if (--this.#held > 0 || !this.#ours || this.#end) return;
    if (this !== shared) return this.#terminate();
    const timer = setTimeout(() => {
      if (this.#held === 0 && !this.#end) this.#terminate();
    }, kLingerMs);
    unref(timer);
  }

  #terminate(): void {
    this.#end = new DpcacheError('disposed', 'this worker was ended');
    void this.#worker.terminate();
  }

  newTarget(): number {
    return ++this.#targets;
  }

  /** Makes a call. Calls are carried out in the order in which they are made. */
  call<Name extends CallName>(
    target: number,
    name: Name,
    args: Parameters<Calls[Name]>,
    transfer: ArrayBuffer[] = [],
    caller?: Caller,
  ): Promise<ReturnType<Calls[Name]>> {
    return new Promise((resolve, reject) => {
      if (this.#end) {
        reject(this.#end);
        return;
      }
      const call = ++this.#calls;
      const message: CallMessage = { dpcache: 'call', call, target, name, args };
      try {
        this.#worker.postMessage(message, transfer);
      } catch (cause) {
        const code = kTakesConfig.has(name) ? 'bad_config' : 'bad_request';
        const detail = `cannot be sent to the worker: ${String(cause)}`;
        reject(new DpcacheError(code, detail, undefined, { cause }));
        return;
      }
      if (this.#pending.size === 0 && this.#ours) (this.#worker as Partial<NodeWorker>).ref?.();
      if (!this.#heardOf) this.#silence ??= this.#waitForAWord();
      this.#pending.set(call, { caller, resolve: resolve as Pending['resolve'], reject });
    });
  }

  #receive(data: unknown): void {
    if (!isOurs<FromWorker>(data)) return;
    this.#heardOf = true;
    clearTimeout(this.#silence);
    if (data.dpcache === 'reply') this.#settle(data);
    else if (data.lock !== undefined) this.#watch(data.lock);
  }

  #settle(reply: ReplyMessage): void {
    const pending = this.#pending.get(reply.call);
    if (!pending) return;
    this.#pending.delete(reply.call);
    if (this.#pending.size === 0 && this.#ours) (this.#worker as Partial<NodeWorker>).unref?.();
    if (reply.events) pending.caller?.heard(reply.events);
    if (reply.error) pending.reject(received(reply.error));
    else pending.resolve(reply.result);
  }

  #waitForAWord(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => {
      if (!this.#heardOf) this.#die('it does not answer: does it run dpcache/worker-thread?');
    }, kSilenceMs);
    unref(timer);
    return timer;
  }

  // A worker that crashes or is terminated says nothing, but its lock becomes free.
  #watch(name: string): void {
    navigator.locks
      .request(name, () => this.#die('it was terminated, or has crashed'))
      .catch(() => undefined);
  }

  #die(why: string): void {
    if (this.#end) return;
    this.#end = new DpcacheError('unavailable', `the worker has ended (${why}); its caches are lost`);
    for (const { reject } of this.#pending.values()) reject(this.#end);
    this.#pending.clear();
    if (this.#ours) void this.#worker.terminate();
  }
}

const sources = new WeakMap<object, Promise<SentWasm>>();
let numbers = 0;

/** A source of WebAssembly as it is sent. One source keeps its number, so that caches share it. */
export async function sentWasm(source: WasmSource | PromiseLike<WasmSource>): Promise<SentWasm> {
  if (typeof source === 'string' || source instanceof URL) {
    // The worker stands elsewhere than the page.
    const base = globalThis.document?.baseURI;
    return base === undefined ? String(source) : new URL(source, base).href;
  }
  let sent = sources.get(source);
  if (!sent) {
    const number = ++numbers;
    sent = compiled(source).then((found) =>
      found instanceof WebAssembly.Module ? { number, module: found } : sentWasm(found),
    );
    sources.set(source, sent);
  }
  return sent;
}

// Modules can be sent for nothing, and buffers only with a copy or once.
async function compiled(
  source: WasmSource | PromiseLike<WasmSource>,
): Promise<WebAssembly.Module | URL | string> {
  const found = await source;
  if (typeof found === 'string' || found instanceof URL) return found;
  if (found instanceof WebAssembly.Module) return found;
  try {
    const response = typeof Response !== 'undefined' && found instanceof Response;
    return await WebAssembly.compile(
      response ? await found.arrayBuffer() : (found as BufferSource),
    );
  } catch (cause) {
    const detail = `cannot load the WebAssembly from what was given: ${String(cause)}`;
    throw new DpcacheError('unavailable', detail, undefined, { cause });
  }
}

// In Node a timer keeps the process alive.
function unref(timer: unknown): void {
  if (typeof timer === 'object') (timer as { unref?(): void }).unref?.();
}

function isBrowserWorker(worker: WorkerLike): worker is BrowserWorker {
  return 'addEventListener' in worker;
}

function received(error: SentError): Error {
  if (error.code) return new DpcacheError(error.code, error.detail, error.errors);
  const thrown = new Error(error.detail);
  thrown.name = error.name;
  return thrown;
}

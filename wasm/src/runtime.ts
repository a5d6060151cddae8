// One instance of the WebAssembly module: how it is found, loaded, called and shared.
import createCore, { type Core } from './core.js';
import { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
import { camel, camelDetail } from './names.js';
import { Patterns } from './patterns.js';
import type { WasmSource } from './types.js';
import { Reply, Request } from './wire.js';

/** An instance, and the one request and reply that it has. */
export class Runtime {
  readonly core: Core;
  readonly request: Request;
  readonly reply: Reply;
  readonly patterns: Patterns;
  #broken: DpcacheError | undefined;

  private constructor(core: Core, patterns: Patterns) {
    this.core = core;
    this.request = new Request(core);
    this.reply = new Reply(core);
    this.patterns = patterns;
  }

  static async start(module: WebAssembly.Module): Promise<Runtime> {
    const patterns = new Patterns();
    const core = await new Promise<Core>((resolve, reject) => {
      createCore({
        instantiateWasm(imports, receive) {
          WebAssembly.instantiate(module, imports).then(
            (instance) => receive(instance, module),
            reject,
          );
          return {};
        },
        find: (...where) => patterns.find(...where),
      }).then(resolve, reject);
    });
    const runtime = new Runtime(core, patterns);
    patterns.core = core;
    return runtime;
  }

  /**
   * Makes a call whose request has been written, and leaves the reply behind its error count.
   * Throws what the reply refuses.
   */
  call(call: (handle: number) => number, handle: number): Reply {
    this.check();
    let address: number;
    try {
      address = call(handle);
    } catch (cause) {
      // Nothing in the library throws: the instance has aborted, as a rule for want of memory.
      const what = cause instanceof RangeError ? 'found no room on the stack' : 'used up its memory';
      const detail = `the WebAssembly instance has ${what}; its caches are lost`;
      this.#broken = new DpcacheError('full', detail, undefined, { cause });
      throw this.#broken;
    }
    const { reply } = this;
    reply.begin(address);
    const errors = reply.number();
    if (errors > 0) this.#refuse(errors);
    return reply;
  }

  /** Throws if the instance has aborted. */
  check(): void {
    if (this.#broken) throw this.#broken;
  }

  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /** To be called when a reply has been read: gives back what a large one took. */
  tidy(): void {
    if (this.#broken || (!this.request.large && !this.reply.large)) return;
    this.core.trim();
    this.request.forget();
  }

  #refuse(count: number): never {
    const { reply } = this;
    const errors: ItemError[] = [];
    for (; count > 0; count--) {
      const index = reply.number();
      const code = reply.text() as ErrorCode;
      // Here they stand beside the masks, not among them.
      const pointer = reply.text().replace(/^\/masks\/own\b/, '/own_masks');
      const detail = reply.text();
      errors.push({ index, code, pointer: camel(pointer), detail: camelDetail(detail, pointer) });
    }
    const cause = this.patterns.takeFailure();
    throw DpcacheError.of(errors, cause === undefined ? undefined : { cause });
  }
}

// --- Loading

// (module (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt))
const simdProbe = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
]);

/** Whether this engine has WebAssembly SIMD; else the scalar build is loaded. */
export function hasSimd(): boolean {
  return WebAssembly.validate(simdProbe);
}

// Written out so that bundlers find both files.
function ownFile(): URL {
  return hasSimd()
    ? new URL('./dpcache.wasm', import.meta.url)
    : new URL('./dpcache-scalar.wasm', import.meta.url);
}

const unavailable = (detail: string, cause?: unknown): DpcacheError =>
  new DpcacheError('unavailable', detail, undefined, { cause });

async function compileUrl(url: URL): Promise<WebAssembly.Module> {
  if (url.protocol === 'file:') {
    const name = 'node:fs/promises'; // a variable: bundlers for browsers must not follow it
    const fs = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
      readFile(url: URL): Promise<Uint8Array<ArrayBuffer>>;
    };
    return WebAssembly.compile(await fs.readFile(url));
  }
  return compileResponse(await fetch(url));
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (!response.ok) throw unavailable(`${response.url} answered ${response.status}`);
  if (response.headers.get('content-type')?.startsWith('application/wasm')) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

async function compile(source: WasmSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (typeof source === 'string' || source instanceof URL) {
    return compileUrl(new URL(source, globalThis.document?.baseURI ?? import.meta.url));
  }
  if (typeof Response !== 'undefined' && source instanceof Response) return compileResponse(source);
  return WebAssembly.compile(source as BufferSource);
}

async function open(source: WasmSource | PromiseLike<WasmSource>, what: string): Promise<Runtime> {
  try {
    return await Runtime.start(await compile(await source));
  } catch (cause) {
    if (cause instanceof DpcacheError) throw cause;
    throw unavailable(
      `cannot load the WebAssembly from ${what}: ${String(cause)}. Where a bundler has moved this ` +
        'module away from its file, give { wasm: inlineWasm() } of dpcache/inline',
      cause,
    );
  }
}

const byName = new Map<string, Promise<Runtime>>();
const byObject = new WeakMap<object, Promise<Runtime>>();

/**
 * The instance of a source, made on first use; without one, of the file beside this module. Several
 * calls at once share it; one that failed or has aborted is made anew by the next.
 */
export async function runtime(source?: WasmSource | PromiseLike<WasmSource>): Promise<Runtime> {
  const promise = shared(source ?? undefined);
  const found = await promise;
  if (!found.isBroken) return found;
  for (const [name, one] of byName) if (one === promise) byName.delete(name);
  if (typeof source === 'object' && source !== null && byObject.get(source) === promise) {
    byObject.delete(source);
  }
  return shared(source ?? undefined);
}

function shared(source: WasmSource | PromiseLike<WasmSource> | undefined): Promise<Runtime> {
  if (typeof source === 'object' && !(source instanceof URL)) {
    let found = byObject.get(source);
    if (!found) {
      found = open(source, 'what was given');
      byObject.set(source, found);
    }
    return found;
  }
  const name = source === undefined ? '' : String(source);
  let found = byName.get(name);
  if (!found) {
    const url = source ?? ownFile();
    found = open(url, String(url));
    byName.set(name, found);
    found.catch(() => byName.delete(name));
  }
  return found;
}

// Where WebAssembly comes from: a file beside this package, an address, bytes, a response.
import { DpcacheError } from './errors.js';
import type { WasmSource } from './types.js';

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

/** What Emscripten's glue is told: how to come by an instance. */
export interface GlueOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
}

/** The glue of an instance of `module`. */
export function instantiate<Options extends object, Core>(
  create: (options: GlueOptions & Options) => Promise<Core>,
  module: WebAssembly.Module,
  options: Options,
): Promise<Core> {
  return new Promise((resolve, reject) => {
    create({
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(module, imports).then(
          (instance) => receive(instance, module),
          reject,
        );
        return {};
      },
      ...options,
    }).then(resolve, reject);
  });
}

/** One kind of instance: what starts it, and where its file is if nobody says. */
interface Kind<Instance> {
  start(module: WebAssembly.Module): Promise<Instance>;
  ownFile(): URL;
  /** What to do where it cannot be loaded. */
  advice: string;
}

async function open<Instance>(
  kind: Kind<Instance>,
  source: WasmSource | PromiseLike<WasmSource>,
  what: string,
): Promise<Instance> {
  try {
    return await kind.start(await compile(await source));
  } catch (cause) {
    if (cause instanceof DpcacheError) throw cause;
    const why = `cannot load the WebAssembly from ${what}: ${String(cause)}. ${kind.advice}`;
    throw unavailable(why, cause);
  }
}

/**
 * The instance of a source, made on first use; without one, of the file beside this package. Several
 * calls at once share it; one that failed or has aborted is made anew by the next.
 */
export function sharing<Instance extends { isBroken: boolean }>(
  kind: Kind<Instance>,
): (source?: WasmSource | PromiseLike<WasmSource>) => Promise<Instance> {
  const byName = new Map<string, Promise<Instance>>();
  const byObject = new WeakMap<object, Promise<Instance>>();

  function shared(source: WasmSource | PromiseLike<WasmSource> | undefined): Promise<Instance> {
    if (typeof source === 'object' && !(source instanceof URL)) {
      let found = byObject.get(source);
      if (!found) {
        found = open(kind, source, 'what was given');
        byObject.set(source, found);
      }
      return found;
    }
    const name = source === undefined ? '' : String(source);
    let found = byName.get(name);
    if (!found) {
      const url = source ?? kind.ownFile();
      found = open(kind, url, String(url));
      byName.set(name, found);
      found.catch(() => byName.delete(name));
    }
    return found;
  }

  return async (source) => {
    const promise = shared(source ?? undefined);
    const found = await promise;
    if (!found.isBroken) return found;
    for (const [name, one] of byName) if (one === promise) byName.delete(name);
    if (typeof source === 'object' && source !== null && byObject.get(source) === promise) {
      byObject.delete(source);
    }
    return shared(source ?? undefined);
  };
}

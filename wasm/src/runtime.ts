// One instance of the memory's WebAssembly module: how it is found, loaded, called and shared.
import { Border } from './border.js';
import createCore, { type Core, type CoreOptions } from './core.js';
import { Patterns } from './patterns.js';
import { instantiate, sharing } from './wasm-source.js';

/** An instance, and the masks of its users' own. */
export class Runtime extends Border<Core> {
  readonly patterns: Patterns;

  private constructor(core: Core, patterns: Patterns) {
    super(core);
    this.patterns = patterns;
  }

  /** `create`: the glue of `module`, which has all of its calls, and may have more. */
  static async start(module: WebAssembly.Module, create = createCore): Promise<Runtime> {
    const patterns = new Patterns();
    const find: CoreOptions['find'] = (...where) => patterns.find(...where);
    const core = await instantiate<Pick<CoreOptions, 'find'>, Core>(create, module, { find });
    const runtime = new Runtime(core, patterns);
    patterns.core = core;
    return runtime;
  }

  protected override takeCause(): unknown {
    return this.patterns.takeFailure();
  }

  // Here they stand beside the masks, not among them.
  protected override toPointer(pointer: string): string {
    return pointer.replace(/^\/masks\/own\b/, '/own_masks');
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

/** The instance of a source, or of the file beside this module: see `sharing`. */
export const runtime = sharing<Runtime>({
  start: (module) => Runtime.start(module),
  ownFile,
  advice:
    'Where a bundler has moved this module away from its file, give { wasm: inlineWasm() } of ' +
    'dpcache/inline',
});

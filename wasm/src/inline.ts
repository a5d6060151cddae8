// The WebAssembly inside a JavaScript file, for where no file can stand beside it: servers made by a
// bundler, single-file pages. A third larger than the file, and only with SIMD.
import { base64 } from './inline-bytes.js';

let bytes: Uint8Array<ArrayBuffer> | undefined;

/** What to give as `wasm`: `Cache.create(config, { wasm: inlineWasm() })`. */
export function inlineWasm(): Uint8Array<ArrayBuffer> {
  bytes ??= Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  return bytes;
}

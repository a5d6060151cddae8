// Where caches get their WebAssembly from: from the module's own files, unless the page has packed
// them. Importing this does nothing, so that Node can run what the page's workers run.
import type { OpenOptions } from 'dpcache';

export const wasmSource: OpenOptions = {};

// (module (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt)): valid where SIMD is there.
const simdProbe = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
]);

/** Fetches and unpacks the build that this browser can run. Empty addresses: nothing is packed. */
export function usePacked(addresses: { simd: string; scalar: string }): void {
  const url = WebAssembly.validate(simdProbe) ? addresses.simd : addresses.scalar;
  if (url) wasmSource.wasm = unpack(url);
}

async function unpack(url: string): Promise<ArrayBuffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const bytes = await response.arrayBuffer();
  // A server that knows .gz has had the browser unpack it already.
  const isPacked = new Uint8Array(bytes, 0, 1)[0] === 0x1f;
  if (!isPacked) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

// The glue that Emscripten writes (dist/core.js), and the calls of ../bindings.cc. Addresses are
// bytes from the start of the heap; every call but the last group answers with a reply's address.

export interface Core {
  HEAPU8: Uint8Array;
  HEAPF32: Float32Array;
  HEAPF64: Float64Array;

  createCache(): number;
  loadCache(): number;
  observe(cache: number): number;
  observeBatch(cache: number): number;
  read(cache: number): number;
  nearest(cache: number): number;
  score(cache: number): number;
  slot(cache: number): number;
  slots(cache: number): number;
  erase(cache: number): number;
  consolidate(cache: number): number;
  configure(cache: number): number;
  config(cache: number): number;
  stats(cache: number): number;
  warning(cache: number): number;
  apply(cache: number): number;
  metadata(cache: number): number;
  setMetadata(cache: number): number;
  save(cache: number): number;
  createEncoder(): number;
  encodeText(encoder: number): number;
  maskText(encoder: number): number;

  /** Makes room for a request; its address, or 0 if there is no memory. */
  reserve(cells: number): number;
  trim(): void;
  textTau(): number;
  size(cache: number): number;
  listen(cache: number, on: number): void;
  countEvents(): number;
  takeEvents(): number;
  freeCache(cache: number): void;
  freeFile(): void;
  freeEncoder(encoder: number): void;
}

export interface CoreOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
  /** The masks of one's own: writes the first match's begin and end to `range`; false if it failed. */
  find(pattern: number, text: number, length: number, from: number, range: number): boolean;
}

export default function createCore(options: CoreOptions): Promise<Core>;

// The glue that Emscripten makes of ../guards_bindings.cc: its calls. Addresses are bytes from the
// start of the heap; every call but the last answers with a reply's address.
import type { GlueOptions } from './wasm-source.js';
import type { Heap } from './wire.js';

export interface GuardsCore extends Heap {
  create(unused: number): number;
  between(handle: number): number;
  facts(handle: number): number;
  explain(handle: number): number;
  table(unused: number): number;

  freeGuards(handle: number): void;
}

export default function createGuardsCore(options: GlueOptions): Promise<GuardsCore>;

// The glue that Emscripten makes of ../templates_bindings.cc: its calls. Addresses are bytes from the
// start of the heap; every call but the last answers with a reply's address.
import type { GlueOptions } from './wasm-source.js';
import type { Heap } from './wire.js';

export interface TemplatesCore extends Heap {
  create(unused: number): number;
  load(unused: number): number;
  save(handle: number): number;
  learn(handle: number): number;
  match(handle: number): number;
  get(handle: number): number;
  list(handle: number): number;

  freeTemplates(handle: number): void;
}

export default function createTemplatesCore(options: GlueOptions): Promise<TemplatesCore>;

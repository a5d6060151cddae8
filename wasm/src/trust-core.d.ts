// The glue that Emscripten makes of ../trust_bindings.cc: the calls of ../bindings.cc, and these.
import type { Core, CoreOptions } from './core.js';

export interface TrustCore extends Core {
  observeTrusted(cache: number): number;
  lookup(cache: number): number;
  members(cache: number): number;
  split(cache: number): number;
  slotText(cache: number): number;
  mustNotMerge(cache: number): number;
  mustMerge(cache: number): number;
  review(cache: number): number;
  pairs(cache: number): number;

  createAdvisor(unused: number): number;
  adviseItems(advisor: number): number;
  advisePairs(advisor: number): number;
  advise(advisor: number): number;
  freeAdvisor(advisor: number): void;
}

export default function createTrustCore(options: CoreOptions): Promise<TrustCore>;

// The npm package dpcache: a memory that keeps distinct items, not every item.
export { Cache, type ConfigChanges } from './cache.js';
export { Encoder } from './encoder.js';
export { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
export { hasSimd } from './runtime.js';
export type * from './types.js';
export { version } from './version.js';

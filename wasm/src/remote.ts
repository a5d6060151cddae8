// `dpcache/remote`: the API of `dpcache/worker` on a cache that `dpcache serve` keeps. Only fetch
// is needed; no WebAssembly is loaded.
export { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
export { Cache, listCaches } from './remote-cache.js';
export type {
  AsyncCache,
  CacheLine,
  Durability,
  ObserveOptions,
  RemoteCallOptions,
  RemoteCreateOptions,
  RemoteOptions,
} from './remote-cache.js';
export { TrustCache } from './remote-trust.js';
export type { Verdict } from './judge.js';
export type {
  AsyncTrust,
  Config as TrustConfig,
  Decision as TrustDecision,
  Guard,
  Item as TrustItem,
  Lookup,
  LookupOptions,
  Member,
  Review,
} from './trust-items.js';
export type { CallOptions, ServerOptions } from './remote-server.js';
export type { ConfigChanges } from './settings.js';
export type * from './types.js';
export { version } from './version.js';

// `dpcache/worker` for browsers and bundlers: the API of `dpcache`, asynchronous, off this thread.
import { DpcacheError } from './errors.js';
import type { Config as TrustConfig } from './trust-items.js';
import type { Config, EncoderConfig } from './types.js';
import {
  makeCache,
  makeEncoder,
  makeLoaded,
  WorkerCache,
  WorkerEncoder,
  type WorkerLoadOptions,
  type WorkerOpenOptions,
} from './worker-cache.js';
import type { WorkerLike } from './worker-link.js';
import { WorkerTrustCache } from './worker-trust.js';

export { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
export type { ConfigChanges } from './settings.js';
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
export type * from './types.js';
export { version } from './version.js';
export type { WorkerLike, WorkerLoadOptions, WorkerOpenOptions };
export type { TransferOption } from './worker-parcel.js';

function start(): WorkerLike {
  if (typeof Worker === 'undefined') {
    throw new DpcacheError('unavailable', 'there are no workers here');
  }
  // Written out so that bundlers see it.
  return new Worker(new URL('./worker-thread.js', import.meta.url), {
    type: 'module',
    name: 'dpcache',
  });
}

/** A cache in a worker: the methods of `Cache`, as promises. */
export class Cache extends WorkerCache {
  /** `bad_config`; `unavailable`: the worker or the WebAssembly cannot be loaded. */
  static async create(config: Config, options: WorkerOpenOptions = {}): Promise<Cache> {
    return new Cache(await makeCache(start, config, options));
  }

  /** `bad_snapshot`; `unavailable`. `transfer` hands the buffer of `bytes` over. */
  static async load(bytes: Uint8Array, options: WorkerLoadOptions = {}): Promise<Cache> {
    return new Cache(await makeLoaded(start, bytes, options));
  }
}

/**
 * A cache of `dpcache/trust` in a worker: its methods, as promises. The WebAssembly is that of
 * `dpcache/trust`, loaded with the first of them.
 */
export class TrustCache extends WorkerTrustCache {
  /** `bad_config`; `unavailable`: the worker or the WebAssembly cannot be loaded. */
  static async create(config: TrustConfig, options: WorkerOpenOptions = {}): Promise<TrustCache> {
    return new TrustCache(await makeCache(start, config as Config, options, 'trust'));
  }

  /** `bad_snapshot`; `unavailable`. `transfer` hands the buffer of `bytes` over. */
  static async load(bytes: Uint8Array, options: WorkerLoadOptions = {}): Promise<TrustCache> {
    return new TrustCache(await makeLoaded(start, bytes, options, 'trust'));
  }
}

/** An encoder in a worker. */
export class Encoder extends WorkerEncoder {
  static async create(
    config: EncoderConfig = {},
    options: WorkerOpenOptions = {},
  ): Promise<Encoder> {
    return new Encoder(await makeEncoder(start, config, options));
  }
}

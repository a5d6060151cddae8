// The arguments of one call on their way to a worker: checked, plain, and with buffers to transfer.
import { toOptions, type Prepared, type PreparedQuery } from './arguments.js';
import { copyOf } from './copy.js';
import { DpcacheError, type ItemError } from './errors.js';
import type { Config as TrustConfig, Trusted } from './trust-items.js';
import type { Config, EncoderConfig, OwnMask } from './types.js';
import type { Checked } from './worker-messages.js';

export interface TransferOption {
  /**
   * Hands the buffers behind Float32Arrays and Uint8Arrays over instead of copying them. They are
   * detached: these arrays, and all others of the same buffers, have length 0 afterwards.
   */
  transfer?: boolean;
}

/** Copies what the caller keeps, and transfers the copies; or transfers the caller's own. */
export class Parcel {
  readonly #own: boolean;
  readonly #buffers = new Set<ArrayBuffer>();

  constructor(options: TransferOption | undefined) {
    this.#own = options?.transfer === true;
  }

  get buffers(): ArrayBuffer[] {
    return [...this.#buffers];
  }

  array<T extends Float32Array | Uint8Array>(values: T): T {
    const { buffer } = values;
    // Shared memory cannot be handed over, and that of WebAssembly must not be.
    const mine = this.#own && buffer instanceof ArrayBuffer;
    const sent = mine ? values : copyOf(values);
    if (sent.byteLength > 0) this.#buffers.add(sent.buffer as ArrayBuffer);
    return sent;
  }

  query(query: PreparedQuery): PreparedQuery {
    return typeof query === 'string' ? query : this.array(query);
  }

  item(item: Prepared): Prepared {
    return {
      ...item,
      key: this.query(item.key),
      value: this.array(item.value),
      payload: typeof item.payload === 'string' ? item.payload : this.array(item.payload),
    };
  }
}

/** The same of an item of dpcache/trust. */
export function trustedIn(parcel: Parcel, trusted: Trusted): Trusted {
  return { ...trusted, item: parcel.item(trusted.item) };
}

/** What `prepare` makes of each, or why it is refused, for the worker to name all at once. */
export function checkAll<In, Out>(
  list: readonly In[],
  what: string,
  prepare: (one: In) => Out,
): Checked<Out>[] {
  if (!Array.isArray(list)) throw DpcacheError.at('', `${what} must be an array`);
  return Array.from(list as readonly In[], (one) => {
    try {
      return prepare(one);
    } catch (error) {
      if (!(error instanceof DpcacheError)) throw error;
      return { refused: error.errors };
    }
  });
}

export function isRefused<T extends object>(
  checked: Checked<T>,
): checked is { refused: readonly ItemError[] } {
  return 'refused' in checked;
}

// Plain copies: the reactive objects of frameworks are proxies, which cannot be sent.
export function plainOptions<T extends object>(options: T | undefined): T | undefined {
  return options === undefined ? undefined : { ...toOptions(options) };
}

export function plainConfig(config: Config): Config {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return config;
  const plain = { ...config };
  if (isObject(plain.gate)) plain.gate = { ...plain.gate };
  const trusting = plain as TrustConfig;
  if (Array.isArray(trusting.guards)) trusting.guards = [...trusting.guards];
  if (isObject(plain.text)) plain.text = plainEncoder(plain.text);
  return plain;
}

export function plainEncoder(config: EncoderConfig): EncoderConfig {
  if (!isObject(config)) return config;
  const plain = { ...config };
  if (Array.isArray(plain.masks)) plain.masks = [...plain.masks];
  const ownMasks = plainMasks(plain.ownMasks);
  if (ownMasks) plain.ownMasks = ownMasks;
  return plain;
}

export function plainMasks(masks: readonly OwnMask[] | undefined): OwnMask[] | undefined {
  if (!Array.isArray(masks)) return masks as undefined;
  return Array.from(masks as OwnMask[], (mask) => (isObject(mask) ? { ...mask } : mask));
}

function isObject(x: unknown): x is object {
  return typeof x === 'object' && x !== null && !Array.isArray(x);
}

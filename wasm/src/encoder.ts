// The built-in encoder: from text to unit vector, without a model.
import { toOptions, toText } from './arguments.js';
import { dispose } from './dispose.js';
import { DpcacheError } from './errors.js';
import { checkMasks } from './patterns.js';
import { runtime, type Runtime } from './runtime.js';
import { checkEncoder } from './settings.js';
import type { EncoderConfig, OpenOptions } from './types.js';

interface Held {
  runtime: Runtime;
  handle: number;
  patterns: number[];
}

const release = ({ runtime, handle, patterns }: Held): void => {
  if (runtime.isBroken) return;
  runtime.core.freeEncoder(handle);
  runtime.patterns.forget(patterns);
};
const forgotten = new FinalizationRegistry(release);

/**
 * Hashes words, pairs of words and character trigrams. The vector depends on the text and the config
 * alone, in the same bits on every platform. Linear time; about 1 µs for a line of a log.
 */
export class Encoder {
  readonly #held: Held;
  #disposed = false;
  /** Spells out everything that the vectors depend on; equal ids, equal vectors. */
  readonly id: string;
  /** Length of the vectors. */
  readonly dimension: number;

  private constructor(held: Held, dimension: number, id: string) {
    this.#held = held;
    this.dimension = dimension;
    this.id = id;
    forgotten.register(this, held, this);
  }

  /** `bad_config`: a dimension, seed, mask or name out of its range. */
  static async create(config: EncoderConfig = {}, options: OpenOptions = {}): Promise<Encoder> {
    const { dimension, seed, masks } = checkEncoder(config);
    const own = checkMasks(config.ownMasks, '/ownMasks');
    const open = await runtime(toOptions(options).wasm);
    const { request } = open;
    request.begin();
    request.text(masks);
    request.number(dimension);
    request.number(seed);
    const patterns = open.patterns.write(request, own);
    try {
      const reply = open.call(open.core.createEncoder, 0);
      const made = reply.number();
      const id = reply.text();
      return new Encoder({ runtime: open, handle: reply.number(), patterns }, made, id);
    } catch (error) {
      open.patterns.forget(patterns);
      throw error;
    }
  }

  /** The unit vector of a text. Unpaired surrogates are read as U+FFFD. */
  encode(text: string): Float32Array {
    return this.#ask(text, this.#held.runtime.core.encodeText, (reply) => reply.floats());
  }

  /** What encode() sees: canonically decomposed, masked parts replaced by their names. */
  mask(text: string): string {
    return this.#ask(text, this.#held.runtime.core.maskText, (reply) => reply.text());
  }

  /** Gives the memory back. The encoder cannot be used afterwards. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    forgotten.unregister(this);
    release(this.#held);
  }

  [dispose](): void {
    this.dispose();
  }

  #ask<T>(text: string, call: (handle: number) => number, read: (reply: Runtime['reply']) => T): T {
    if (this.#disposed) throw new DpcacheError('disposed', 'this encoder was disposed');
    const checked = toText(text, '/text');
    const { runtime, handle } = this.#held;
    try {
      runtime.request.begin();
      runtime.request.text(checked);
      return read(runtime.call(call, handle));
    } finally {
      runtime.tidy();
    }
  }
}

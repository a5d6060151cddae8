// The streams of the recall lab: random unit keys with a random class each, every item repeated,
// shuffled, and asked for with fresh noise. Set-up of the paper's table 1 (docs/method.md).
import { Random } from '../samples/random';
import type { Setup } from './protocol';

export const dimension = 64;
export const classes = 16;

export interface Recall {
  /** Which item each element repeats. */
  order: Uint32Array;
  /** Element i's key: `dimension` numbers from i × dimension. */
  keys: Float32Array;
  /** Of each item. */
  classOf: Uint8Array;
  /** Item i's query: `dimension` numbers from i × dimension. */
  queries: Float32Array;
}

/** unit(base + ρ/√d · N(0, I)), written to out[at …]. */
function writeNoisy(
  random: Random,
  base: Float64Array,
  rho: number,
  out: Float32Array,
  at: number,
): void {
  const scale = rho / Math.sqrt(dimension);
  const x = rho === 0 ? base : base.map((component) => component + scale * random.gaussian());
  let squares = 0;
  for (const component of x) squares += component * component;
  const norm = Math.sqrt(squares);
  for (let d = 0; d < dimension; ++d) out[at + d] = (x[d] as number) / norm;
}

export function makeRecall(setup: Setup, seed: number): Recall {
  const random = new Random(seed * 7919 + 1);
  const bases = Array.from({ length: setup.items }, () => {
    const x = Float64Array.from({ length: dimension }, () => random.gaussian());
    const norm = Math.hypot(...x);
    return x.map((component) => component / norm);
  });
  const classOf = Uint8Array.from(bases, () => random.below(classes));
  const order = Array.from({ length: setup.items * setup.repeats }, (_, i) => i % setup.items);
  random.shuffle(order);
  const keys = new Float32Array(order.length * dimension);
  for (const [i, item] of order.entries()) {
    writeNoisy(random, bases[item] as Float64Array, setup.noise, keys, i * dimension);
  }
  const queries = new Float32Array(setup.items * dimension);
  for (const [i, base] of bases.entries()) {
    writeNoisy(random, base, setup.noise, queries, i * dimension);
  }
  return { order: Uint32Array.from(order), keys, classOf, queries };
}

export const row = (matrix: Float32Array, i: number): Float32Array =>
  matrix.subarray(i * dimension, (i + 1) * dimension);

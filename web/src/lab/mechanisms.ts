// Four memories for the recall lab: the DP cache itself, and what else one may keep of a stream.
// Each answers by softmax attention over what it holds, at one temperature.
import { Cache, type Config } from 'dpcache';
import { classes, dimension, row } from './streams';

export const theta = 0.05;

export interface Mechanism {
  observe(key: Float32Array, itemClass: number): void;
  /** The class of the largest share in the answer. */
  answer(query: Float32Array): number;
  readonly entries: number;
  dispose(): void;
}

function largest(list: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < list.length; ++i) {
    if ((list[i] as number) > (list[best] as number)) best = i;
  }
  return best;
}

/** Entries one after the other, and softmax attention over them. */
class Entries {
  #keys: Float32Array;
  #classes: Uint8Array;
  #weights: Float64Array;
  length = 0;

  constructor(capacity: number) {
    this.#keys = new Float32Array(capacity * dimension);
    this.#classes = new Uint8Array(capacity);
    this.#weights = new Float64Array(capacity);
  }

  push(key: Float32Array, itemClass: number): void {
    this.#keys.set(key, this.length * dimension);
    this.#classes[this.length++] = itemClass;
  }

  set(i: number, key: Float32Array, itemClass: number): void {
    this.#keys.set(key, i * dimension);
    this.#classes[i] = itemClass;
  }

  remove(i: number): void {
    this.#keys.copyWithin(i * dimension, (i + 1) * dimension, this.length * dimension);
    this.#classes.copyWithin(i, i + 1, this.length--);
  }

  /** The softmax over all entries; overwritten by the next call. */
  attention(query: Float32Array): Float64Array {
    const weights = this.#weights.subarray(0, this.length);
    let top = -Infinity;
    for (let i = 0; i < this.length; ++i) {
      const key = row(this.#keys, i);
      let dot = 0;
      for (let d = 0; d < dimension; ++d) dot += (key[d] as number) * (query[d] as number);
      weights[i] = dot / theta;
      if (dot / theta > top) top = dot / theta;
    }
    let sum = 0;
    for (let i = 0; i < this.length; ++i) {
      const weight = Math.exp((weights[i] as number) - top);
      weights[i] = weight;
      sum += weight;
    }
    for (let i = 0; i < this.length; ++i) weights[i] = (weights[i] as number) / sum;
    return weights;
  }

  answer(query: Float32Array): number {
    const votes = new Float64Array(classes);
    const weights = this.attention(query);
    for (let i = 0; i < this.length; ++i) {
      const itemClass = this.#classes[i] as number;
      votes[itemClass] = (votes[itemClass] as number) + (weights[i] as number);
    }
    return largest(votes);
  }
}

/** The memory that this project is about, through its public module. */
export async function dpCache(tau: number): Promise<Mechanism> {
  const config: Config = {
    dimension,
    valueDimension: classes,
    valueUpdate: 'first',
    tau,
    theta,
  };
  const cache = await Cache.create(config);
  const oneHot = new Float32Array(classes);
  return {
    observe(key, itemClass) {
      oneHot.fill(0);
      oneHot[itemClass] = 1;
      cache.observe({ key, value: oneHot, time: 0 });
    },
    answer: (query) => largest(cache.read(query, { k: 0, time: null }).value ?? []),
    get entries() {
      return cache.size;
    },
    dispose: () => cache.dispose(),
  };
}

/** Full attention: every element is kept. */
export function keepAll(length: number): Mechanism {
  const entries = new Entries(length);
  return {
    observe: (key, itemClass) => entries.push(key, itemClass),
    answer: (query) => entries.answer(query),
    get entries() {
      return entries.length;
    },
    dispose: () => undefined,
  };
}

/** A sliding window: the last `budget` elements. */
export function recency(budget: number): Mechanism {
  const entries = new Entries(budget);
  let next = 0;
  return {
    observe(key, itemClass) {
      if (entries.length < budget) entries.push(key, itemClass);
      else entries.set(next, key, itemClass);
      next = (next + 1) % budget;
    },
    answer: (query) => entries.answer(query),
    get entries() {
      return entries.length;
    },
    dispose: () => undefined,
  };
}

/**
 * Like H2O (Zhang & al. 2023): each element's attention over the entries, itself among them, is
 * added up; over the budget the entry of least sum goes, but none of the latest `recent`.
 */
export function heavyHitters(budget: number, recent: number): Mechanism {
  const entries = new Entries(budget + 1);
  const sums: number[] = [];
  return {
    observe(key, itemClass) {
      entries.push(key, itemClass);
      sums.push(0);
      const weights = entries.attention(key);
      for (let i = 0; i < sums.length; ++i) sums[i] = (sums[i] as number) + (weights[i] as number);
      if (entries.length <= budget) return;
      // Where the window takes the whole budget, the oldest entry goes.
      const candidates = Math.max(1, entries.length - recent);
      let least = 0;
      for (let i = 1; i < candidates; ++i) {
        if ((sums[i] as number) < (sums[least] as number)) least = i;
      }
      entries.remove(least);
      sums.splice(least, 1);
    },
    answer: (query) => entries.answer(query),
    get entries() {
      return entries.length;
    },
    dispose: () => undefined,
  };
}

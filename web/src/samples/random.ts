// A small random generator with a seed, so that a sample is the same in every browser.

export class Random {
  #state: number;
  #spare: number | null = null;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). A 32-bit counter, mixed twice (as MurmurHash3 ends). */
  uniform(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let x = this.#state;
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    return ((x ^ (x >>> 16)) >>> 0) / 4294967296;
  }

  /** An integer in [0, n). */
  below(n: number): number {
    return Math.floor(this.uniform() * n);
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new RangeError('pick from an empty list');
    return picked;
  }

  /** Normally distributed (Box & Muller, two at a time). */
  gaussian(): number {
    if (this.#spare !== null) {
      const spare = this.#spare;
      this.#spare = null;
      return spare;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }

  shuffle<T>(list: T[]): void {
    for (let n = list.length; n > 1; --n) {
      const other = this.below(n);
      const last = list[n - 1] as T;
      list[n - 1] = list[other] as T;
      list[other] = last;
    }
  }
}

// A judge of pairs of which it is uncertain whether they are one: when it is asked, and what becomes
// of its answers.
import { toInteger } from './arguments.js';
import { DpcacheError } from './errors.js';
import type { Json } from './types.js';

export type Verdict = 'same' | 'different' | 'unknown';
export const verdicts: readonly Verdict[] = ['same', 'different', 'unknown'];

/** One side of a question. */
export interface Side {
  slot: number;
  /** As far as the cache has kept it (`guards`, or audit `full`); else empty. */
  text: string;
  payload: Json | undefined;
}

/** What a judge is asked: whether an item is what a slot holds. */
export interface Question {
  /** What has come, in the slot that it has opened. */
  item: Side;
  /** What it may be: the nearest slot. */
  other: Side;
  similarity: number;
  tauMerge: number;
  threshold: number;
}

/**
 * Says whether the two are one, at once or later. `same` folds the item's slot into the other,
 * `different` keeps them apart for good, `unknown` leaves the pair listed. So does an error.
 */
export type Judge = (question: Question) => Verdict | PromiseLike<Verdict>;

export interface JudgeOptions {
  /** How many promises may be under way, default 4; further questions wait. */
  atOnce?: number;
  /** Is told of what the judge throws, or answers that is no verdict; default: console.error. */
  onError?: (error: unknown, question: Question) => void;
}

/** A pair that has just become uncertain. */
export interface Doubt {
  slot: number;
  other: number;
  similarity: number;
  threshold: number;
  text: string;
  time: number;
}

/** What a cache does for its judge. */
export interface Bench {
  /** Undefined: the pair waits no more. */
  question(doubt: Doubt): Question | undefined;
  record(doubt: Doubt, verdict: 'same' | 'different'): void;
}

const defaultAtOnce = 4;

export class Hearing {
  readonly #judge: Judge;
  readonly #bench: Bench;
  readonly #atOnce: number;
  readonly #onError: (error: unknown, question: Question) => void;
  readonly #waiting: Doubt[] = [];
  #underWay = 0;
  #idle: (() => void)[] = [];

  constructor(judge: Judge, bench: Bench, options: JudgeOptions) {
    if (typeof judge !== 'function') throw DpcacheError.at('', 'a judge must be a function');
    const { atOnce = defaultAtOnce, onError } = options;
    if (toInteger(atOnce, '/atOnce') < 1) throw DpcacheError.at('/atOnce', 'must be at least 1');
    this.#judge = judge;
    this.#bench = bench;
    this.#atOnce = atOnce;
    this.#onError = onError ?? ((error) => console.error('dpcache judge:', error));
  }

  /** Asks, or has the question wait for its turn. The verdict, if it came at once. */
  hear(doubt: Doubt): Verdict | null {
    if (this.#underWay >= this.#atOnce) {
      this.#waiting.push(doubt);
      return null;
    }
    return this.#ask(doubt);
  }

  /** Settles when no question waits for an answer. */
  async over(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #ask(doubt: Doubt): Verdict | null {
    const question = this.#bench.question(doubt);
    if (question === undefined) return null;
    let answer: Verdict | PromiseLike<Verdict>;
    try {
      answer = this.#judge(question);
    } catch (error) {
      this.#fail(error, question);
      return null;
    }
    if (typeof answer !== 'object' || answer === null) return this.#take(doubt, question, answer);
    ++this.#underWay;
    void this.#wait(doubt, question, answer);
    return null;
  }

  async #wait(doubt: Doubt, question: Question, answer: PromiseLike<Verdict>): Promise<void> {
    try {
      this.#take(doubt, question, await answer);
    } catch (error) {
      this.#fail(error, question);
    }
    --this.#underWay;
    while (this.#underWay < this.#atOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#ask(next);
    }
    if (this.#underWay > 0) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  #take(doubt: Doubt, question: Question, verdict: Verdict): Verdict | null {
    if (!verdicts.includes(verdict)) {
      const detail = `must be one of ${verdicts.join(', ')}, not ${String(verdict)}`;
      this.#fail(DpcacheError.at('/verdict', detail), question);
      return null;
    }
    if (verdict === 'unknown') return verdict;
    try {
      this.#bench.record(doubt, verdict);
    } catch (error) {
      // The pair has been answered, or a slot has gone, or the cache, while the judge thought.
      const isLate =
        error instanceof DpcacheError && (error.code === 'not_found' || error.code === 'disposed');
      if (!isLate) this.#fail(error, question);
      return null;
    }
    return verdict;
  }

  // Whatever happens here, the item has been taken.
  #fail(error: unknown, question: Question): void {
    try {
      this.#onError(error, question);
    } catch (thrown) {
      queueMicrotask(() => {
        throw thrown;
      });
    }
  }
}

// What became of each item of one replay, in columns that chunks fill from the front.
import type { Begin, Chunk, Edit } from '../engine/protocol';

export interface Gone {
  item: number;
  slot: number;
  /** The slot it was folded into; 0: it was evicted; −1: it expired. */
  into: number;
}

export class Results {
  readonly begin: Begin;
  readonly count: number;
  /** Items that are known so far. */
  computed = 0;
  isDone = false;
  readonly slot: Float64Array;
  readonly opened: Uint8Array;
  readonly novelty: Float32Array;
  readonly threshold: Float32Array;
  readonly nearestSlot: Float64Array;
  readonly nearest: Float32Array;
  readonly surprise: Float32Array;
  readonly budget: Float32Array;
  readonly slotsAfter: Uint32Array;
  readonly guarded: Uint8Array;
  readonly uncertain: Uint8Array;
  readonly edits: Edit[] = [];
  readonly gone: Gone[] = [];
  /** x and y of each opened slot, in the order of opening. */
  readonly places: number[] = [];

  constructor(begin: Begin) {
    const { count } = begin;
    this.begin = begin;
    this.count = count;
    this.slot = new Float64Array(count);
    this.opened = new Uint8Array(count);
    this.novelty = new Float32Array(count);
    this.threshold = new Float32Array(count);
    this.nearestSlot = new Float64Array(count);
    this.nearest = new Float32Array(count);
    this.surprise = new Float32Array(count);
    this.budget = new Float32Array(count);
    this.slotsAfter = new Uint32Array(count);
    this.guarded = new Uint8Array(count);
    this.uncertain = new Uint8Array(count);
  }

  add(chunk: Chunk): void {
    const { from, length } = chunk;
    this.slot.set(chunk.slot.subarray(0, length), from);
    this.opened.set(chunk.opened.subarray(0, length), from);
    this.novelty.set(chunk.novelty.subarray(0, length), from);
    this.threshold.set(chunk.threshold.subarray(0, length), from);
    this.nearestSlot.set(chunk.nearestSlot.subarray(0, length), from);
    this.nearest.set(chunk.nearest.subarray(0, length), from);
    this.surprise.set(chunk.surprise.subarray(0, length), from);
    this.budget.set(chunk.budget.subarray(0, length), from);
    this.slotsAfter.set(chunk.slotsAfter.subarray(0, length), from);
    this.guarded.set(chunk.guarded.subarray(0, length), from);
    this.uncertain.set(chunk.uncertain.subarray(0, length), from);
    this.edits.push(...chunk.edits);
    for (let i = 0; i < chunk.gone.length; i += 3) {
      const [item = 0, slot = 0, into = 0] = chunk.gone.subarray(i, i + 3);
      this.gone.push({ item, slot, into });
    }
    for (const coordinate of chunk.places) this.places.push(coordinate);
    this.computed = from + length;
  }

  /** Slots after the first `at` items. */
  slotsAt(at: number): number {
    return at > 0 ? (this.slotsAfter[at - 1] as number) : this.begin.slots.length;
  }
}

// Decisions as columns of numbers: what the page needs of each item, in arrays that are handed over
// without being copied.
import type { Decision as PlainDecision } from 'dpcache';
import type { Decision as TrustDecision } from 'dpcache/trust';
import { guardNames } from '../settings';
import type { Chunk, Edit } from './protocol';

/** Of either cache. */
export type Decision = PlainDecision & Partial<Pick<TrustDecision, 'uncertain' | 'guarded'>>;

export class ChunkWriter {
  readonly #chunk: Chunk;
  readonly #gone: number[] = [];
  readonly #places: number[] = [];
  readonly #edits: Edit[] = [];

  constructor(run: number, from: number, capacity: number) {
    this.#chunk = {
      run,
      from,
      length: 0,
      slot: new Float64Array(capacity),
      opened: new Uint8Array(capacity),
      novelty: new Float32Array(capacity),
      threshold: new Float32Array(capacity),
      nearestSlot: new Float64Array(capacity),
      nearest: new Float32Array(capacity),
      surprise: new Float32Array(capacity),
      budget: new Float32Array(capacity),
      slotsAfter: new Uint32Array(capacity),
      guarded: new Uint8Array(capacity),
      uncertain: new Uint8Array(capacity),
      gone: new Float64Array(0),
      places: new Float32Array(0),
      edits: [],
    };
  }

  get length(): number {
    return this.#chunk.length;
  }

  add(decision: Decision, slotsAfter: number): void {
    const chunk = this.#chunk;
    const i = chunk.length++;
    chunk.slot[i] = decision.slot;
    chunk.opened[i] = decision.action === 'allocate' ? 1 : 0;
    chunk.novelty[i] = decision.novelty;
    chunk.threshold[i] = decision.threshold;
    chunk.nearestSlot[i] = decision.nearest?.slot ?? 0;
    chunk.nearest[i] = decision.nearest?.similarity ?? 0;
    chunk.surprise[i] = decision.surprise;
    chunk.budget[i] = decision.budget ?? NaN;
    chunk.slotsAfter[i] = slotsAfter;
    chunk.uncertain[i] = decision.uncertain ? 1 : 0;
    for (const name of decision.guarded ?? []) {
      const bit = guardNames.findIndex((one) => one === name);
      if (bit >= 0) chunk.guarded[i] = (chunk.guarded[i] as number) | (1 << bit);
    }
    for (const slot of decision.evicted) this.#gone.push(chunk.from + i, slot, 0);
    for (const { slot, into } of decision.folded) this.#gone.push(chunk.from + i, slot, into);
  }

  /** Before the decision of the item that came too late for them. */
  addExpired(slots: readonly number[]): void {
    const item = this.#chunk.from + this.#chunk.length;
    for (const slot of slots) this.#gone.push(item, slot, -1);
  }

  addPlace(x: number, y: number): void {
    this.#places.push(x, y);
  }

  /** After the item that was added last. */
  addEdit(edit: Edit, slotsAfter: number): void {
    this.#edits.push(edit);
    this.#chunk.slotsAfter[this.#chunk.length - 1] = slotsAfter;
  }

  finish(): { chunk: Chunk; transfer: Transferable[] } {
    const chunk: Chunk = {
      ...this.#chunk,
      gone: Float64Array.from(this.#gone),
      places: Float32Array.from(this.#places),
      edits: this.#edits,
    };
    const transfer = Object.values(chunk).flatMap(
      (column: number | ArrayBufferView<ArrayBuffer> | Edit[]) =>
        typeof column === 'number' || Array.isArray(column) ? [] : [column.buffer],
    );
    return { chunk, transfer };
  }
}

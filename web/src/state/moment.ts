// The memory at one moment of a replay: its slots after the first `at` items. Going forward costs
// what the items cost; going back begins again.
import type { Edit } from '../engine/protocol';
import type { Results } from './results';

export interface SlotState {
  id: number;
  count: number;
  /** The decayed count, as it was when `usedAt` items had been seen. */
  usage: number;
  usedAt: number;
  x: number;
  y: number;
  /** The item that opened it, or −1 if it was there before the stream. */
  firstItem: number;
  /** The latest item that it took, or −1. */
  lastItem: number;
  /** Of a slot that was there before. */
  oldExample: string | null;
  /** The latest items, newest first. */
  recent: number[];
  /** The item at which it went, or −1. */
  goneItem: number;
  /** The slot it was folded into; 0: evicted, or not gone; −1: expired. */
  goneInto: number;
}

export const noveltyBins = 200; // of .01, over [0, 2]
const recentItems = 4;

export class Moment {
  readonly results: Results;
  at = 0;
  live = 0;
  evicted = 0;
  folded = 0;
  expired = 0;
  /** All slots that ever were, in the order of their ids. */
  readonly slots = new Map<number, SlotState>();
  readonly merged = new Uint32Array(noveltyBins);
  readonly allocated = new Uint32Array(noveltyBins);
  #gonesRead = 0;
  #placesRead = 0;
  #editsRead = 0;

  constructor(results: Results) {
    this.results = results;
    this.#restart();
  }

  #restart(): void {
    this.at = 0;
    this.evicted = 0;
    this.folded = 0;
    this.expired = 0;
    this.#gonesRead = 0;
    this.#placesRead = 0;
    this.#editsRead = 0;
    this.slots.clear();
    this.merged.fill(0);
    this.allocated.fill(0);
    const { slots, places } = this.results.begin;
    this.live = slots.length;
    for (const [i, { id, count, usage, example }] of slots.entries()) {
      this.slots.set(id, {
        id,
        count,
        usage,
        usedAt: 0,
        x: places[2 * i] as number,
        y: places[2 * i + 1] as number,
        firstItem: -1,
        lastItem: -1,
        oldExample: example,
        recent: [],
        goneItem: -1,
        goneInto: 0,
      });
    }
  }

  moveTo(at: number): void {
    if (at < this.at) this.#restart();
    while (this.at < at) this.#step();
  }

  #step(): void {
    const { results } = this;
    const item = this.at++;
    const id = results.slot[item] as number;
    const bin = Math.min(noveltyBins - 1, Math.floor((results.novelty[item] as number) * 100));
    if (results.opened[item]) {
      this.allocated[bin] = (this.allocated[bin] as number) + 1;
      ++this.live;
      this.slots.set(id, {
        id,
        count: 1,
        usage: 1,
        usedAt: this.at,
        x: results.places[this.#placesRead++] as number,
        y: results.places[this.#placesRead++] as number,
        firstItem: item,
        lastItem: item,
        oldExample: null,
        recent: [item],
        goneItem: -1,
        goneInto: 0,
      });
    } else {
      this.merged[bin] = (this.merged[bin] as number) + 1;
      const slot = this.slots.get(id);
      if (slot) {
        ++slot.count;
        this.#use(slot, 1);
        slot.lastItem = item;
        slot.recent.unshift(item);
        if (slot.recent.length > recentItems) slot.recent.pop();
      }
    }
    for (;;) {
      const gone = results.gone[this.#gonesRead];
      if (!gone || gone.item !== item) break;
      ++this.#gonesRead;
      --this.live;
      const slot = this.slots.get(gone.slot);
      if (slot) {
        slot.goneItem = item;
        slot.goneInto = gone.into;
      }
      if (gone.into === 0) {
        ++this.evicted;
      } else if (gone.into < 0) {
        ++this.expired;
      } else {
        this.#fold(slot, gone.into);
      }
    }
    for (;;) {
      const edit = results.edits[this.#editsRead];
      if (edit?.at !== this.at) break;
      ++this.#editsRead;
      this.#correct(edit);
    }
  }

  #fold(slot: SlotState | undefined, id: number): void {
    ++this.folded;
    const into = this.slots.get(id);
    if (!slot || !into) return;
    into.count += slot.count;
    this.#use(into, this.usageOf(slot));
  }

  #correct(edit: Edit): void {
    const slot = this.slots.get(edit.slot);
    if (edit.kind === 'fold') {
      --this.live;
      if (slot) {
        slot.goneItem = this.at - 1;
        slot.goneInto = edit.into;
      }
      this.#fold(slot, edit.into);
      return;
    }
    const { opened, item, usage, example, left, x, y } = edit;
    if (slot) {
      --slot.count;
      slot.usage = left.usage;
      slot.usedAt = this.at;
      slot.recent = slot.recent.filter((one) => one !== item);
      if (slot.firstItem === item) slot.firstItem = left.first;
      if (slot.lastItem === item) slot.lastItem = slot.recent[0] ?? left.first;
      if (slot.oldExample !== null) slot.oldExample = left.example;
    }
    ++this.live;
    this.slots.set(opened, {
      id: opened,
      count: 1,
      usage,
      usedAt: this.at,
      x,
      y,
      firstItem: item,
      lastItem: item,
      oldExample: item < 0 ? example : null,
      recent: item < 0 ? [] : [item],
      goneItem: -1,
      goneInto: 0,
    });
  }

  /** The decayed count of a slot: every item since has taken its share of it. */
  usageOf(slot: SlotState): number {
    return slot.usage * this.results.begin.config.usageDecay ** (this.at - slot.usedAt);
  }

  #use(slot: SlotState, more: number): void {
    slot.usage = this.usageOf(slot) + more;
    slot.usedAt = this.at;
  }
}

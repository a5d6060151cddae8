// What the page and the engine's worker say to each other.
import type { FullConfig, Stats } from 'dpcache';
import type { SampleName } from '../samples/names';
import type { Knobs } from '../settings';

/** A question is a text, a vector, or an item of the stream by its number from 0. */
export type Question = { text: string } | { key: number[] } | { item: number };

export type Request =
  | { type: 'sample'; id: number; sample: SampleName; size: number }
  | { type: 'file'; id: number; file: File }
  | { type: 'memory'; id: number; name: string; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'forget'; id: number }
  | { type: 'replay'; id: number; knobs: Knobs }
  | { type: 'ask'; id: number; run: number; at: number; question: Question }
  | { type: 'save'; id: number; run: number; at: number };

/** The stream as the page shows it. */
export interface StreamInfo {
  /** null: a file of one's own. */
  sample: SampleName | null;
  kind: 'text' | 'vectors';
  name: string;
  /** Of vectors. */
  dimension: number | null;
  /** One for each item, shortened. */
  labels: string[];
  note: string | null;
}

/** An opened memory file. */
export interface MemoryInfo {
  name: string;
  config: FullConfig;
  slots: number;
  items: number;
  isText: boolean;
}

export type Opened = { is: 'stream'; stream: StreamInfo } | { is: 'memory'; memory: MemoryInfo };

/** A slot that was there before the stream began. */
export interface OldSlot {
  id: number;
  count: number;
  usage: number;
  example: string;
}

export interface Begin {
  run: number;
  /** Items that will be observed: 0 where stream and memory do not fit together. */
  count: number;
  /** Why the stream is left out, if it is. */
  refusal: string | null;
  config: FullConfig;
  slots: OldSlot[];
  /** x and y of each old slot. */
  places: Float32Array;
}

/** What became of items `from`, `from + 1`, …: row i of each array is item from + i. */
export interface Chunk {
  run: number;
  from: number;
  length: number;
  slot: Float64Array;
  /** 1 where a slot was opened. */
  opened: Uint8Array;
  novelty: Float32Array;
  threshold: Float32Array;
  /** The nearest miss of an opened slot; slot 0 where there was none. */
  nearestSlot: Float64Array;
  nearest: Float32Array;
  surprise: Float32Array;
  /** NaN without a budget. */
  budget: Float32Array;
  slotsAfter: Uint32Array;
  /** Triples: item, slot that went, slot it was folded into (0: evicted, −1: expired). */
  gone: Float64Array;
  /** x and y of each opened slot. */
  places: Float32Array;
}

export interface Answer {
  slots: number;
  known: boolean;
  novelty: number;
  threshold: number;
  /** Share of the null slot, if the memory has one. */
  nullWeight: number;
  top: { slot: number; similarity: number; weight: number; example: string }[];
}

export interface Done {
  run: number;
  stats: Stats;
  warning: string;
  milliseconds: number;
}

export type Reply =
  | { type: 'opened'; id: number; opened: Opened }
  | { type: 'forgotten'; id: number }
  | { type: 'begin'; begin: Begin }
  | { type: 'chunk'; chunk: Chunk }
  | { type: 'done'; done: Done }
  | { type: 'answer'; id: number; answer: Answer }
  | { type: 'saved'; id: number; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'failed'; id: number; message: string };

// What the page and the engine's worker say to each other.
import type { FullConfig as PlainConfig, Stats } from 'dpcache';
import type { Advice, AdviseOptions, Config as TrustConfig, Guard } from 'dpcache/trust';
import type { Template } from 'dpcache/templates';
import type { SampleName } from '../samples/names';
import type { Knobs, Mask } from '../settings';

/** What advice is to heed: pairs, and how often it may be wrong. */
export type Known = Pick<AdviseOptions, 'pairs' | 'maxFalseMerge' | 'confidence'>;

/** A question is a text, a vector, or an item of the stream by its number from 0. */
export type Question = { text: string } | { key: number[] } | { item: number };

/** The settings in force; what makes merges trustworthy only where it is used. */
export type FullConfig = PlainConfig & Pick<TrustConfig, 'tauMerge' | 'guards' | 'audit'>;

/** A slot by what opened it, for its number may be another in another replay. */
export type SlotRef = { item: number } | { slot: number };

/** What a person has said of merges, after `at` items of the stream. */
export type Correction = { at: number } & (
  | { kind: 'split'; member: { item: number } | { slot: number; seq: number } }
  | { kind: 'verdict'; slot: SlotRef; other: SlotRef; verdict: 'same' | 'different' }
);

export type Request =
  | { type: 'sample'; id: number; sample: SampleName; size: number }
  | { type: 'file'; id: number; file: File }
  | { type: 'memory'; id: number; name: string; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'forget'; id: number }
  | { type: 'replay'; id: number; knobs: Knobs; corrections?: readonly Correction[] }
  | { type: 'trust'; id: number; run: number; at: number; slot: number }
  | { type: 'ask'; id: number; run: number; at: number; question: Question }
  | { type: 'templates'; id: number; codes: 'vary' | 'fixed' }
  | { type: 'advice'; id: number; known: Known; masks: readonly Mask[] }
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

/** What a correction did to the slots, when `at` items had been seen. */
export type Edit = { at: number } & (
  | {
      kind: 'split';
      slot: number;
      opened: number;
      /** What it was opened with: an item of the stream, or −1. */
      item: number;
      usage: number;
      example: string;
      /** What is left of `slot`; its first item may be −1, too. */
      left: { usage: number; example: string; first: number };
      x: number;
      y: number;
    }
  | { kind: 'fold'; slot: number; into: number }
);

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
  /** The guards that stopped merges, a bit for each in the order of guardNames. */
  guarded: Uint8Array;
  /** 1 where it is uncertain whether the item is another one. */
  uncertain: Uint8Array;
  /** Triples: item, slot that went, slot it was folded into (0: evicted, −1: expired). */
  gone: Float64Array;
  /** x and y of each slot that an item opened. */
  places: Float32Array;
  /** In the order in which they were made. */
  edits: Edit[];
}

export interface Answer {
  slots: number;
  known: boolean;
  /** Between the two thresholds, where there are two. */
  uncertain: boolean;
  /** The slot that an item like it would join, or else the nearest; 0: there is none. */
  slot: number;
  /** The guards that stopped merges with nearer slots. */
  guarded: readonly Guard[];
  novelty: number;
  threshold: number;
  /** Share of the null slot, if the memory has one. */
  nullWeight: number;
  top: { slot: number; similarity: number; weight: number; example: string }[];
}

/** The kinds of line in a stream of text. */
export interface TemplatesInfo {
  lines: number;
  /** How many there are. */
  size: number;
  /** Those of most lines, in this order. */
  templates: Template[];
}

/** One item of a slot. */
export interface MemberInfo {
  seq: number;
  /** Its number in the stream from 0; −1: it was there before. */
  item: number;
  /** Of one that was there before: its own name, if it has one. */
  name: string;
  text: string;
  similarity: number;
  threshold: number;
  time: number;
  opened: boolean;
  guarded: readonly Guard[];
}

/** What can be reviewed at a moment. */
export interface TrustInfo {
  slot: number;
  /** Of that slot; null: no such slot, or there is no audit. */
  members: MemberInfo[] | null;
  /** The newer slot first. */
  reviews: { slot: number; other: number; similarity: number }[];
  /** Pairs that are never merged, the older slot first. */
  apart: { slot: number; other: number }[];
}

export interface Done {
  run: number;
  /** Corrections that could not be made, by their number, and why. */
  refused: { correction: number; message: string }[];
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
  | { type: 'trust'; id: number; trust: TrustInfo }
  | { type: 'templates'; id: number; templates: TemplatesInfo | null }
  | { type: 'advice'; id: number; advice: Advice }
  | { type: 'saved'; id: number; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'failed'; id: number; message: string };

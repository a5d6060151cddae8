// What the page and the lab's worker say to each other.

export const mechanismNames = ['dpcache', 'keep-all', 'recency', 'h2o'] as const;
export type MechanismName = (typeof mechanismNames)[number];

/** The paper's associative recall: K items with a class each, seen `repeats` times with noise. */
export interface Setup {
  items: number;
  repeats: number;
  /** ρ: two noisy copies of an item have a cosine of about 1 / (1 + ρ²). */
  noise: number;
  tau: number;
  /** How many of the latest entries H2O never evicts. */
  recent: number;
  seeds: number;
}

export const labRanges = {
  items: [2, 256],
  repeats: [1, 16],
  noise: [0, 1],
  tau: [0, 2],
  recent: [0, 64],
  seeds: [1, 20],
} as const satisfies Record<keyof Setup, readonly [number, number]>;

/** Table 1 of the paper. */
export const tableOne: Setup = { items: 64, repeats: 4, noise: 0, tau: 0.5, recent: 16, seeds: 10 };

/** How often a stream is stopped and asked for everything seen so far. */
export const checkpoints = 16;

export interface Point {
  seed: number;
  mechanism: MechanismName;
  /** 1 … checkpoints: after this share of the stream. */
  checkpoint: number;
  recall: number;
  /** Slots, or entries kept. */
  entries: number;
}

export type LabRequest = { type: 'run'; run: number; setup: Setup } | { type: 'stop' };

export type LabReply =
  | { type: 'points'; run: number; points: Point[]; share: number }
  | { type: 'done'; run: number }
  | { type: 'failed'; run: number; message: string };

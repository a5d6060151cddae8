// A stream of items: lines of text, or vectors that somebody has named.

export interface TextStream {
  kind: 'text';
  name: string;
  texts: string[];
  /** The line of each text in its file, if not simply 1, 2, 3, … */
  lines?: Uint32Array;
  /** Something about the file that one should know, such as that it was cut. */
  note?: string;
}

export interface VectorStream {
  kind: 'vectors';
  name: string;
  dimension: number;
  /** Row-major, one row of `dimension` numbers for each label. */
  vectors: Float32Array;
  labels: string[];
  note?: string;
}

export type Stream = TextStream | VectorStream;

/** What stands for each item on the page. */
export const labelsOf = (stream: Stream): readonly string[] =>
  stream.kind === 'text' ? stream.texts : stream.labels;

export const lengthOf = (stream: Stream): number => labelsOf(stream).length;

export const lineOf = (stream: Stream, item: number): number =>
  (stream.kind === 'text' ? stream.lines?.[item] : undefined) ?? item + 1;

export function vectorOf(stream: VectorStream, item: number): Float32Array {
  return stream.vectors.subarray(item * stream.dimension, (item + 1) * stream.dimension);
}

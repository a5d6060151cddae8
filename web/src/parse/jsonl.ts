// JSON Lines: one text or one vector a line, named as logs and embedding tools name them.
import type { Stream, TextStream, VectorStream } from '../engine/stream';
import { checkVector, cutNote, FileError, maxDimension, maxItems, maxNumbers } from './limits';

const textFields = ['text', 'message', 'msg'];
const vectorFields = ['key', 'vector', 'embedding'];
const fieldList = '"text", "message" or "msg", or an array "key", "vector" or "embedding"';

type Row = { text: string } | { vector: number[]; label: string | undefined };

function parseRow(line: string, where: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new FileError(`${where} is not JSON: ${line.slice(0, 60)}`);
  }
  if (typeof value === 'string') return { text: value };
  if (Array.isArray(value)) return { vector: numbers(value, where), label: undefined };
  if (typeof value !== 'object' || value === null) {
    throw new FileError(`${where}: expected an object with ${fieldList}.`);
  }
  const fields = new Map<string, unknown>(Object.entries(value));
  const text = textFields.map((name) => fields.get(name)).find((x) => typeof x === 'string');
  const vector = vectorFields.map((name) => fields.get(name)).find(Array.isArray);
  if (vector) return { vector: numbers(vector, where), label: text };
  if (text !== undefined) return { text };
  throw new FileError(`${where} has no field ${fieldList}.`);
}

function numbers(list: readonly unknown[], where: string): number[] {
  const at = list.findIndex((x) => typeof x !== 'number');
  if (at >= 0) throw new FileError(`${where}: element ${at + 1} of the vector is not a number.`);
  return list as number[];
}

function makeTexts(name: string, rows: readonly [number, Row][]): TextStream {
  const texts: string[] = [];
  const lines: number[] = [];
  for (const [line, row] of rows) {
    if (!('text' in row)) {
      throw new FileError(`Line ${line} of ${name} has a vector, the lines before it have texts.`);
    }
    texts.push(row.text);
    lines.push(line);
  }
  return { kind: 'text', name, texts, lines: Uint32Array.from(lines) };
}

function makeVectors(
  name: string,
  rows: readonly [number, Row][],
  dimension: number,
): VectorStream {
  if (dimension < 1 || dimension > maxDimension) {
    throw new FileError(`${name}: a vector has 1 to ${maxDimension} numbers, not ${dimension}.`);
  }
  if (rows.length * dimension > maxNumbers) {
    throw new FileError(`${name} holds more than ${maxNumbers.toLocaleString('en')} numbers.`);
  }
  const vectors = new Float32Array(rows.length * dimension);
  const labels = rows.map(([line, row], i) => {
    const where = `Line ${line} of ${name}`;
    if (!('vector' in row)) throw new FileError(`${where} has no vector, the lines before it do.`);
    if (row.vector.length !== dimension) {
      throw new FileError(
        `${where}: the vector has ${row.vector.length} numbers, the first one has ${dimension}.`,
      );
    }
    checkVector(row.vector, where);
    vectors.set(row.vector, i * dimension);
    return row.label ?? `vector ${line}`;
  });
  return { kind: 'vectors', name, dimension, vectors, labels };
}

/** Blank lines are skipped. Throws FileError, which names the first line that does not fit. */
export function parseJsonLines(name: string, lines: readonly string[]): Stream {
  const rows: [number, Row][] = [];
  let isCut = false;
  for (let i = 0; i < lines.length; ++i) {
    const line = lines[i] ?? '';
    if (line.trim() === '') continue;
    isCut = rows.length === maxItems;
    if (isCut) break;
    rows.push([i + 1, parseRow(line, `Line ${i + 1} of ${name}`)]);
  }
  const first = rows[0]?.[1];
  if (!first) throw new FileError(`${name} has no lines.`);
  const stream =
    'vector' in first ? makeVectors(name, rows, first.vector.length) : makeTexts(name, rows);
  if (isCut) stream.note = cutNote('lines');
  return stream;
}

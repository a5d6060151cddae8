// NumPy's .npy: a matrix of float32 or float64, one vector a row.
import type { VectorStream } from '../engine/stream';
import { checkVector, cutNote, FileError, maxDimension, maxItems, maxNumbers } from './limits';

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]; // \x93NUMPY

export const isNpy = (bytes: Uint8Array): boolean => magic.every((byte, i) => bytes[i] === byte);

interface Header {
  size: 4 | 8;
  rows: number;
  columns: number;
  byColumns: boolean;
  dataAt: number;
}

function readHeader(name: string, bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = bytes[6] ?? 0;
  const lengthSize = version === 1 ? 2 : 4;
  const headerAt = 8 + lengthSize;
  if (version < 1 || version > 3 || bytes.length < headerAt) {
    throw new FileError(`${name} is not a .npy file of version 1 to 3.`);
  }
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > 65536 || headerAt + length > bytes.length) {
    throw new FileError(`${name} ends within its header.`);
  }
  const header = new TextDecoder('latin1').decode(bytes.subarray(headerAt, headerAt + length));
  const type = /'descr':\s*'([^']*)'/.exec(header)?.[1] ?? 'something else';
  if (type !== '<f4' && type !== '<f8') {
    throw new FileError(`${name} holds ${type}; float32 (<f4) or float64 (<f8) is needed.`);
  }
  const shape = /'shape':\s*\(\s*(\d+)\s*,\s*(\d+)\s*,?\s*\)/.exec(header);
  if (!shape) {
    const found = /'shape':\s*(\([^)]*\))/.exec(header)?.[1] ?? 'unknown';
    throw new FileError(`${name} has the shape ${found}; a matrix is needed, one vector a row.`);
  }
  return {
    size: type === '<f4' ? 4 : 8,
    rows: Number(shape[1]),
    columns: Number(shape[2]),
    byColumns: /'fortran_order':\s*True/.test(header),
    dataAt: headerAt + length,
  };
}

/** Throws FileError. Nothing is allocated before the lengths agree with the bytes there are. */
export function parseNpy(name: string, bytes: Uint8Array): VectorStream {
  const { size, rows, columns, byColumns, dataAt } = readHeader(name, bytes);
  if (rows === 0) throw new FileError(`${name} has no rows.`);
  if (columns < 1 || columns > maxDimension) {
    throw new FileError(`${name}: a vector has 1 to ${maxDimension} numbers, not ${columns}.`);
  }
  const there = bytes.length - dataAt;
  if (rows * columns * size !== there) {
    throw new FileError(
      `${name} says ${rows} × ${columns} numbers of ${size} bytes, but has ${there} bytes of data.`,
    );
  }
  const taken = Math.min(rows, maxItems);
  if (taken * columns > maxNumbers) {
    throw new FileError(`${name} holds more than ${maxNumbers.toLocaleString('en')} numbers.`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + dataAt, there);
  const vectors = new Float32Array(taken * columns);
  const labels: string[] = [];
  for (let row = 0; row < taken; ++row) {
    for (let column = 0; column < columns; ++column) {
      const at = size * (byColumns ? column * rows + row : row * columns + column);
      vectors[row * columns + column] =
        size === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true);
    }
    checkVector(vectors.subarray(row * columns, (row + 1) * columns), `Row ${row + 1} of ${name}`);
    labels.push(`vector ${row + 1}`);
  }
  const stream: VectorStream = { kind: 'vectors', name, dimension: columns, vectors, labels };
  if (rows > taken) stream.note = cutNote('rows');
  return stream;
}

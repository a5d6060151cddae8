// What a file may be at most, and the error that says in one sentence what is wrong with it.

export const maxBytes = 64 * 1024 * 1024; // of a file, and of what a gzip file unpacks to
export const maxItems = 100_000; // the stream is cut there, and says so
export const maxDimension = 4096;
export const maxNumbers = 16 * 1024 * 1024; // in all vectors together: 64 MiB

export class FileError extends Error {
  override name = 'FileError';
}

export const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** Throws unless the vector can be a key. `where` says which line or row it is. */
export function checkVector(vector: ArrayLike<number>, where: string): void {
  let squares = 0;
  for (let d = 0; d < vector.length; ++d) {
    const x = Math.fround(vector[d] as number);
    if (!Number.isFinite(x)) {
      throw new FileError(`${where}: number ${d + 1} of the vector is not a finite 32-bit float.`);
    }
    squares += x * x;
  }
  if (squares === 0) throw new FileError(`${where}: the vector is zero, it has no direction.`);
}

export const cutNote = (what: string): string =>
  `The file has more: the first ${maxItems.toLocaleString('en')} ${what} were taken.`;

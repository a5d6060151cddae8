// From a file that somebody chose to its bytes: size checked first, gzip unpacked under a cap.
import { FileError, maxBytes, megabytes } from './limits';

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

async function unpack(
  name: string,
  packed: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([packed])
    .stream()
    .pipeThrough(new DecompressionStream('gzip'))
    .getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > maxBytes) {
        throw new FileError(`${name} unpacks to more than ${megabytes(maxBytes)}.`);
      }
      parts.push(value);
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    if (error instanceof FileError) throw error;
    throw new FileError(`${name} is not a whole gzip file.`);
  }
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** The bytes of a file, unpacked if they are gzip. Throws FileError. */
export async function readBytes(file: File): Promise<Uint8Array<ArrayBuffer>> {
  if (file.size === 0) throw new FileError(`${file.name} is empty.`);
  if (file.size > maxBytes) {
    throw new FileError(
      `${file.name} has ${megabytes(file.size)}; the page takes ${megabytes(maxBytes)} at most. ` +
        'The command line has no such limit.',
    );
  }
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new FileError(`${file.name} cannot be read (is it a folder, or has it changed?).`);
  }
  return isGzip(bytes) ? unpack(file.name, bytes) : bytes;
}

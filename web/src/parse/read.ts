// From a file that somebody chose to its bytes: size checked first, gzip unpacked under a cap.
import { FileError, maxBytes, megabytes } from './limits';

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

async function unpack(name: string, packed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const part = await import('./gunzip').catch(() => {
    throw new FileError(
      `${name} is gzip, and what unpacks it could not be loaded: reload the page.`,
    );
  });
  return part.gunzip(name, packed);
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

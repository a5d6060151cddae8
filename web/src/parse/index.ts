// What a dropped file is, by its bytes: a stream to replay, or a memory to open.
import type { Stream } from '../engine/stream';
import { isNpy, parseNpy } from './npy';
import { readBytes } from './read';
import { parseText } from './text';

export { FileError } from './limits';

export type Dropped =
  | { is: 'stream'; stream: Stream }
  | { is: 'memory'; name: string; bytes: Uint8Array<ArrayBuffer> };

/** A memory file is a safetensors file: the length of a JSON header, then the header. */
function isMemory(bytes: Uint8Array): boolean {
  if (bytes.length < 16) return false;
  const high = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  return (
    high === 0 && bytes[8] === 0x7b && new TextDecoder().decode(bytes.subarray(8, 10)) === '{"'
  );
}

export function parseBytes(name: string, bytes: Uint8Array<ArrayBuffer>): Dropped {
  if (isNpy(bytes)) return { is: 'stream', stream: parseNpy(name, bytes) };
  if (isMemory(bytes)) return { is: 'memory', name, bytes };
  const isJson = /\.(jsonl|ndjson|jsonlines)(\.gz)?$/i.test(name);
  return { is: 'stream', stream: parseText(name, bytes, isJson) };
}

export async function openFile(file: File): Promise<Dropped> {
  return parseBytes(file.name, await readBytes(file));
}

// What a store of a memory is, and what all stores share: the stamp of a memory and their errors.
import { DpcacheError } from './errors.js';

export interface WriteOptions {
  /**
   * The page is about to go: hand the bytes over in this very call where that is possible
   * (IndexedDB), since nothing may run after it.
   */
  urgent?: boolean;
}

/**
 * A place that keeps one memory file. A write replaces the whole of it or nothing. A store refuses
 * a write with `conflict` if the place holds something that this store has neither read nor
 * written: another tab or process was faster. Then read() it, load that, and go on from there.
 */
export interface Store {
  /** The memory as it was last written; undefined if there is none. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /**
   * `bytes` as Cache.save() gives them; they are not used after the call has returned.
   * `conflict`, `full` (disk or quota), `bad_snapshot` (that is no memory), `unavailable` (not
   * allowed, or the command line holds the file). After an error the old memory is there.
   */
  write(bytes: Uint8Array, options?: WriteOptions): Promise<void>;
  /** Forgets the memory, whoever wrote it. */
  remove(): Promise<void>;
  /** Whether `bytes` are what this store has read or written last. */
  holds?(bytes: Uint8Array): boolean;
}

// The checksum in a memory's header, which covers every byte: equal stamps are equal memories.
// Nothing if the bytes are no memory.
export function stampOf(bytes: Uint8Array): string | undefined {
  const header = headerRange(bytes.byteLength, bytes.subarray(0, 8));
  return header && stampIn(bytes.subarray(...header));
}

// Where the header stands in a file of `size` bytes that begins with `head`; nothing if it cannot
// be a memory.
export function headerRange(size: number, head: Uint8Array): [number, number] | undefined {
  if (head.byteLength < 8) return undefined;
  const length = new DataView(head.buffer, head.byteOffset).getBigUint64(0, true);
  return length <= BigInt(size - 8) ? [8, 8 + Number(length)] : undefined;
}

export function stampIn(header: Uint8Array): string | undefined {
  try {
    const json = JSON.parse(new TextDecoder().decode(header)) as {
      __metadata__?: Record<string, unknown>;
    } | null;
    const checksum = json?.__metadata__?.['dpcache.checksum'];
    return typeof checksum === 'string' ? checksum : undefined;
  } catch {
    return undefined;
  }
}

// bad_snapshot unless `bytes` look like what save() gives. Stores keep memories only, so that a
// mistake in an app (an empty array, JSON) does not replace one.
export function stampToWrite(bytes: Uint8Array): string {
  if (!(bytes instanceof Uint8Array)) {
    throw new DpcacheError('bad_snapshot', 'a Uint8Array is needed, as save() gives it');
  }
  const stamp = stampOf(bytes);
  if (stamp === undefined) {
    throw new DpcacheError('bad_snapshot', 'these bytes are not a memory (pass what save() gives)');
  }
  return stamp;
}

export function conflict(place: string): DpcacheError {
  return new DpcacheError(
    'conflict',
    `${place} holds a memory that this store has not read; it stays as it is (read it first)`,
  );
}

// What a browser's storage says when it refuses, as our error.
export function storageError(place: string, error: unknown): DpcacheError {
  if (error instanceof DpcacheError) return error;
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  if (name === 'QuotaExceededError') {
    return new DpcacheError('full', `${place}: no room is left (${message || 'quota exceeded'})`);
  }
  if (name === 'SecurityError' || name === 'NotAllowedError') {
    return new DpcacheError('unavailable', `${place}: not allowed here (${message})`);
  }
  return new DpcacheError('unavailable', `${place}: ${message || name}`);
}

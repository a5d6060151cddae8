// A memory as a file in the origin private file system, or in a folder that the user chose.
import { copyOf } from './copy.js';
import { DpcacheError } from './errors.js';
import {
  conflict,
  headerRange,
  stampIn,
  stampOf,
  stampToWrite,
  storageError,
  type Store,
} from './store-contract.js';

// Not in the types of a window: workers have it, and Safari before 26 has nothing else.
interface SyncAccessHandle {
  truncate(size: number): void;
  write(bytes: Uint8Array, options: { at: number }): number;
  flush(): void;
  close(): void;
}
type FileHandle = Omit<FileSystemFileHandle, 'createWritable'> & {
  createWritable?(): Promise<FileSystemWritableFileStream>;
  createSyncAccessHandle?(): Promise<SyncAccessHandle>;
  move?(name: string): Promise<void>;
};

export interface OpfsOptions {
  /** Default: the root of the origin private file system. */
  directory?: FileSystemDirectoryHandle;
}

/**
 * The file `name`, in windows and workers. The new memory is written aside and takes the old one's
 * place in one step. `unavailable` outside secure contexts, and in windows that can write only from
 * workers (Safari before 26).
 */
export async function openOpfs(name: string, options: OpfsOptions = {}): Promise<Store> {
  const place = `OPFS ${name}`;
  if (typeof navigator === 'undefined' || !navigator.storage?.getDirectory) {
    throw new DpcacheError(
      'unavailable',
      'there is no origin private file system here (it needs https or localhost; in Node, use openFile)',
    );
  }
  try {
    const directory = options.directory ?? (await navigator.storage.getDirectory());
    return new OpfsStore(String(name), place, directory);
  } catch (error) {
    throw storageError(place, error);
  }
}

class OpfsStore implements Store {
  readonly #name: string;
  readonly #place: string;
  readonly #directory: FileSystemDirectoryHandle;
  // Of the memory last read or written; null: there was none; undefined: not looked yet.
  #seen: string | null | undefined;

  constructor(name: string, place: string, directory: FileSystemDirectoryHandle) {
    this.#name = name;
    this.#place = place;
    this.#directory = directory;
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#alone(async () => {
      const file = await this.#file();
      if (!file) {
        this.#seen = null;
        return undefined;
      }
      const bytes = new Uint8Array(await file.arrayBuffer());
      this.#seen = stampOf(bytes) ?? '';
      return bytes;
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    const stamp = stampToWrite(bytes);
    const own = copyOf(bytes); // the caller may reuse its bytes while we wait
    await this.#alone(async () => {
      const file = await this.#file();
      const there = file && ((await stampOfFile(file)) ?? '');
      if (there !== undefined && there !== this.#seen) throw conflict(this.#place);
      await this.#replace(own);
      this.#seen = stamp;
    });
  }

  holds(bytes: Uint8Array): boolean {
    return typeof this.#seen === 'string' && this.#seen === stampOf(bytes);
  }

  async remove(): Promise<void> {
    await this.#alone(async () => {
      try {
        await this.#directory.removeEntry(this.#name);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
      this.#seen = null;
    });
  }

  async #file(): Promise<File | undefined> {
    try {
      const file = await (await this.#directory.getFileHandle(this.#name)).getFile();
      return file.size > 0 ? file : undefined; // empty: a first write was cut off
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async #replace(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    // createWritable writes aside by itself, but first makes an empty file if there is none. So
    // that is only for file systems that cannot move.
    const temporary = `.${this.#name}.dpcache-tmp`;
    const aside: FileHandle = await this.#directory.getFileHandle(temporary, { create: true });
    try {
      if (!aside.move) {
        const handle: FileHandle = await this.#directory.getFileHandle(this.#name, { create: true });
        if (!handle.createWritable) throw this.#cannotWrite();
        await writeAside(handle.createWritable(), bytes);
        await this.#directory.removeEntry(temporary);
        return;
      }
      if (aside.createWritable) await writeAside(aside.createWritable(), bytes);
      else if (aside.createSyncAccessHandle) {
        await writeThrough(aside.createSyncAccessHandle(), bytes);
      } else throw this.#cannotWrite();
      await aside.move(this.#name);
    } catch (error) {
      await this.#directory.removeEntry(temporary).catch(() => undefined);
      throw error;
    }
  }

  #cannotWrite(): DpcacheError {
    return new DpcacheError(
      'unavailable',
      `${this.#place}: this browser cannot write here (use a worker, or openIndexedDB)`,
    );
  }

  // One tab or worker at a time, from looking to having written.
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (!navigator.locks) return await work();
      return await (navigator.locks.request(`dpcache ${this.#place}`, work) as Promise<T>);
    } catch (error) {
      throw storageError(this.#place, error);
    }
  }
}

async function writeAside(
  opening: Promise<FileSystemWritableFileStream>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const stream = await opening;
  try {
    await stream.write(bytes);
    await stream.close();
  } catch (error) {
    await stream.abort().catch(() => undefined);
    // In two of eight cases Chromium breaks off the stream before it says that the quota is used up.
    if (error instanceof Error && error.name === 'AbortError') {
      throw new DpcacheError('full', `the browser takes no more bytes (${error.message})`);
    }
    throw error;
  }
}

async function writeThrough(opening: Promise<SyncAccessHandle>, bytes: Uint8Array): Promise<void> {
  const access = await opening;
  try {
    access.truncate(0);
    for (let at = 0; at < bytes.byteLength; ) {
      const written = access.write(bytes.subarray(at), { at });
      if (written === 0) throw new DpcacheError('full', 'the file does not grow any further');
      at += written;
    }
    access.flush();
  } finally {
    access.close();
  }
}

async function stampOfFile(file: File): Promise<string | undefined> {
  const part = async (from: number, to: number): Promise<Uint8Array> =>
    new Uint8Array(await file.slice(from, to).arrayBuffer());
  const header = headerRange(file.size, await part(0, 8));
  return header && stampIn(await part(...header));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.name === 'NotFoundError';
}

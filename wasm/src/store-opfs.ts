// A memory as a file in the origin private file system, or in a folder that the user chose.
import { DpcacheError } from './errors.js';
import { conflict, stampOf, stampToWrite, storageError, type Store } from './store-contract.js';

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
      this.#seen = (await stampOfFile(file)) ?? '';
      return bytes;
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    const stamp = stampToWrite(bytes);
    const own = bytes.slice(); // the caller may reuse its bytes while we wait
    await this.#alone(async () => {
      const file = await this.#file();
      if (file && ((await stampOfFile(file)) ?? '') !== this.#seen) throw conflict(this.#place);
      await this.#replace(own);
      this.#seen = stamp;
    });
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
      return await (await this.#directory.getFileHandle(this.#name)).getFile();
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async #replace(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    // createWritable writes aside by itself, but makes the empty file at once if there is none.
    const temporary = `.${this.#name}.dpcache-tmp`;
    const handle: FileHandle = await this.#directory.getFileHandle(temporary, { create: true });
    if (!handle.move || !(handle.createWritable ?? handle.createSyncAccessHandle)) {
      await this.#directory.removeEntry(temporary);
      throw new DpcacheError(
        'unavailable',
        `${this.#place}: this browser cannot write here (use a worker, or openIndexedDB)`,
      );
    }
    try {
      if (handle.createWritable) await writeAside(handle.createWritable(), bytes);
      else if (handle.createSyncAccessHandle) {
        await writeInPlace(handle.createSyncAccessHandle(), bytes);
      }
      await handle.move(this.#name);
    } catch (error) {
      await this.#directory.removeEntry(temporary).catch(() => undefined);
      throw error;
    }
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
    throw error;
  }
}

async function writeInPlace(opening: Promise<SyncAccessHandle>, bytes: Uint8Array): Promise<void> {
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

function stampOfFile(file: File): Promise<string | undefined> {
  return stampOf(
    file.size,
    async (from, to) => new Uint8Array(await file.slice(from, to).arrayBuffer()),
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.name === 'NotFoundError';
}

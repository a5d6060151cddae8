// A memory in IndexedDB.
//
// Beside the bytes stands a row for each generation, [name, n]. A writer adds the row after the one
// it has seen, and adding fails if somebody has added it: so even a write that nobody can watch,
// because the page is going, cannot replace what it has not seen.
import { copyOf } from './copy.js';
import { DpcacheError } from './errors.js';
import {
  conflict,
  stampOf,
  stampToWrite,
  storageError,
  type Store,
  type WriteOptions,
} from './store-contract.js';

const kMemories = 'memories';
const kGenerations = 'generations';
// Rows kept. Only an urgent write by a page that is staler than this could go unnoticed.
const kGenerationsKept = 1000;

export interface IndexedDbOptions {
  /** Default `"dpcache"`. */
  database?: string;
}

export interface IndexedDbStore extends Store {
  /** Closes the connection; the next call opens it again. */
  close(): void;
}

/** A memory called `name` in IndexedDB, in windows and workers. `unavailable` where there is none. */
export async function openIndexedDB(
  name: string,
  options: IndexedDbOptions = {},
): Promise<IndexedDbStore> {
  if (typeof indexedDB === 'undefined') {
    throw new DpcacheError('unavailable', 'there is no IndexedDB here (in Node, use openFile)');
  }
  const store = new Memory(String(name), options.database ?? 'dpcache');
  await store.connect();
  return store;
}

class Memory implements IndexedDbStore {
  readonly #name: string;
  readonly #database: string;
  readonly #place: string;
  #connection: IDBDatabase | undefined;
  #seen: number | undefined; // the generation last read or written; 0: there was none
  #stamp: string | undefined; // of the same, if there was a memory

  constructor(name: string, database: string) {
    this.#name = name;
    this.#database = database;
    this.#place = `IndexedDB ${database}/${name}`;
  }

  async connect(): Promise<IDBDatabase> {
    return (this.#connection ??= await this.#open());
  }

  #open(): Promise<IDBDatabase> {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(this.#database, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore(kMemories);
        request.result.createObjectStore(kGenerations);
      };
      request.onerror = () => reject(storageError(this.#place, request.error));
      request.onsuccess = () => {
        const connection = request.result;
        // Somebody wants to delete the database, or the browser took it away.
        connection.onversionchange = () => this.close();
        connection.onclose = () => this.close();
        resolve(connection);
      };
    });
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  // Runs `work` in one transaction. Without await before it if there is a connection: an urgent
  // write must be under way when the call returns.
  #transact(mode: IDBTransactionMode, work: (transaction: IDBTransaction) => void): Promise<void> {
    const run = (connection: IDBDatabase): Promise<void> =>
      new Promise((resolve, reject) => {
        const transaction = connection.transaction([kMemories, kGenerations], mode, {
          durability: 'strict',
        });
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => {
          const error = transaction.error;
          reject(
            error === null || error.name === 'ConstraintError'
              ? conflict(this.#place)
              : storageError(this.#place, error),
          );
        };
        work(transaction);
      });
    const attempt = async (connection: IDBDatabase): Promise<void> => {
      try {
        await run(connection);
      } catch (error) {
        throw storageError(this.#place, error);
      }
    };
    if (this.#connection) return attempt(this.#connection);
    return this.connect().then(attempt);
  }

  // Gives the newest generation to `then`, within the transaction; `there`: it was not a removal.
  #newest(
    transaction: IDBTransaction,
    then: (generation: number, there: boolean) => void,
  ): void {
    const all = IDBKeyRange.bound([this.#name, 0], [this.#name, Number.MAX_SAFE_INTEGER]);
    const request = transaction.objectStore(kGenerations).openCursor(all, 'prev');
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) then(0, false);
      else then((cursor.key as [string, number])[1], cursor.value === 'saved');
    };
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let bytes: Uint8Array<ArrayBuffer> | undefined;
    let seen = 0;
    await this.#transact('readonly', (transaction) => {
      this.#newest(transaction, (generation) => (seen = generation));
      const request = transaction.objectStore(kMemories).get(this.#name);
      request.onsuccess = () => (bytes = request.result as typeof bytes);
    });
    this.#seen = seen;
    this.#stamp = bytes && stampOf(bytes);
    return bytes;
  }

  async write(bytes: Uint8Array, options: WriteOptions = {}): Promise<void> {
    const stamp = stampToWrite(bytes);
    // A view is stored with all that lies behind it.
    const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : copyOf(bytes);
    const seen = this.#seen;
    let next = (seen ?? 0) + 1;
    await this.#transact('readwrite', (transaction) => {
      const put = (): void => {
        const generations = transaction.objectStore(kGenerations);
        generations.add('saved', [this.#name, next]);
        transaction.objectStore(kMemories).put(own, this.#name);
        if (next > kGenerationsKept) {
          generations.delete(
            IDBKeyRange.bound([this.#name, 0], [this.#name, next - kGenerationsKept]),
          );
        }
      };
      if (options.urgent && seen !== undefined) {
        put();
        transaction.commit();
        return;
      }
      this.#newest(transaction, (generation, there) => {
        // What was taken away is no obstacle: nobody's items are lost.
        if (there && generation !== seen) {
          transaction.abort();
          return;
        }
        next = generation + 1;
        put();
      });
    });
    this.#stamp = stamp;
    this.#seen = next;
  }

  holds(bytes: Uint8Array): boolean {
    return this.#stamp !== undefined && this.#stamp === stampOf(bytes);
  }

  async remove(): Promise<void> {
    let next = 0;
    await this.#transact('readwrite', (transaction) => {
      this.#newest(transaction, (generation) => {
        next = generation + 1;
        transaction.objectStore(kGenerations).add('removed', [this.#name, next]);
        transaction.objectStore(kMemories).delete(this.#name);
      });
    });
    this.#stamp = undefined;
    this.#seen = next;
  }
}

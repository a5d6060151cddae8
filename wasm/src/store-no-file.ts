// openFile where there are no files.
import { DpcacheError } from './errors.js';
import type { Store } from './store-contract.js';

/** The memory file `path`, in Node; in browsers `unavailable`. */
export function openFile(path: string | URL): Promise<Store> {
  return Promise.reject(
    new DpcacheError(
      'unavailable',
      `${String(path)}: there are no files here (use openOpfs or openIndexedDB)`,
    ),
  );
}

// Asking the browser to keep what is stored.
import { DpcacheError } from './errors.js';

/**
 * Asks the browser not to delete this origin's storage when space is short, and says whether it
 * agreed. Only windows can ask: in a worker, and outside secure contexts, it is `unavailable`.
 */
export async function requestPersistence(): Promise<boolean> {
  const storage = typeof navigator === 'undefined' ? undefined : navigator.storage;
  if (typeof storage?.persist === 'function') {
    return (await storage.persisted()) || (await storage.persist());
  }
  throw new DpcacheError(
    'unavailable',
    typeof window === 'undefined'
      ? 'persistence can only be asked for in a window (call it in the page, not in a worker)'
      : 'this page has no storage manager (it needs https or localhost)',
  );
}

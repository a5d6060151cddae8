// Saving a cache to a store after it has changed.
//
// Changes are coalesced: a save begins `delayMs` after the last one, or `maxDelayMs` after the first.
// There is one save at a time. What comes while one is under way is saved by the next. The path
// from a hidden page to the store has no await for a cache of this thread, since nothing runs later.
import { asyncDispose } from './async-dispose.js';
import { DpcacheError } from './errors.js';
import { generationOf, saveNext, type Saveable } from './save-next.js';
import type { Store } from './store-contract.js';
import type { Stats } from './types.js';

/** A cache of the main entry or of the worker's. */
export interface Autosaveable extends Saveable {
  stats(): Stats | Promise<Stats>;
  onEvent(listener: () => void): (() => void) | Promise<() => void>;
}

export interface AutosaveOptions {
  /** Quiet time before a save, default 1000. */
  delayMs?: number;
  /** How long a change waits at most, default 10000; also the longest pause between retries. */
  maxDelayMs?: number;
  /**
   * Is told of every save that failed; default: console.error. Failed saves are tried again, but
   * after `conflict` (someone else has written) only flush() and stop() do.
   */
  onError?: (error: DpcacheError) => void;
}

export interface Autosave {
  /** Saves now if anything has changed, metadata too. Rejects if that fails. */
  flush(): Promise<void>;
  /** Saves what has changed and ends. Call it before dispose(). Rejects if the save fails. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

// A worker's cache tells of changes without sending events, which hold keys and bytes.
export const kOnChange: unique symbol = Symbol.for('dpcache.onChange') as never;

export interface TellsOfChanges {
  [kOnChange](listener: () => void): () => void;
}

/**
 * Saves `cache` to `store` whenever it has changed, and at once when the page is hidden. What has
 * changed before, since the store was read, is saved too. To survive a reload within
 * `delayMs` of a change needs a cache of this thread and openIndexedDB. A save by the timer that is
 * under way at the very moment when the page goes may be lost with it; flush() before is sure.
 */
export function autosave(
  cache: Autosaveable,
  store: Store,
  options: AutosaveOptions = {},
): Autosave {
  return new Autosaver(cache, store, options);
}

interface State {
  seq: number;
  metadata: string;
  generation: number;
}

class Autosaver implements Autosave {
  readonly #cache: Autosaveable;
  readonly #store: Store;
  readonly #delay: number;
  readonly #maxDelay: number;
  readonly #onError: (error: DpcacheError) => void;

  #unsubscribe: (() => void) | Promise<() => void>;
  #stopListening: () => void;
  #dirty = false;
  #firstChange = 0; // of those that are not saved, by Date.now()
  #lastChange = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | undefined;
  #failures = 0;
  #halted = false; // saving again by ourselves is of no use
  #stopped: Promise<void> | undefined;
  // What was saved last: changes without an event are seen by comparing.
  #saved: Promise<State>;

  constructor(cache: Autosaveable, store: Store, options: AutosaveOptions) {
    this.#cache = cache;
    this.#store = store;
    this.#delay = milliseconds('delayMs', options.delayMs ?? 1000);
    this.#maxDelay = milliseconds('maxDelayMs', options.maxDelayMs ?? 10_000);
    this.#onError = options.onError ?? ((error) => console.error('dpcache autosave:', error));
    const changed = (): void => this.#changed();
    this.#unsubscribe = kOnChange in cache ? tells(cache).call(cache, changed) : cache.onEvent(changed);
    if (this.#unsubscribe instanceof Promise) this.#unsubscribe.catch(() => undefined);
    this.#saved = this.#start();
    this.#saved.catch(() => undefined); // flush() tells
    this.#stopListening = onHidden(() => {
      if (this.#dirty) this.#save(true).catch(() => undefined);
    });
  }

  // What the store does not hold as it is was changed before, or never saved.
  async #start(): Promise<State> {
    const state = await this.#state();
    if ((state.seq > 0 || state.metadata !== '{}') && !this.#dirty && !this.#saving) {
      const holds = this.#store.holds?.(await this.#cache.save()) ?? state.generation > 0;
      if (!holds && !this.#saving) this.#changed();
    }
    return state;
  }

  async #state(): Promise<State> {
    const [stats, metadata] = await Promise.all([this.#cache.stats(), this.#cache.metadata()]);
    return {
      seq: stats.seq,
      metadata: JSON.stringify(metadata),
      generation: generationOf(metadata),
    };
  }

  #changed(): void {
    this.#lastChange = Date.now();
    if (!this.#dirty) {
      this.#dirty = true;
      this.#firstChange = this.#lastChange;
    }
    if (this.#timer === undefined && !this.#saving && !this.#halted && !this.#stopped) {
      this.#arm(this.#delay);
    }
  }

  // The timer keeps Node alive until the save, except after a failure, which might last for ever.
  #arm(delay: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // Changes do not move the timer, which would cost more than many of them; it moves itself.
      const now = Date.now();
      const due = Math.min(this.#lastChange + this.#delay, this.#firstChange + this.#maxDelay);
      if (this.#failures === 0 && now < due) this.#arm(due - now);
      else if (this.#dirty) this.#save(false).catch(() => undefined);
    }, delay);
    if (this.#failures > 0 && typeof this.#timer === 'object') {
      (this.#timer as { unref?(): void }).unref?.();
    }
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  // After a save that is under way, and with no await before it otherwise.
  #save(urgent: boolean): Promise<void> {
    if (this.#saving) {
      const again = (): Promise<void> | undefined => (this.#dirty ? this.#save(urgent) : undefined);
      return this.#saving.then(again, again);
    }
    this.#disarm();
    const saving = this.#write(urgent).finally(() => {
      this.#saving = undefined;
      if (this.#dirty && !this.#halted && !this.#stopped) {
        this.#arm(
          this.#failures === 0
            ? this.#delay
            : Math.min(this.#delay * 2 ** this.#failures, this.#maxDelay),
        );
      }
    });
    this.#saving = saving;
    return saving;
  }

  async #write(urgent: boolean): Promise<void> {
    const since = this.#firstChange;
    this.#dirty = false; // what changes from here on is not in this save
    try {
      const bytes = saveNext(this.#cache);
      const state = this.#state();
      state.catch(() => undefined); // if it fails, so does what is awaited first
      await this.#store.write(bytes instanceof Promise ? await bytes : bytes, { urgent });
      await state;
      this.#saved = state;
      this.#failures = 0;
      this.#halted = false;
    } catch (thrown) {
      const error = DpcacheError.from(thrown);
      this.#dirty = true;
      this.#firstChange = since;
      ++this.#failures;
      this.#halted = error.code === 'conflict' || error.code === 'disposed';
      this.#onError(error);
      throw error;
    }
  }

  async flush(): Promise<void> {
    if (!this.#dirty && !this.#saving) {
      const [saved, now] = await Promise.all([this.#saved, this.#state()]);
      if (now.seq !== saved.seq || now.metadata !== saved.metadata) this.#dirty = true;
    }
    if (this.#dirty || this.#saving) await this.#save(false);
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#disarm();
    this.#stopListening();
    try {
      await this.flush();
    } finally {
      this.#disarm();
      const unsubscribe = this.#unsubscribe;
      (unsubscribe instanceof Promise ? await unsubscribe : unsubscribe)();
    }
  }

  [asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function tells(cache: Autosaveable): TellsOfChanges[typeof kOnChange] {
  return (cache as Autosaveable & TellsOfChanges)[kOnChange];
}

function milliseconds(name: string, value: number): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new DpcacheError('bad_request', `${name} must be a number of milliseconds, not ${value}`);
}

// Calls `flush` when the page may be about to go; there is no page in workers and in Node.
function onHidden(flush: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined;
  const onVisibility = (): void => {
    if (document.visibilityState === 'hidden') flush();
  };
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('pagehide', flush);
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('pagehide', flush);
  };
}

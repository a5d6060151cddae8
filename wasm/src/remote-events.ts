// A cache's events as they come, by server-sent events: begun anew where they broke off.
import { fromBase64 } from './base64.js';
import { DpcacheError } from './errors.js';
import { eventOf } from './remote-json.js';
import { limit, pause, pauseAfter, type Server } from './remote-server.js';
import type { CacheEvent } from './types.js';

// What will not be better the next time.
function isFinal(error: unknown): boolean {
  if (!(error instanceof DpcacheError)) return false;
  const { status = 0 } = error;
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** The events of a cache behind `seq`. One stream for all who listen. */
export class EventStream {
  readonly #server: Server;
  readonly #path: string;
  readonly #tell: (event: CacheEvent) => void;
  readonly #onEnd: (error: DpcacheError) => void;
  readonly #controller = new AbortController();
  #seq: number;

  /** `onEnd` is told when no more events will come, unless stop() has ended them. */
  constructor(
    server: Server,
    path: string,
    seq: number,
    tell: (event: CacheEvent) => void,
    onEnd: (error: DpcacheError) => void,
  ) {
    this.#server = server;
    this.#path = path;
    this.#seq = seq;
    this.#tell = tell;
    this.#onEnd = onEnd;
  }

  /** Rejects if the first connection fails. */
  async start(): Promise<void> {
    void this.#run(await this.#connect());
  }

  stop(): void {
    this.#controller.abort();
  }

  #connect(): Promise<Response> {
    return this.#server.open(
      {
        method: 'GET',
        path: this.#path,
        query: { bytes: 1 },
        headers: { accept: 'text/event-stream', 'last-event-id': String(this.#seq) },
        again: 'always',
      },
      this.#controller.signal,
    );
  }

  async #run(first: Response): Promise<void> {
    const all = limit([this.#server.signal, this.#controller.signal]);
    let response: Response | undefined = first;
    for (let failures = 0; ; failures++) {
      try {
        response ??= await this.#connect();
        await this.#follow(response, all.signal, () => (failures = 0));
      } catch (error) {
        if (!all.signal.aborted && isFinal(error)) {
          all.end();
          return this.#onEnd(error as DpcacheError);
        }
      }
      response = undefined;
      try {
        await pause(pauseAfter(failures), all.signal);
      } catch {
        return all.end(); // stopped
      }
    }
  }

  // Until the connection ends.
  async #follow(response: Response, signal: AbortSignal, onEvent: () => void): Promise<void> {
    if (!response.body) return;
    const reader = response.body.getReader();
    const stop = (): void => void reader.cancel().catch(() => undefined);
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) return stop();
      const decoder = new TextDecoder();
      let text = '';
      let searched = 0; // no end of a message before
      for (;;) {
        const { done, value } = await reader.read();
        if (done || signal.aborted) return;
        text += decoder.decode(value, { stream: true });
        let begin = 0;
        for (;;) {
          const end = text.indexOf('\n\n', Math.max(begin, searched));
          if (end < 0) break;
          const data = /^data: ?(.*)$/m.exec(text.slice(begin, end))?.[1];
          begin = end + 2;
          if (data === undefined) continue; // a comment
          const event = eventOf(data, fromBase64);
          this.#seq = event.seq;
          onEvent();
          this.#tell(event);
          if (signal.aborted) return;
        }
        text = text.slice(begin);
        searched = Math.max(text.length - 1, 0);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }
}

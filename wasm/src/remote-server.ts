// Asking a server: one call is one answer or one error, however many attempts it takes.
import { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
import { camel, camelDetail } from './names.js';

export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. What was sent may still be carried out. */
  signal?: AbortSignal | undefined;
  /** How long a call may take with all its attempts, default 30,000; Infinity: without end. */
  timeoutMs?: number | undefined;
}

export interface ServerOptions extends CallOptions {
  /** Where `dpcache serve` is, e.g. `http://127.0.0.1:8080`. */
  url: string | URL;
  /** One of the server's tokens, if it has any. */
  token?: string | undefined;
  /** Attempts after the first one that fails, default 5. */
  retries?: number | undefined;
  /** Instead of the global one. */
  fetch?: typeof fetch | undefined;
}

export interface Message {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  path: string;
  query?: Record<string, string | number | undefined>;
  headers?: Record<string, string>;
  /** JSON as a string, or bytes. */
  body?: string | Uint8Array<ArrayBuffer>;
  /**
   * Whether it may be sent again when nobody knows what became of it: `never` if that could do
   * twice what was asked once. What the server has refused as too much for the moment may always.
   */
  again: 'always' | 'never';
}

const kFirstPause = 100;
const kLongestPause = 5000;
const kMostTimer = 2 ** 31 - 1;

/** Milliseconds before the attempt after `failures` ones: doubled each time, in part by chance. */
export function pauseAfter(failures: number): number {
  return Math.min(kFirstPause * 2 ** failures, kLongestPause) * (0.5 + Math.random() / 2);
}

/** Resolves then, or rejects with the reason of the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** Several signals and a time limit as one signal; `end` takes it off the others. */
export function limit(
  signals: readonly (AbortSignal | undefined)[],
  timeoutMs = Infinity,
): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  const given = signals.filter((signal) => signal !== undefined);
  const onAbort = (event: Event): void => controller.abort((event.target as AbortSignal).reason);
  for (const signal of given) {
    if (signal.aborted) controller.abort(signal.reason);
    signal.addEventListener('abort', onAbort);
  }
  const timer =
    timeoutMs <= kMostTimer
      ? setTimeout(
          () => controller.abort(new DpcacheError('timeout', `no answer within ${timeoutMs} ms`)),
          timeoutMs,
        )
      : undefined;
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      for (const signal of given) signal.removeEventListener('abort', onAbort);
    },
  };
}

/** A server, and how it is to be asked. */
export class Server {
  readonly #base: URL;
  readonly #headers: Record<string, string>;
  readonly #signal: AbortSignal | undefined;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  constructor(options: ServerOptions) {
    const { token, retries = 5 } = options;
    this.#base = checkUrl(options.url);
    if (token !== undefined && !(typeof token === 'string' && /^[\x21-\x7e]+$/.test(token))) {
      throw DpcacheError.at('/token', 'must be printable ASCII without blanks');
    }
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#signal = options.signal;
    this.#timeout = checkTimeout(options.timeoutMs ?? 30_000);
    if (!(Number.isSafeInteger(retries) && retries >= 0)) {
      throw DpcacheError.at('/retries', 'must be an integer, and not negative');
    }
    this.#retries = retries;
    const given = options.fetch ?? globalThis.fetch;
    if (typeof given !== 'function') {
      throw new DpcacheError('unavailable', 'there is no fetch here');
    }
    this.#fetch = (...args) => given(...args); // browsers' own must not be called as a method
  }

  /** The answer, as `read` makes it from a response that says yes. */
  async ask<T>(
    message: Message,
    options: CallOptions,
    read: (response: Response) => T | PromiseLike<T>,
  ): Promise<T> {
    const own = options.timeoutMs;
    const timeout = own === undefined ? this.#timeout : checkTimeout(own);
    const until = Date.now() + timeout;
    const { signal, end } = limit([this.#signal, options.signal], timeout);
    try {
      for (let failures = 0; ; failures++) {
        const outcome = await this.#attempt(message, signal, failures > 0, read);
        if ('answer' in outcome) return outcome.answer;
        const wait = Math.max(pauseAfter(failures), outcome.wait);
        if (!outcome.again || failures >= this.#retries || Date.now() + wait > until) {
          throw outcome.error;
        }
        await pause(wait, signal);
      }
    } finally {
      end();
    }
  }

  /** A response that says yes and whose body goes on, by one attempt. */
  async open(message: Message, signal: AbortSignal): Promise<Response> {
    const both = limit([this.#signal, signal]);
    try {
      const response = await this.#send(message, both.signal);
      if (!response.ok) throw await problemOf(response);
      return response;
    } catch (thrown) {
      if (both.signal.aborted) throw both.signal.reason;
      throw thrown instanceof DpcacheError ? thrown : unreachable(this.#base, thrown);
    } finally {
      both.end(); // who reads the body ends it
    }
  }

  /** The signal of all calls. */
  get signal(): AbortSignal | undefined {
    return this.#signal;
  }

  async #attempt<T>(
    message: Message,
    signal: AbortSignal,
    isAgain: boolean,
    read: (response: Response) => T | PromiseLike<T>,
  ): Promise<{ answer: T } | { error: DpcacheError; again: boolean; wait: number }> {
    const always = message.again === 'always';
    try {
      const response = await this.#send(message, signal);
      if (response.ok) return { answer: await read(response) };
      const error = await problemOf(response);
      const { status } = response;
      const again =
        status === 429 ||
        (always && (status === 502 || status === 503 || status === 504)) ||
        // The first attempt is still under way.
        (always && isAgain && status === 409 && error.code === 'conflict');
      return { error, again, wait: retryAfter(response) };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      if (thrown instanceof DpcacheError) throw thrown;
      if (thrown instanceof SyntaxError) {
        throw new DpcacheError('unavailable', 'the answer is none of dpcache serve', undefined, {
          cause: thrown,
        });
      }
      return { error: unreachable(this.#base, thrown), again: always, wait: 0 };
    }
  }

  #send(message: Message, signal: AbortSignal): Promise<Response> {
    const url = new URL(message.path, this.#base);
    for (const [name, value] of Object.entries(message.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const { method, body } = message;
    const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream';
    const headers = {
      ...this.#headers,
      ...(body === undefined ? {} : { 'content-type': type }),
      ...message.headers,
    };
    const init: RequestInit = { method, headers, signal };
    if (body !== undefined) init.body = body;
    return this.#fetch(url, init);
  }
}

function checkUrl(url: unknown): URL {
  let base: URL;
  try {
    base = new URL(String(url));
  } catch {
    throw DpcacheError.at('/url', `must be the address of a server, not ${String(url)}`);
  }
  if (!/^https?:$/.test(base.protocol)) throw DpcacheError.at('/url', 'must begin with http');
  if (base.username || base.password || base.search || base.hash) {
    throw DpcacheError.at('/url', 'must be an address without a user, a query or a fragment');
  }
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return base;
}

function checkTimeout(ms: unknown): number {
  if (typeof ms === 'number' && ms >= 0) return ms;
  throw DpcacheError.at('/timeoutMs', 'must be a number of milliseconds, and not negative');
}

function unreachable(base: URL, cause: unknown): DpcacheError {
  const reason = (cause as { cause?: { code?: unknown } } | undefined)?.cause?.code;
  const more = typeof reason === 'string' ? ` (${reason})` : '';
  const detail = `${base.origin} cannot be reached${more}`;
  return new DpcacheError('unavailable', detail, undefined, { cause });
}

// Milliseconds that a response asks to wait, in seconds or as a date; 0: none.
function retryAfter(response: Response): number {
  const text = response.headers.get('retry-after');
  if (text === null) return 0;
  const ms = /^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now();
  return ms > 0 ? ms : 0;
}

/** Of a response that says no, e.g. of a proxy, that brings no code. */
function codeOf(status: number): ErrorCode {
  const known: Record<number, ErrorCode> = {
    401: 'unauthorized',
    403: 'forbidden',
    404: 'not_found',
    405: 'method_not_allowed',
    408: 'timeout',
    409: 'conflict',
    412: 'precondition_failed',
    413: 'too_large',
    415: 'unsupported',
    429: 'busy',
    431: 'headers_too_large',
    507: 'full',
  };
  return known[status] ?? (status >= 500 || status < 400 ? 'unavailable' : 'bad_request');
}

interface Problem {
  code?: ErrorCode;
  detail?: string;
  errors?: ItemError[];
}

// RFC 9457, with the server's `code` and `errors`.
async function problemOf(response: Response): Promise<DpcacheError> {
  const { status } = response;
  let problem: Problem = {};
  try {
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('application/problem+json')) problem = (await response.json()) as Problem;
    else await response.body?.cancel();
  } catch {
    // The status says enough.
  }
  const code = typeof problem.code === 'string' ? problem.code : codeOf(status);
  if (Array.isArray(problem.errors) && problem.errors.length > 0) {
    return DpcacheError.of(problem.errors.map(inItem), { status });
  }
  return new DpcacheError(code, problem.detail ?? `HTTP status ${status}`, undefined, { status });
}

// A pointer into the body as one into the item or config, with the names that they have here.
function inItem({ index, code, pointer, detail }: ItemError): ItemError {
  const own = pointer.replace(/^\/(items|queries)\/\d+/, '').replace('_base64', '');
  return { index, code, pointer: camel(own), detail: camelDetail(detail, own) };
}

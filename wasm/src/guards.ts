// dpcache/guards: what says that two texts must not be taken for one, however alike their vectors.
// Its WebAssembly is a file of its own, loaded by the first call.
import { toBytes, toOptions, toText } from './arguments.js';
import { Border } from './border.js';
import { dispose } from './dispose.js';
import { DpcacheError } from './errors.js';
import createGuardsCore, { type GuardsCore } from './guards-core.js';
import type { OpenOptions } from './types.js';
import { instantiate, sharing } from './wasm-source.js';
import type { Reply, Request } from './wire.js';

export { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
export type { OpenOptions, WasmSource } from './types.js';

/** In the order in which they are listed. */
export const guardNames = [
  'number',
  'negation',
  'antonym',
  'identifier',
  'entity',
  'replaced',
  'order',
  'scope',
] as const;
export type Guard = (typeof guardNames)[number];

export interface GuardOptions extends OpenOptions {
  /** Those that are on: names, "all" (default) or "none". */
  on?: readonly Guard[] | 'all' | 'none';
  /** The words of a language as a table; default: English, which `Guards.englishTable()` shows. */
  language?: string;
}

export interface GuardFinding {
  guard: Guard;
  /** The words at fault of either text; empty: it has none. */
  a: string;
  b: string;
}

class Instance extends Border<GuardsCore> {
  static async start(module: WebAssembly.Module): Promise<Instance> {
    return new Instance(await instantiate(createGuardsCore, module, {}));
  }
}

const instance = sharing<Instance>({
  start: (module) => Instance.start(module),
  ownFile: () => new URL('./guards.wasm', import.meta.url),
  advice:
    'Where a bundler has moved this module away from its file, give { wasm } the address, bytes or ' +
    'module of dpcache/guards.wasm',
});

interface Held {
  open: Instance;
  handle: number;
}

const release = ({ open, handle }: Held): void => {
  if (!open.isBroken) open.core.freeGuards(handle);
};
const forgotten = new FinalizationRegistry(release);

// Writes a request, makes the call, reads its reply.
function ask<T>(
  open: Instance,
  call: (handle: number) => number,
  handle: number,
  write: (request: Request) => void,
  read: (reply: Reply) => T,
): T {
  open.check();
  try {
    open.request.begin();
    write(open.request);
    return read(open.call(call, handle));
  } finally {
    open.tidy();
  }
}

const nothing = (): void => {};

function toNames(on: unknown): string {
  if (on === undefined) return 'all';
  if (typeof on === 'string') return on;
  if (!Array.isArray(on)) throw DpcacheError.at('/on', 'must be names, "all" or "none"');
  const names = (on as readonly unknown[]).map((name, i) => toText(name, `/on/${i}`));
  return names.length === 0 ? 'none' : names.join(',');
}

type Side = { text: string } | { facts: Uint8Array };

function toSide(x: unknown, pointer: string): Side {
  return typeof x === 'string'
    ? { text: toText(x, pointer) }
    : { facts: toBytes(x as Uint8Array, 'guard facts') };
}

function writeSide(request: Request, side: Side): void {
  request.number('facts' in side ? 1 : 0);
  if ('facts' in side) {
    request.bytes(side.facts);
  } else {
    request.text(side.text);
  }
}

/** The answers are those of the server and of C++, bit for bit. */
export class Guards {
  readonly #held: Held;
  #disposed = false;

  private constructor(held: Held) {
    this.#held = held;
    forgotten.register(this, held, this);
  }

  /** `bad_config`: there is no such guard, or a line of the table is none of the rules. */
  static async create(options: GuardOptions = {}): Promise<Guards> {
    const given = toOptions(options);
    const on = toNames(given.on);
    const language = given.language === undefined ? undefined : toText(given.language, '/language');
    const open = await instance(given.wasm);
    const write = (request: Request): void => {
      request.text(on);
      request.maybeText(language);
    };
    const handle = ask(open, open.core.create, 0, write, (reply) => reply.number());
    return new Guards({ open, handle });
  }

  /** The built-in table of words, to begin one's own with. */
  static async englishTable(options: OpenOptions = {}): Promise<string> {
    const open = await instance(toOptions(options).wasm);
    return ask(open, open.core.table, 0, nothing, (reply) => reply.text());
  }

  /** What speaks against merging two texts, or facts of texts; empty: nothing. */
  between(a: string | Uint8Array, b: string | Uint8Array): Guard[] {
    const first = toSide(a, '/a');
    const second = toSide(b, '/b');
    const write = (request: Request): void => {
      writeSide(request, first);
      writeSide(request, second);
    };
    const bits = this.#ask('between', write, (reply) => reply.number());
    return guardNames.filter((_, i) => ((bits >> i) & 1) === 1);
  }

  /** What the guards know of a text, to be kept in its place: about 100 bytes for a question. */
  facts(text: string): Uint8Array {
    const given = toText(text, '');
    return this.#ask('facts', (request) => request.text(given), (reply) => reply.bytes());
  }

  /** The same as between(), with the words that were found. */
  explain(a: string, b: string): GuardFinding[] {
    const first = toText(a, '/a');
    const second = toText(b, '/b');
    const write = (request: Request): void => {
      request.text(first);
      request.text(second);
    };
    return this.#ask('explain', write, (reply) =>
      reply.list(() => {
        const guard = reply.text() as Guard;
        const words = reply.text();
        return { guard, a: words, b: reply.text() };
      }),
    );
  }

  /** Gives the memory back. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    forgotten.unregister(this);
    release(this.#held);
  }

  [dispose](): void {
    this.dispose();
  }

  #ask<T>(
    call: 'between' | 'facts' | 'explain',
    write: (request: Request) => void,
    read: (reply: Reply) => T,
  ): T {
    if (this.#disposed) throw new DpcacheError('disposed', 'these guards were disposed');
    const { open, handle } = this.#held;
    return ask(open, open.core[call], handle, write, read);
  }
}

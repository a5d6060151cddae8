// dpcache/templates: the kinds of line that a program writes, with what varies in them named. Its
// WebAssembly is a file of its own, loaded by the first call.
import { toBytes, toInteger, toOptions, toText } from './arguments.js';
import { Border } from './border.js';
import { dispose } from './dispose.js';
import { DpcacheError } from './errors.js';
import createTemplatesCore, { type TemplatesCore } from './templates-core.js';
import type { OpenOptions } from './types.js';
import { instantiate, sharing } from './wasm-source.js';
import type { Reply, Request } from './wire.js';

export { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
export type { OpenOptions, WasmSource } from './types.js';

export interface TemplateOptions extends OpenOptions {
  /** The share of words in which a line may differ from its template, [0, .5], default .125. */
  tau?: number;
  /** What is no word: "number,hex,ip,uuid,time,path", "all" (default) or "none". */
  masks?: string;
  /** "plain": do not look for key=value, JSON and cells. */
  structure?: 'known' | 'plain';
  /** "fixed": status 200 and status 500 are two templates. */
  codes?: 'vary' | 'fixed';
  /** Beyond them the rarest is forgotten; default 10,000. */
  maxTemplates?: number;
  /** Bytes of a line that are read, default 65,536. */
  maxLine?: number;
  /** Different lines that a template keeps, default 3. */
  examples?: number;
  /** Values of a parameter that are counted one by one, default 8. */
  values?: number;
}

export interface Parameter {
  /** Unique in its template: the key in front of it, else what it is. */
  name: string;
  /** A mask's name; "word", "text" or "list". */
  kind: string;
  /** The first different ones that came; at most 64 bytes of each. */
  values: { text: string; count: number }[];
  /** Occurrences of other values. */
  others: number;
}

export interface Template {
  id: number;
  /** Lines. */
  count: number;
  /** For example "session opened for user <user> by (uid=<uid>)". */
  text: string;
  parameters: Parameter[];
  examples: string[];
  /** Of the first line, as given to learn(). */
  origin: string;
}

export interface Learned {
  id: number;
  /** Of that template, with this one. */
  lines: number;
  /** To the template that the line joined, (0, 1]; 0: none was near enough. */
  similarity: number;
  opened: boolean;
  /** Templates that are part of this one now. */
  folded: number[];
  evicted: number[];
}

export interface TemplateMatch {
  id: number;
  similarity: number;
  /** Of this line, in the order of the template's parameters. */
  values: { name: string; text: string }[];
}

class Instance extends Border<TemplatesCore> {
  static async start(module: WebAssembly.Module): Promise<Instance> {
    return new Instance(await instantiate(createTemplatesCore, module, {}));
  }
}

const instance = sharing<Instance>({
  start: (module) => Instance.start(module),
  ownFile: () => new URL('./templates.wasm', import.meta.url),
  advice:
    'Where a bundler has moved this module away from its file, give { wasm } the address, bytes or ' +
    'module of dpcache/templates.wasm',
});

interface Held {
  open: Instance;
  handle: number;
}

const release = ({ open, handle }: Held): void => {
  if (!open.isBroken) open.core.freeTemplates(handle);
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

function choice(x: unknown, words: readonly string[], pointer: string): number {
  const at = x === undefined ? 0 : words.indexOf(x as string);
  if (at < 0) throw DpcacheError.at(pointer, `must be one of ${words.join(', ')}`);
  return at;
}

function number(x: unknown, usual: number, pointer: string): number {
  if (x === undefined) return usual;
  if (typeof x !== 'number') throw DpcacheError.at(pointer, 'must be a number');
  return x;
}

function whole(x: unknown, usual: number, pointer: string): number {
  return x === undefined ? usual : toInteger(x, pointer);
}

function readLearned(reply: Reply): Learned {
  const id = reply.number();
  const lines = reply.number();
  const similarity = reply.number();
  const opened = reply.number() !== 0;
  const folded = reply.list(() => reply.number());
  const evicted = reply.list(() => reply.number());
  return { id, lines, similarity, opened, folded, evicted };
}

function readTemplate(reply: Reply): Template {
  const id = reply.number();
  const count = reply.number();
  const text = reply.text();
  const parameters = reply.list(() => {
    const name = reply.text();
    const kind = reply.text();
    const values = reply.list(() => {
      const value = reply.text();
      return { text: value, count: reply.number() };
    });
    return { name, kind, values, others: reply.number() };
  });
  const examples = reply.list(() => reply.text());
  return { id, count, text, parameters, examples, origin: reply.text() };
}

/**
 * Learns templates from lines, one by one; the answers are those of `dpcache distinct --templates`,
 * bit for bit. Masks of your own are for the command line and C++.
 */
export class Templates {
  readonly #held: Held;
  #disposed = false;

  private constructor(held: Held) {
    this.#held = held;
    forgotten.register(this, held, this);
  }

  /** `bad_config`: a setting is out of its range. */
  static async create(options: TemplateOptions = {}): Promise<Templates> {
    const given = toOptions(options);
    const numbers = [
      number(given.tau, 0.125, '/tau'),
      choice(given.structure, ['known', 'plain'], '/structure'),
      choice(given.codes, ['vary', 'fixed'], '/codes'),
      whole(given.maxTemplates, 10000, '/maxTemplates'),
      whole(given.maxLine, 65536, '/maxLine'),
      whole(given.examples, 3, '/examples'),
      whole(given.values, 8, '/values'),
    ];
    const masks = given.masks === undefined ? 'all' : toText(given.masks, '/masks');
    const open = await instance(given.wasm);
    const write = (request: Request): void => {
      numbers.forEach((x) => request.number(x));
      request.text(masks);
    };
    const handle = ask(open, open.core.create, 0, write, (reply) => reply.number());
    return new Templates({ open, handle });
  }

  /** `bad_snapshot`: damaged, cut, or something else than what save() makes. */
  static async load(bytes: Uint8Array, options: OpenOptions = {}): Promise<Templates> {
    const copy = toBytes(bytes, 'the templates');
    const open = await instance(toOptions(options).wasm);
    const write = (request: Request): void => request.bytes(copy);
    const handle = ask(open, open.core.load, 0, write, (reply) => reply.number());
    return new Templates({ open, handle });
  }

  /** Learns a line. `origin`: where it stands; kept with the first line of a template. */
  learn(line: string, origin = ''): Learned {
    return this.learnAll([line], origin)[0]!;
  }

  /** The same for many lines at once, which is quicker. */
  learnAll(lines: readonly string[], origin = ''): Learned[] {
    if (!Array.isArray(lines)) throw DpcacheError.at('', 'lines must be an array of strings');
    const texts = (lines as readonly string[]).map((line, i) => toText(line, `/${i}`));
    const place = toText(origin, '/origin');
    const write = (request: Request): void => {
      request.number(texts.length);
      request.text(place);
      texts.forEach((text) => request.text(text));
    };
    return this.#ask('learn', write, (reply) => texts.map(() => readLearned(reply)));
  }

  /** The template that the line would join, with its values; null if there is none. */
  match(line: string): TemplateMatch | null {
    const text = toText(line, '');
    const write = (request: Request): void => request.text(text);
    return this.#ask('match', write, (reply) => {
      if (reply.number() === 0) return null;
      const id = reply.number();
      const similarity = reply.number();
      const values = reply.list(() => {
        const name = reply.text();
        return { name, text: reply.text() };
      });
      return { id, similarity, values };
    });
  }

  /** null: there is none with this id, any more. */
  get(id: number): Template | null {
    const one = toInteger(id, '/id');
    const write = (request: Request): void => request.number(one);
    return this.#ask('get', write, (reply) => (reply.number() === 0 ? null : readTemplate(reply)));
  }

  /** The templates of most lines first, or in the order of their first lines. */
  list(options: { order?: 'count' | 'first'; top?: number } = {}): Template[] {
    const { order, top } = toOptions(options);
    const byCount = choice(order, ['count', 'first'], '/order') === 0;
    const most = whole(top, Number.MAX_SAFE_INTEGER, '/top');
    const { counts } = this.#counts();
    if (byCount) counts.sort((a, b) => b.count - a.count || a.id - b.id);
    return counts.slice(0, Math.max(most, 0)).map(({ id }) => this.get(id)!);
  }

  /** Templates. */
  get size(): number {
    return this.#counts().counts.length;
  }

  /** Lines learned, those of forgotten templates too. */
  get lines(): number {
    return this.#counts().lines;
  }

  /** All of it as bytes, as the command line keeps it: learning goes on from there. */
  save(): Uint8Array {
    return this.#ask('save', nothing, (reply) => reply.bytes());
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

  #counts(): { lines: number; counts: { id: number; count: number }[] } {
    return this.#ask('list', nothing, (reply) => {
      const lines = reply.number();
      return { lines, counts: reply.list(() => ({ id: reply.number(), count: reply.number() })) };
    });
  }

  #ask<T>(
    call: 'learn' | 'match' | 'get' | 'list' | 'save',
    write: (request: Request) => void,
    read: (reply: Reply) => T,
  ): T {
    if (this.#disposed) throw new DpcacheError('disposed', 'these templates were disposed');
    const { open, handle } = this.#held;
    return ask(open, open.core[call], handle, write, read);
  }
}

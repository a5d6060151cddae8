// One instance of a WebAssembly module of ours, with its one request and reply.
import { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
import { camel, camelDetail } from './names.js';
import { Reply, Request, type Heap } from './wire.js';

export class Border<Core extends Heap> {
  readonly core: Core;
  readonly request: Request;
  readonly reply: Reply;
  #broken: DpcacheError | undefined;

  constructor(core: Core) {
    this.core = core;
    this.request = new Request(core);
    this.reply = new Reply(core);
  }

  /**
   * Makes a call whose request has been written, and leaves the reply behind its error count.
   * Throws what the reply refuses.
   */
  call(call: (handle: number) => number, handle: number): Reply {
    this.check();
    let address: number;
    try {
      address = call(handle);
    } catch (cause) {
      // Nothing in the library throws: the instance has aborted, as a rule for want of memory.
      const what = cause instanceof RangeError ? 'found no room on the stack' : 'used up its memory';
      const detail = `the WebAssembly instance has ${what}; its caches are lost`;
      this.#broken = new DpcacheError('full', detail, undefined, { cause });
      throw this.#broken;
    }
    const { reply } = this;
    reply.begin(address);
    const errors = reply.number();
    if (errors > 0) this.#refuse(errors);
    return reply;
  }

  /** Throws if the instance has aborted. */
  check(): void {
    if (this.#broken) throw this.#broken;
  }

  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /** To be called when a reply has been read: gives back what a large one took. */
  tidy(): void {
    if (this.#broken || (!this.request.large && !this.reply.large)) return;
    this.core.trim();
    this.request.forget();
  }

  #refuse(count: number): never {
    const { reply } = this;
    const errors: ItemError[] = [];
    for (; count > 0; count--) {
      const index = reply.number();
      const code = reply.text() as ErrorCode;
      const pointer = this.toPointer(reply.text());
      const detail = reply.text();
      errors.push({ index, code, pointer: camel(pointer), detail: camelDetail(detail, pointer) });
    }
    const cause = this.takeCause();
    throw DpcacheError.of(errors, cause === undefined ? undefined : { cause });
  }

  /** What was thrown by a user's code during the call, if anything. */
  protected takeCause(): unknown {
    return undefined;
  }

  /** The name that JavaScript has for the library's field. */
  protected toPointer(pointer: string): string {
    return pointer;
  }
}

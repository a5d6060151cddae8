// The border to WebAssembly: requests are written, replies read, as cells of 8 bytes. ../wire.h is
// the other side and says how things are laid out.
import { DpcacheError } from './errors.js';

/** What the border needs of a module's glue. */
export interface Heap {
  HEAPU8: Uint8Array;
  HEAPF32: Float32Array;
  HEAPF64: Float64Array;
  /** Makes room for a request; its address, or 0 if there is no memory. */
  reserve(cells: number): number;
  trim(): void;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

// Lengths as the engine has them, whatever a subclass or a property says.
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const lengthOf = Object.getOwnPropertyDescriptor(typedArray, 'length')?.get as (
  this: ArrayBufferView,
) => number;

// No larger request or reply is kept after a call.
const keptCells = 1 << 17;
const mostCells = 2 ** 29; // 4 GiB

/** Writes the arguments of one call. Nothing here runs a user's code: arguments are checked before. */
export class Request {
  readonly #core: Heap;
  #cells: Float64Array; // the heap, until it grows
  #base = 0; // the first cell
  #at = 0;
  #end = 0;

  constructor(core: Heap) {
    this.#core = core;
    this.#cells = core.HEAPF64;
  }

  /** Starts a request of about this many cells. */
  begin(cells = 64): void {
    this.#cells = this.#core.HEAPF64;
    this.#at = this.#base;
    this.#need(cells);
  }

  number(x: number): void {
    if (this.#at === this.#end) this.#need(1);
    this.#cells[this.#at++] = x;
  }

  /** A number, or none. */
  maybe(x: number | null | undefined): void {
    this.number(x ?? NaN);
  }

  floats(values: Float32Array): void {
    const count = lengthOf.call(values);
    if (count === 0) return this.number(0);
    this.#need(1 + ((count + 1) >> 1));
    this.#cells[this.#at] = count;
    this.#core.HEAPF32.set(values, (this.#at + 1) * 2);
    this.#at += 1 + ((count + 1) >> 1);
  }

  bytes(bytes: Uint8Array): void {
    const count = lengthOf.call(bytes);
    this.#need(1 + Math.ceil(count / 8));
    this.#cells[this.#at] = count;
    this.#core.HEAPU8.set(bytes, (this.#at + 1) * 8);
    this.#at += 1 + Math.ceil(count / 8);
  }

  text(text: string): void {
    if (text.length === 0) return this.number(0);
    this.#need(1 + Math.ceil((text.length * 3) / 8));
    const begin = (this.#at + 1) * 8;
    const heap = this.#core.HEAPU8;
    const { written } = encoder.encodeInto(text, heap.subarray(begin, begin + text.length * 3));
    this.#cells[this.#at] = written;
    this.#at += 1 + Math.ceil(written / 8);
  }

  maybeText(text: string | undefined): void {
    if (text === undefined) this.number(-1);
    else this.text(text);
  }

  /** Forgets the memory of a large request, which the heap has taken back. */
  forget(): void {
    this.#base = this.#at = this.#end = 0;
  }

  get large(): boolean {
    return this.#end - this.#base > keptCells;
  }

  #need(cells: number): void {
    if (this.#at + cells <= this.#end) return;
    const used = this.#at - this.#base;
    const wanted = Math.max(used + cells, 2 * (this.#end - this.#base), 256);
    const size = Math.min(wanted, Math.max(mostCells, used + cells));
    const address = size > mostCells ? 0 : this.#core.reserve(size);
    if (address === 0) throw new DpcacheError('full', 'there is no memory for the arguments');
    this.#cells = this.#core.HEAPF64;
    this.#base = address / 8;
    this.#at = this.#base + used;
    this.#end = this.#base + size;
  }
}

/** Reads the answer of one call. What it returns are copies. */
export class Reply {
  readonly #core: Heap;
  #cells: Float64Array; // the heap, which stays while an answer is read
  #at = 0;
  #begin = 0;

  constructor(core: Heap) {
    this.#core = core;
    this.#cells = core.HEAPF64;
  }

  begin(address: number): void {
    this.#cells = this.#core.HEAPF64;
    this.#at = this.#begin = address / 8;
  }

  number(): number {
    return this.#cells[this.#at++] as number;
  }

  maybe(): number | null {
    const x = this.number();
    return x === x ? x : null;
  }

  floats(): Float32Array {
    const count = this.number();
    const begin = this.#at * 2;
    this.#at += (count + 1) >> 1;
    return this.#core.HEAPF32.slice(begin, begin + count);
  }

  maybeFloats(): Float32Array | null {
    const values = this.floats();
    return values.length > 0 ? values : null;
  }

  bytes(): Uint8Array {
    const begin = this.#at + 1;
    const count = this.#skip();
    return this.#core.HEAPU8.slice(begin * 8, begin * 8 + count);
  }

  text(): string {
    const begin = this.#at + 1;
    const count = this.#skip();
    return decoder.decode(this.#core.HEAPU8.subarray(begin * 8, begin * 8 + count));
  }

  maybeText(): string | null {
    if (this.#cells[this.#at] !== -1) return this.text();
    this.#at++;
    return null;
  }

  list<T>(read: () => T): T[] {
    const list: T[] = [];
    for (let left = this.number(); left > 0; left--) list.push(read());
    return list;
  }

  get large(): boolean {
    return this.#at - this.#begin > keptCells;
  }

  #skip(): number {
    const count = this.number();
    this.#at += Math.ceil(count / 8);
    return count;
  }
}

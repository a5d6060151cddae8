// Masks of one's own: finds a RegExp's matches in the UTF-8 text that the library reads.
import type { Core } from './core.js';
import { DpcacheError } from './errors.js';
import type { OwnMask } from './types.js';
import type { Request } from './wire.js';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The patterns of all encoders of an instance, by number. */
export class Patterns {
  core!: Core;
  readonly #patterns = new Map<number, RegExp>();
  #next = 0;
  // The text at hand, and the byte at which each of its UTF-16 units begins.
  #text = '';
  #starts = new Uint32Array(1);
  #failure: unknown;

  /** Writes the masks into a request; the numbers under which they stay until forgotten. */
  write(request: Request, masks: readonly CheckedMask[]): number[] {
    const numbers: number[] = [];
    request.number(masks.length);
    for (const { name, source, pattern } of masks) {
      const number = this.#next++;
      this.#patterns.set(number, pattern);
      numbers.push(number);
      request.text(name);
      request.text(source);
      request.number(number);
    }
    return numbers;
  }

  forget(numbers: readonly number[]): void {
    for (const number of numbers) this.#patterns.delete(number);
  }

  /**
   * The library asks for the first match in text[from, length); (0, 0) stands for none. Of every
   * text it first asks for the match from 0. Nothing may be thrown through it, which would leave it
   * as it stands: a RegExp can, for a text so long that its backtracking finds no room. The answer
   * to that is false.
   */
  find(number: number, text: number, length: number, from: number, range: number): boolean {
    let [begin, end] = [0, 0];
    try {
      // The library's addresses are signed here.
      if (from === 0) this.#look(text >>> 0, length >>> 0);
      const pattern = this.#patterns.get(number);
      if (pattern) [begin, end] = this.#match(pattern, from >>> 0);
    } catch (error) {
      this.#failure ??= error;
      return false;
    }
    const view = new DataView(this.core.HEAPU8.buffer);
    view.setUint32(range >>> 0, begin, true);
    view.setUint32((range >>> 0) + 4, end, true);
    return true;
  }

  /** What was thrown first in find() since this was asked last. */
  takeFailure(): unknown {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  #match(pattern: RegExp, from: number): [number, number] {
    const text = this.#text;
    pattern.lastIndex = this.#unitAt(from);
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const { index } = match;
      const { length } = match[0];
      if (length > 0) {
        // Half a pair is read as the whole of it.
        const end = index + length + (isPair(text, index + length - 1) ? 1 : 0);
        return [this.#starts[index] as number, this.#starts[end] as number];
      }
      // An empty match masks nothing. With u the engine steps back from the middle of a pair.
      pattern.lastIndex = index + (isPair(text, index) ? 2 : 1);
    }
    return [0, 0];
  }

  #look(begin: number, length: number): void {
    this.#text = ''; // if what follows fails
    this.#text = decoder.decode(this.core.HEAPU8.subarray(begin, begin + length));
    const starts = new Uint32Array(this.#text.length + 1);
    let at = 0;
    for (let i = 0; i < this.#text.length; i++) {
      starts[i] = at;
      const unit = this.#text.charCodeAt(i);
      if (unit < 0x80) at += 1;
      else if (unit < 0x800) at += 2;
      else if (unit < 0xd800 || unit > 0xdbff) at += 3;
      else {
        starts[++i] = at; // both halves of a pair begin where it begins
        at += 4;
      }
    }
    starts[this.#text.length] = at;
    this.#starts = starts;
  }

  // The first UTF-16 unit that does not begin before this byte.
  #unitAt(byte: number): number {
    let low = 0;
    let high = this.#text.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] as number) < byte) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isPair(text: string, at: number): boolean {
  return (text.codePointAt(at) as number) > 0xffff;
}

export interface CheckedMask {
  name: string;
  source: string;
  pattern: RegExp;
}

/** Copies of the users' RegExps, which nobody else moves; their flags are part of the source. */
export function checkMasks(masks: readonly OwnMask[] | undefined, pointer: string): CheckedMask[] {
  if (masks === undefined) return [];
  if (!Array.isArray(masks)) throw DpcacheError.at(pointer, 'must be a list', 'bad_config');
  return Array.from(masks as readonly OwnMask[], (mask, i) => {
    if (typeof mask?.name !== 'string') {
      throw DpcacheError.at(`${pointer}/${i}/name`, 'must be a string', 'bad_config');
    }
    if (Object.prototype.toString.call(mask.pattern) !== '[object RegExp]') {
      throw DpcacheError.at(`${pointer}/${i}/pattern`, 'must be a RegExp', 'bad_config');
    }
    const { source, flags } = mask.pattern;
    const kept = flags.replace(/[gyd]/g, '');
    return {
      name: mask.name,
      source: kept === '' ? source : `(?${kept})${source}`,
      pattern: new RegExp(source, `${kept}g`),
    };
  });
}

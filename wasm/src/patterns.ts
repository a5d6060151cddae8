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
   * text it first asks for the match from 0.
   */
  find(number: number, text: number, length: number, from: number, range: number): void {
    const { HEAPU8 } = this.core;
    if (from === 0) this.#look(HEAPU8.subarray(text, text + length));
    let begin = 0;
    let end = 0;
    const pattern = this.#patterns.get(number);
    if (pattern) {
      pattern.lastIndex = this.#unitAt(from);
      for (let match = pattern.exec(this.#text); match; match = pattern.exec(this.#text)) {
        if (match[0].length > 0) {
          begin = this.#starts[match.index] as number;
          end = this.#starts[match.index + match[0].length] as number;
          break;
        }
        pattern.lastIndex++; // an empty match masks nothing
      }
    }
    const view = new DataView(HEAPU8.buffer);
    view.setUint32(range, begin, true);
    view.setUint32(range + 4, end, true);
  }

  #look(bytes: Uint8Array): void {
    this.#text = decoder.decode(bytes);
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

export interface CheckedMask {
  name: string;
  source: string;
  pattern: RegExp;
}

/** Copies of the users' RegExps, which nobody else moves; their flags are part of the source. */
export function checkMasks(masks: readonly OwnMask[] | undefined, pointer: string): CheckedMask[] {
  if (masks === undefined) return [];
  if (!Array.isArray(masks)) throw DpcacheError.at(pointer, 'must be a list', 'bad_config');
  return masks.map((mask: OwnMask, i) => {
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

// Lines of text. Invalid UTF-8 is read as U+FFFD; empty lines are items too, but for the last.
import type { Stream, TextStream } from '../engine/stream';
import { parseJsonLines } from './jsonl';
import { cutNote, FileError, maxItems } from './limits';

const looksLikeJson = (line: string): boolean => {
  if (!/^\s*[{[]/.test(line)) return false;
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
};

/** `isJson`: the file's name says so, and then a line that is not JSON is an error. */
export function parseText(name: string, bytes: Uint8Array, isJson: boolean): Stream {
  const all = new TextDecoder().decode(bytes).split(/\r\n|\n/);
  if (all[all.length - 1] === '') all.pop();
  if (all.length === 0) throw new FileError(`${name} has no lines.`);
  if (!isJson && bytes.subarray(0, 4096).includes(0)) {
    throw new FileError(`${name} is neither text, JSON Lines, .npy, gzip nor a memory file.`);
  }
  if (isJson || looksLikeJson(all.find((line) => line.trim() !== '') ?? '')) {
    return parseJsonLines(name, all);
  }
  const stream: TextStream = { kind: 'text', name, texts: all.slice(0, maxItems) };
  if (all.length > maxItems) stream.note = cutNote('lines');
  return stream;
}

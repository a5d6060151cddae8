// Unpacks gzip, member after member, by the command line's rules.
// The page fetches this with the first packed file. The browser's own DecompressionStream refuses
// whatever follows the first member.
import {
  Z_BUF_ERROR,
  Z_NO_FLUSH,
  Z_OK,
  Z_STREAM_END,
  ZStream,
  zlibInflate,
  zlibInflateInit2,
  zlibInflateReset,
} from 'pako';
import { FileError, maxBytes, megabytes } from './limits';

const gzipOnly = 15 + 16; // neither zlib nor raw deflate
const partBytes = 256 * 1024;

// A member begins there, or is cut right there.
const isMember = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0x1f && (bytes[at + 1] === 0x8b || at + 1 === bytes.length);

/** What the members hold, in a row. Zeros between and behind them are padding. Throws FileError. */
export function gunzip(name: string, packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const stream = new ZStream();
  zlibInflateInit2(stream, gzipOnly);
  Object.assign(stream, { input: packed, next_in: 0, avail_in: packed.length, avail_out: 0 });
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    if (stream.avail_out === 0) {
      // Members share a part: there may be millions of small ones.
      parts.push((stream.output = new Uint8Array(partBytes)));
      stream.next_out = 0;
      stream.avail_out = partBytes;
    }
    const status = zlibInflate(stream, Z_NO_FLUSH);
    length = parts.length * partBytes - stream.avail_out;
    if (length > maxBytes) {
      throw new FileError(`${name} unpacks to more than ${megabytes(maxBytes)}.`);
    }
    if (status === Z_STREAM_END) {
      let at = stream.next_in;
      while (packed[at] === 0) ++at;
      if (at === packed.length) break;
      if (!isMember(packed, at)) {
        throw new FileError(`${name} has other bytes behind its gzip data.`);
      }
      zlibInflateReset(stream);
      stream.next_in = at;
      stream.avail_in = packed.length - at;
    } else if (status !== Z_OK && status !== Z_BUF_ERROR) {
      throw new FileError(`${name} is damaged (gzip: ${stream.msg || `error ${status}`}).`);
    } else if (stream.avail_in === 0 && stream.avail_out > 0) {
      throw new FileError(
        `${name} is not a whole gzip file: it was cut, or is still being written.`,
      );
    }
  }
  const out = new Uint8Array(length);
  parts.forEach((part, i) => out.set(part.subarray(0, length - i * partBytes), i * partBytes));
  return out;
}

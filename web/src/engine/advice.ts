// What a stream says of tau; fetched, with its WebAssembly, when that is asked for.
import { Encoder } from 'dpcache';
import { advise, type Advice } from 'dpcache/trust';
import type { Mask } from '../settings';
import type { Known } from './protocol';
import { vectorOf, type Stream } from './stream';

const sample = 2000; // items that are looked at: a second's work

/** `isLabelled`: the names of the items say what they are. */
export async function adviceOn(
  stream: Stream,
  isLabelled: boolean,
  known: Known,
  masks: readonly Mask[],
): Promise<Advice> {
  const encoder = await Encoder.create({ masks: masks.length > 0 ? masks : 'none' });
  try {
    const items =
      stream.kind === 'text'
        ? stream.texts.map((text) => ({ text }))
        : stream.labels.map((label, i) => {
            const key = vectorOf(stream, i);
            return isLabelled ? { key, label } : { key };
          });
    return await advise(items, { ...known, encoder, sample });
  } finally {
    encoder.dispose();
  }
}

// What a stream says of tau; fetched, with its WebAssembly, when that is asked for.
import { Encoder } from 'dpcache';
import { advise, type Advice, type AdvicePair } from 'dpcache/trust';
import type { Mask } from '../settings';
import { vectorOf, type Stream } from './stream';

const sample = 2000; // items that are looked at: a second's work

/** `isLabelled`: the names of the items say what they are. */
export async function adviceOn(
  stream: Stream,
  isLabelled: boolean,
  pairs: readonly AdvicePair[],
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
    return await advise(items, { encoder, pairs, sample });
  } finally {
    encoder.dispose();
  }
}

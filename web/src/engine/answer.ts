// The answer to a question: whether it is known, and the slots that say so.
import { exampleOf, labelLength, type Memory } from './memory';
import type { Answer, Question } from './protocol';
import { vectorOf, type Stream } from './stream';

export function answer({ cache, trusted }: Memory, question: Question, stream: Stream): Answer {
  let query: { text: string } | { key: Float32Array | number[] };
  if ('item' in question) {
    if (stream.kind === 'text') query = { text: stream.texts[question.item] ?? '' };
    else query = { key: vectorOf(stream, question.item) };
  } else {
    query = question;
  }
  const { top, nullWeight, empty } = cache.read(query, { k: 8, time: null });
  const { tau, gate } = cache.config;
  const threshold = gate ? gate.b : (tau ?? 0);
  const novelty = empty ? 1 : 1 - (top[0]?.similarity ?? 0);
  const found = trusted?.lookup(query, { time: null });
  return {
    slots: cache.size,
    known: found ? found.found === 'hit' : !empty && novelty <= threshold,
    uncertain: found?.found === 'uncertain',
    slot: found?.slot?.slot ?? top[0]?.slot ?? 0,
    guarded: found?.guarded ?? [],
    novelty: found?.novelty ?? novelty,
    threshold,
    nullWeight,
    top: top.map(({ slot, similarity, weight, payload }) => ({
      slot,
      similarity,
      weight,
      example: exampleOf(payload).slice(0, labelLength),
    })),
  };
}

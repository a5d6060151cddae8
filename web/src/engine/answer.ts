// The answer to a question: whether it is known, and the slots that say so.
import type { Cache } from 'dpcache';
import { exampleOf, labelLength } from './memory';
import type { Answer, Question } from './protocol';
import { vectorOf, type Stream } from './stream';

export function answer(cache: Cache, question: Question, stream: Stream): Answer {
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
  return {
    slots: cache.size,
    known: !empty && novelty <= threshold,
    novelty,
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

// No library: a typed array and a loop. The straightforward one judges the decisions of all others.
import { insertIfNovel } from './insert-if-novel.mjs';

function dot(rows, at, query) {
  let sum = 0;
  for (let i = 0; i < query.length; ++i) sum += rows[at + i] * query[i];
  return sum;
}

// Four sums, so that an addition need not wait for the one before.
function dotOfFour(rows, at, query) {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let i = 0; i < query.length; i += 4) {
    a += rows[at + i] * query[i];
    b += rows[at + i + 1] * query[i + 1];
    c += rows[at + i + 2] * query[i + 2];
    d += rows[at + i + 3] * query[i + 3];
  }
  return a + b + (c + d);
}

const loop = (name, settings, score) => ({
  name,
  settings,
  async open({ dimension, capacity }) {
    const rows = new Float32Array(capacity * dimension);
    let end = 0;
    return insertIfNovel({
      insert(vector) {
        rows.set(vector, end);
        end += dimension;
      },
      find(vector) {
        let slot = -1;
        let similarity = -Infinity;
        for (let at = 0; at < end; at += dimension) {
          const s = score(rows, at, vector);
          if (s > similarity) {
            similarity = s;
            slot = at / dimension;
          }
        }
        return { slot, similarity };
      },
    });
  },
});

export const plain = loop('typed-array loop', 'one sum; vectors of unit length', dot);
export const unrolled = loop('typed-array loop, four sums', 'vectors of unit length', dotOfFour);

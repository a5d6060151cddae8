// usearch: native, for Node.js only. Its graph, and its exact search over one array.
import usearch from 'usearch';
import { insertIfNovel } from './insert-if-novel.mjs';

const oneThread = 1;

export const hnsw = {
  name: 'usearch, HNSW',
  package: 'usearch',
  settings: 'ip, f32, one thread, else its defaults',
  async open({ dimension }) {
    const index = new usearch.Index({ metric: 'ip', dimensions: dimension, quantization: 'f32' });
    return insertIfNovel({
      insert: (vector, slot) => index.add(BigInt(slot), vector, oneThread),
      find(vector) {
        const { keys, distances } = index.search(vector, 1, oneThread);
        return { slot: Number(keys[0]), similarity: 1 - distances[0] };
      },
    });
  },
};

export const exact = {
  name: 'usearch, exact',
  package: 'usearch',
  settings: 'exactSearch over one Float32Array, ip, one thread',
  async open({ dimension, capacity }) {
    const rows = new Float32Array(capacity * dimension);
    let end = 0;
    return insertIfNovel({
      insert(vector) {
        rows.set(vector, end);
        end += dimension;
      },
      find(vector) {
        const all = rows.subarray(0, end);
        const found = usearch.exactSearch(all, vector, dimension, 1, 'ip', oneThread);
        return { slot: Number(found.keys[0]), similarity: 1 - found.distances[0] };
      },
    });
  },
};

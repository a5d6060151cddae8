// hnswlib-node: native, for Node.js only. It takes plain arrays; they are made outside the clock.
import hnswlib from 'hnswlib-node';
import { graphSettings, graphWords } from './hnswlib-settings.mjs';
import { insertIfNovel } from './insert-if-novel.mjs';

const find = (index) => (vector) => {
  const { distances, neighbors } = index.searchKnn(vector, 1);
  return { slot: neighbors[0], similarity: 1 - distances[0] };
};

export const hnsw = {
  name: 'hnswlib-node, HNSW',
  package: 'hnswlib-node',
  settings: graphWords,
  async open({ dimension, capacity, distinct }) {
    const { m, efConstruction, efSearch } = graphSettings(distinct ?? capacity);
    const index = new hnswlib.HierarchicalNSW('ip', dimension);
    index.initIndex(capacity, m, efConstruction, 100);
    index.setEf(efSearch);
    return insertIfNovel({
      prepare: (vector) => Array.from(vector),
      insert: (vector, slot) => index.addPoint(vector, slot),
      find: find(index),
    });
  },
};

export const flat = {
  name: 'hnswlib-node, brute force',
  package: 'hnswlib-node',
  settings: 'ip',
  async open({ dimension, capacity }) {
    const index = new hnswlib.BruteforceSearch('ip', dimension);
    index.initIndex(capacity);
    return insertIfNovel({
      prepare: (vector) => Array.from(vector),
      insert: (vector, slot) => index.addPoint(vector, slot),
      find: find(index),
    });
  },
};

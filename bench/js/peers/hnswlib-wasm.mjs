// hnswlib-wasm: hnswlib's graph and its brute force in WebAssembly. It is made for pages; in Node.js
// its module runs if it finds a `window`, without the file system that it would keep in IndexedDB.
import { graphSettings, graphWords } from './hnswlib-settings.mjs';
import { insertIfNovel } from './insert-if-novel.mjs';

async function load() {
  if (typeof process === 'undefined') {
    return (await import('hnswlib-wasm/dist/hnswlib.js')).loadHnswlib();
  }
  globalThis.window = globalThis;
  return (await import('hnswlib-wasm/dist/hnswlib-317962d7.js')).default();
}

// Distances are 1 − dot product.
const find = (index) => (vector) => {
  const { distances, neighbors } = index.searchKnn(vector, 1, undefined);
  return { slot: neighbors[0], similarity: 1 - distances[0] };
};

const graph = (name, parameters, settings, note) => ({
  name,
  package: 'hnswlib-wasm',
  settings,
  note,
  async open({ dimension, capacity, distinct }) {
    const library = await load();
    const { m, efConstruction, efSearch } = parameters(distinct ?? capacity);
    const index = new library.HierarchicalNSW('ip', dimension, '');
    index.initIndex(capacity, m, efConstruction, 100);
    index.setEfSearch(efSearch);
    return insertIfNovel({
      insert: (vector, slot) => index.addPoint(vector, slot, false),
      find: find(index),
    });
  },
});

export const hnsw = graph(
  'hnswlib-wasm, HNSW',
  graphSettings,
  graphWords,
  'It is made for pages; in Node.js it runs with a global `window` and without its file system.',
);

export const own = graph(
  'hnswlib-wasm, HNSW, its own parameters',
  () => ({ m: 32, efConstruction: 128, efSearch: 128 }),
  'ip; M 32, efConstruction 128, efSearch 128, as the package exports them (hnswParamsForAda)',
);

export const flat = {
  name: 'hnswlib-wasm, brute force',
  package: 'hnswlib-wasm',
  settings: 'ip',
  async open({ dimension, capacity }) {
    const library = await load();
    const index = new library.BruteforceSearch('ip', dimension);
    index.initIndex(capacity);
    return insertIfNovel({
      insert: (vector, slot) => index.addPoint(vector, slot),
      find: find(index),
    });
  },
};

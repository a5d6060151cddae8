// edgevec: HNSW in WebAssembly. Its flat index takes binary vectors only ("insert() not supported
// for Flat index"), and with its metrics cosine and dot its search returned the least similar
// vectors. So it runs with l2, which on vectors of unit length is the same order:
// |a − b|² = 2 (1 − cosine).
import init, { EdgeVec, EdgeVecConfig } from 'edgevec';
import { insertIfNovel } from './insert-if-novel.mjs';

export const hnsw = {
  name: 'edgevec, HNSW',
  package: 'edgevec',
  settings: 'metric l2, else its defaults',
  note:
    'Its flat index takes binary vectors only, and with metric cosine or dot it returned the ' +
    'least similar vectors; on vectors of unit length l2 gives the same order.',
  async open({ dimension }, { readPackage }) {
    await init({ module_or_path: await readPackage('edgevec', 'edgevec_bg.wasm') });
    const config = new EdgeVecConfig(dimension);
    config.metric = 'l2';
    const index = new EdgeVec(config);
    const slots = new Map();
    return insertIfNovel({
      insert: (vector, slot) => slots.set(index.insert(vector), slot),
      find(vector) {
        const [best] = index.search(vector, 1);
        return { slot: slots.get(best.id), similarity: 1 - best.score / 2 };
      },
    });
  },
};

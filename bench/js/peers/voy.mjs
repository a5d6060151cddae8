// voy-search: a k-d tree in WebAssembly. Its answers name the nearest but tell no distance, so its
// user keeps the vectors and computes the one dot product that the decision needs.
import * as glue from 'voy-search/voy_search_bg.js';
import { insertIfNovel } from './insert-if-novel.mjs';

// What a bundler makes of its `import * as wasm from "./voy_search_bg.wasm"`: once a program.
let started;
async function start(readPackage) {
  const wasm = await readPackage('voy-search', 'voy_search_bg.wasm');
  const { instance } = await WebAssembly.instantiate(wasm, { './voy_search_bg.js': glue });
  glue.__wbg_set_wasm(instance.exports);
}

export const tree = {
  name: 'voy-search, k-d tree',
  package: 'voy-search',
  settings: 'none to set',
  note: 'Its answers tell no distance: the bench keeps the vectors and computes it.',
  async open(_, { readPackage }) {
    await (started ??= start(readPackage));
    const index = new glue.Voy();
    const kept = [];
    return insertIfNovel({
      insert(vector, slot) {
        kept.push(vector);
        const embeddings = Array.from(vector); // it refuses typed arrays here
        index.add({ embeddings: [{ id: String(slot), title: '', url: '', embeddings }] });
      },
      find(vector) {
        const slot = Number(index.search(vector, 1).neighbors[0].id);
        const other = kept[slot];
        let similarity = 0;
        for (let i = 0; i < vector.length; ++i) similarity += vector[i] * other[i];
        return { slot, similarity };
      },
    });
  },
};

// What each package adds to a page: its JavaScript, bundled and minified, and its WebAssembly.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

const here = new URL('./', import.meta.url);

const packages = [
  {
    name: 'dpcache: Cache',
    code: `export { Cache } from 'dpcache';`,
    wasm: ['dpcache/dist/dpcache.wasm'],
  },
  {
    name: 'dpcache: all of the entry',
    code: `export * from 'dpcache';`,
    wasm: ['dpcache/dist/dpcache.wasm'],
  },
  {
    name: 'edgevec',
    code: `export { default, EdgeVec, EdgeVecConfig } from 'edgevec';`,
    wasm: ['edgevec/edgevec_bg.wasm'],
  },
  {
    name: 'hnswlib-wasm',
    code: `export { loadHnswlib } from 'hnswlib-wasm/dist/hnswlib.js';`,
    wasm: [],
  },
  {
    name: 'voy-search',
    // All of it: the module imports from its glue what no bundler sees.
    code: `export * from 'voy-search/voy_search.js';`,
    wasm: ['voy-search/voy_search_bg.wasm'],
  },
];

const sizes = (bytes) => ({
  raw: bytes.length,
  gzip: gzipSync(bytes, { level: 9 }).length,
  brotli: brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }).length,
});

async function bundle(code) {
  const entry = '\0entry';
  const bundled = await rolldown({
    input: entry,
    cwd: fileURLToPath(here),
    platform: 'browser',
    external: /\.wasm$/,
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: (id, from) =>
          id === entry
            ? id
            : from === entry
              ? { id: fileURLToPath(import.meta.resolve(id)) }
              : null,
        load: (id) => (id === entry ? code : null),
      },
    ],
  });
  const { output } = await bundled.generate({ format: 'esm', minify: true });
  await bundled.close();
  return output.filter((file) => file.type === 'chunk').map((file) => Buffer.from(file.code));
}

export async function measureBundles() {
  const rows = [];
  for (const { name, code, wasm } of packages) {
    try {
      const js = (await bundle(code)).map(sizes);
      const modules = await Promise.all(
        wasm.map(async (path) => sizes(await readFile(new URL(`node_modules/${path}`, here)))),
      );
      const sum = (list, key) => list.reduce((total, size) => total + size[key], 0);
      const add = (list) => ({
        raw: sum(list, 'raw'),
        gzip: sum(list, 'gzip'),
        brotli: sum(list, 'brotli'),
      });
      rows.push({ name, js: add(js), wasm: add(modules), all: add([...js, ...modules]) });
    } catch (error) {
      rows.push({ name, failed: String(error.message).split('\n')[0] });
    }
  }
  return rows;
}

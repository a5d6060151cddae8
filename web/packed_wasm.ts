// Packs the module's WebAssembly with gzip at build time, so that the page is as small from a server
// that does not compress as from one that does.
//
// The page imports the addresses as 'virtual:packed-wasm'. In development they are empty, and the
// module finds its own files.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const name = 'virtual:packed-wasm';
const files = { simd: 'dpcache.wasm', scalar: 'dpcache-scalar.wasm' };

export function packedWasm(): Plugin {
  let isBuild = false;
  return {
    name: 'packed-wasm',
    configResolved(config) {
      isBuild = config.command === 'build';
    },
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      const addresses = Object.entries(files).map(([kind, file]) => {
        if (!isBuild) return `${kind}: ''`;
        const path = createRequire(import.meta.url).resolve(`dpcache/${file}`);
        const source = gzipSync(readFileSync(path), { level: 9 });
        const reference = this.emitFile({ type: 'asset', name: `${file}.gz`, source });
        return `${kind}: import.meta.ROLLUP_FILE_URL_${reference}`;
      });
      return `export default { ${addresses.join(', ')} };`;
    },
  };
}

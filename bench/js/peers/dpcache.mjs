// dpcache as its users use it: one call decides, and one call finds.
import { Cache } from 'dpcache';

const build = (name, file) => ({
  name,
  package: 'dpcache',
  settings: 'tau .4, every slot compared',
  async open({ dimension, memory }, { readPackage }) {
    const wasm = await readPackage('dpcache', `dist/${file}`);
    const cache = memory
      ? await Cache.load(memory, { wasm })
      : await Cache.create({ dimension, tau: 0.4 }, { wasm });
    // Slots are numbered from 1 in the order in which they were opened.
    return {
      prepare: (vector) => vector,
      observe(vector) {
        const { action, slot } = cache.observe({ key: vector });
        return action === 'allocate' ? -1 : slot - 1;
      },
      nearest: (vector) => cache.nearest(vector).slot - 1,
      size: () => cache.size,
    };
  },
});

export const simd = build('dpcache', 'dpcache.wasm');
export const scalar = build('dpcache, no SIMD', 'dpcache-scalar.wasm');

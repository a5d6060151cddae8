// The package in Bun and Deno, which are installed for it: a long test.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pack, run } from './packed.mjs';

const files = {
  'module.mjs': `
    import { Cache } from 'dpcache';
    import { inlineWasm } from 'dpcache/inline';
    import { openFile } from 'dpcache/store';
    import { Cache as FarCache } from 'dpcache/worker';
    const cache = await Cache.create({ text: {} });
    cache.observe({ text: 'a line' });
    const inlined = await Cache.create({ dimension: 2 }, { wasm: inlineWasm() });
    const far = await FarCache.create({ dimension: 2 });
    await far.observe({ key: [1, 0] });
    const store = await openFile('kept.dpc');
    await store.read();
    await store.write(cache.save());
    const kept = await Cache.load(await store.read());
    console.log(cache.size, inlined.size, await far.size(), kept.size);
    await far.dispose();`,
  'common.cjs': `
    const { Cache } = require('dpcache');
    Cache.create({ dimension: 2 }).then((cache) => {
      cache.observe({ key: [1, 0] });
      console.log(cache.size);
    });`,
};

let packed;
let place;
before(() => {
  packed = pack();
  place = packed.project(files);
  const given = ['install', '--no-audit', '--no-fund', '--silent', 'bun@1.4.5', 'deno@2.9.6'];
  execFileSync('npm', given, { cwd: place });
});
after(() => packed.remove());

for (const [runtime, ...given] of [['bun'], ['deno', 'run', '--allow-all']]) {
  const program = () => join(place, 'node_modules/.bin', runtime);
  test(`${runtime}, a module`, () => {
    assert.equal(run(program(), [...given, 'module.mjs'], place), '1 0 1 1\n');
  });
  test(`${runtime}, CommonJS`, () => {
    assert.equal(run(program(), [...given, 'common.cjs'], place), '1\n');
  });
}

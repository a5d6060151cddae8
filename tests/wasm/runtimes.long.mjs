// The package in Bun and Deno, which are installed for it: a long test.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pack, run } from './packed.mjs';
import { serving, skip } from './serving.mjs';

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

// The server's address is put into the program.
const remote = (url, name) => `
    import { Cache } from 'dpcache';
    import { Cache as RemoteCache } from 'dpcache/remote';
    const options = { url: '${url}', name: '${name}' };
    const cache = await RemoteCache.create({ dimension: 2, tau: 0.1 }, options);
    const mirror = await Cache.load(await cache.save());
    const { promise, resolve } = Promise.withResolvers();
    await cache.onEvent((event) => {
      mirror.apply(event.bytes);
      if (event.seq === 3) resolve();
    });
    await cache.observe({ key: [1, 0], payload: { a: 1 } });
    await cache.observeBatch([{ key: [0, 1] }, { key: [0, 2] }]);
    await promise;
    const { stateHash } = await cache.stats();
    const refused = await cache.read([1]).catch((error) => [error.code, error.status]);
    console.log(mirror.stats().stateHash === stateHash, await cache.size(), refused.join());
    await cache.dispose();`;

let packed;
let place;
let server;
before(async () => {
  if (!skip) server = await serving();
  packed = pack();
  place = packed.project(files);
  const given = ['install', '--no-audit', '--no-fund', '--silent', 'bun@1.4.5', 'deno@2.9.6'];
  execFileSync('npm', given, { cwd: place });
});
after(async () => {
  packed.remove();
  await server?.close();
});

for (const [runtime, ...given] of [['bun'], ['deno', 'run', '--allow-all']]) {
  const program = () => join(place, 'node_modules/.bin', runtime);
  test(`${runtime}, a module`, () => {
    assert.equal(run(program(), [...given, 'module.mjs'], place), '1 0 1 1\n');
  });
  test(`${runtime}, CommonJS`, () => {
    assert.equal(run(program(), [...given, 'common.cjs'], place), '1\n');
  });
  test(`${runtime}, a server`, { skip }, () => {
    writeFileSync(join(place, 'remote.mjs'), remote(server.url, runtime));
    assert.equal(run(program(), [...given, 'remote.mjs'], place), 'true 2 bad_shape,422\n');
  });
}

// The shared vectors through the public API in Node.js, with SIMD and without, compared by bits.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { xxhash3 } from 'hash-wasm';
import { Cache } from 'dpcache';
import { canonical, expected, runVector } from './vector_runner.mjs';

const folder = new URL('../vectors/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
const dist = new URL('../../wasm/dist/', import.meta.url);

test('there are vectors', () => assert.ok(names.length >= 35));

for (const build of ['dpcache', 'dpcache-scalar']) {
  const wasm = new URL(`${build}.wasm`, dist);
  for (const name of names) {
    const script = JSON.parse(readFileSync(new URL(name, folder)));
    for (const batches of [false, true]) {
      test(`${build} ${name}${batches ? ' in batches' : ''}`, async () => {
        const { answers, stateHash, snapshot } = await runVector(Cache, script, { wasm, batches });
        assert.equal(canonical(answers), canonical(expected(script.answers)));
        assert.equal(stateHash, script.state_hash);
        assert.equal(await xxhash3(snapshot), script.snapshot_hash);
      });
    }
  }
}

test('a memory file loads and saves as the same bytes, in either build', async () => {
  for (const name of names) {
    const script = JSON.parse(readFileSync(new URL(name, folder)));
    const { snapshot } = await runVector(Cache, script);
    for (const build of ['dpcache', 'dpcache-scalar']) {
      const loaded = await Cache.load(snapshot, { wasm: new URL(`${build}.wasm`, dist) });
      assert.deepEqual(loaded.save(), snapshot, name);
      loaded.dispose();
    }
  }
});

// The shared vectors over dpcache/remote against a real server, compared by bits.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { xxhash3 } from 'hash-wasm';
import { Cache } from 'dpcache/remote';
import { serving, skip } from './serving.mjs';
import { canonical, expected, runVector } from './vector_runner.mjs';

const folder = new URL('../vectors/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));

test('there are vectors', () => assert.ok(names.length >= 35));

let server;
before(async () => {
  if (!skip) server = await serving();
});
after(() => server?.close());

for (const file of names) {
  const script = JSON.parse(readFileSync(new URL(file, folder)));
  for (const batches of [false, true]) {
    test(`a server: ${file}${batches ? ' in batches' : ''}`, { skip }, async () => {
      const name = `${file.slice(0, -5)}${batches ? '-batches' : ''}`;
      // Every second one is acknowledged before it is on the disk.
      const durability = batches ? 'sync' : 'relaxed';
      const options = { url: server.url, name, durability, batches };
      const { answers, stateHash, snapshot } = await runVector(Cache, script, options);
      assert.equal(canonical(answers), canonical(expected(script.answers)));
      assert.equal(stateHash, script.state_hash);
      assert.equal(await xxhash3(snapshot), script.snapshot_hash);
    });
  }
}

test('a memory file goes to a server and comes back as the same bytes', { skip }, async () => {
  for (const file of names) {
    const from = await Cache.open({ url: server.url, name: file.slice(0, -5) });
    const bytes = await from.save();
    const copy = await Cache.load(bytes, { url: server.url, name: 'copy' });
    assert.deepEqual(await copy.save(), bytes, file);
    await copy.remove();
  }
});

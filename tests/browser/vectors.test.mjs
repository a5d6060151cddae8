// The shared vectors through the public API in Chromium, with SIMD and without, compared by bits.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { xxhash3 } from 'hash-wasm';
import { expectedTraining } from '../wasm/train_runner.mjs';
import { canonical, expected } from '../wasm/vector_runner.mjs';
import { launch, root, serve } from './harness.mjs';

const folder = `${root}/tests/vectors`;
const jsonIn = (path) => readdirSync(path).filter((name) => name.endsWith('.json'));
const names = jsonIn(folder);

let server;
let browser;
let page;

before(async () => {
  server = await serve({
    '/': () => ({ type: 'text/html', body: '<!doctype html><title>vectors</title>' }),
    '/dist/': 'wasm/dist',
    '/tests/': 'tests/wasm',
  });
  browser = await launch();
  page = await browser.context.newPage();
  await page.goto(server.url);
});

after(async () => {
  await browser?.close();
  await server?.close();
});

for (const build of ['dpcache', 'dpcache-scalar']) {
  for (const name of names) {
    test(`${build} ${name}`, async () => {
      const script = JSON.parse(readFileSync(`${folder}/${name}`));
      const result = await page.evaluate(
        async ([script, build]) => {
          const { Cache } = await import('/dist/index.js');
          const { canonical, runVector } = await import('/tests/vector_runner.mjs');
          const wasm = new URL(`/dist/${build}.wasm`, location.href);
          const { answers, stateHash, snapshot } = await runVector(Cache, script, { wasm });
          return { answers: canonical(answers), stateHash, snapshot: Array.from(snapshot) };
        },
        [script, build],
      );
      assert.equal(result.answers, canonical(expected(script.answers)));
      assert.equal(result.stateHash, script.state_hash);
      assert.equal(await xxhash3(Uint8Array.from(result.snapshot)), script.snapshot_hash);
    });
  }
}

for (const name of jsonIn(`${folder}/train`)) {
  test(`training ${name}`, async () => {
    const script = JSON.parse(readFileSync(`${folder}/train/${name}`));
    const answers = await page.evaluate(async (script) => {
      const { runTraining } = await import('/tests/train_runner.mjs');
      return runTraining(await import('/dist/train.js'), script);
    }, script);
    assert.equal(canonical(answers), canonical(expectedTraining(script.answers)));
  });
}

// The package as its users get it: npm pack, npm install, then every way in which Node.js and
// TypeScript take it. tests/browser/package.test.mjs does the same for browsers.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { pack, root, run } from './packed.mjs';

let packed;
before(() => {
  packed = pack();
});
after(() => packed.remove());

const use = `
const cache = await Cache.create({ text: { masks: 'all' } });
cache.observe({ text: 'request 1 took 5 ms' });
cache.observe({ text: 'request 2 took 7 ms' });
console.log(cache.size, cache.stats().items);
`;

test('the tarball holds what it should, and nothing else', () => {
  const names = run('tar', ['-tzf', packed.tarball], root).trim().split('\n').sort();
  const outside = names.filter((name) => !name.startsWith('package/dist/'));
  assert.deepEqual(outside, [
    'package/LICENSE',
    'package/NOTICE',
    'package/README.md',
    'package/package.json',
  ]);
  const sources = readdirSync(join(root, 'wasm/src'));
  for (const name of names.filter((one) => one.startsWith('package/dist/'))) {
    const base = name.slice('package/dist/'.length).replace(/\.(js|cjs|d\.ts|d\.cts)$/, '');
    const known = sources.some((source) => source.replace(/(\.d)?\.ts$/, '') === base);
    assert.ok(known || /^(dpcache(-scalar)?|train|templates|guards|trust)\.wasm$/.test(base), `${name} is no longer made`);
  }
});

test('an ECMAScript module imports it', () => {
  const place = packed.project({ 'main.mjs': `import { Cache } from 'dpcache';\n${use}` });
  assert.equal(run('node', ['main.mjs'], place), '1 2\n');
});

test('a CommonJS module requires it, and has the same classes', () => {
  const text = `
    const { Cache, DpcacheError } = require('dpcache');
    const { openFile } = require('dpcache/store');
    const worker = require('dpcache/worker');
    const remote = require('dpcache/remote');
    const { inlineWasm } = require('dpcache/inline');
    const { train } = require('dpcache/train');
    (async () => {
      ${use}
      const imported = await import('dpcache');
      console.log(imported.Cache === Cache, imported.DpcacheError === DpcacheError);
      console.log(remote.DpcacheError === DpcacheError);
      const pairs = [0.1, 0.9].map((novelty) => ({ novelty, same: novelty < 0.5 }));
      console.log((await train(pairs)).gate.b.toFixed(2));
      console.log(typeof openFile, typeof worker.Cache.create, inlineWasm().length > 1000);
    })();`;
  const place = packed.project({ 'main.cjs': text });
  assert.equal(run('node', ['main.cjs'], place), '1 2\ntrue true\ntrue\n0.50\nfunction function true\n');
});

test('a server can import every entry, under any condition, and nothing happens', () => {
  const text = `
    const look = () => [Object.keys(globalThis).length, process.getActiveResourcesInfo().length];
    const before = look();
    for (const entry of ['', '/worker', '/store', '/remote', '/inline', '/train', '/templates', '/guards', '/trust', '/lines']) {
      await import('dpcache' + entry);
    }
    console.log(look().map((count, i) => count - before[i]).join());`;
  const place = packed.project({ 'main.mjs': text });
  const conditions = ['browser', 'worker', 'edge-light', 'workerd', 'development', 'production'];
  for (const condition of conditions) {
    assert.equal(run('node', [`--conditions=${condition}`, 'main.mjs'], place), '0,0\n', condition);
  }
});

test('the types hold under strict TypeScript, for modules, CommonJS and bundlers', () => {
  const use = `
    const cache: Cache = await Cache.create({ dimension: 3, tau: 0.2 });
    const { action, nearest, evicted } = cache.observe({ key: [1, 2, 3], payload: { a: [1] } });
    const word: 'allocate' | 'merge' = action;
    const miss: number | undefined = nearest?.similarity;
    const error: ErrorCode = 'bad_shape';
    const store: Store = await openFile('memory');
    // @ts-expect-error: a threshold is called tau
    await Cache.create({ dimension: 3, threshold: 0.2 });
    // @ts-expect-error: an id is a number
    cache.slot('1');
    const places: AsyncCache[] = [
      await worker.Cache.create({ dimension: 3 }),
      await remote.Cache.openOrCreate({ dimension: 3 }, { url: 'http://localhost', name: 'c' }),
    ];
    await places[0]!.observe({ key: [1, 2, 3] });
    // @ts-expect-error: a cache on a server has a name
    await remote.Cache.open({ url: 'http://localhost' });
    const learned: LearnedGate = await train([{ novelty: 0.1, same: true }]);
    if (learned.gate) await Cache.create({ dimension: 3, gate: learned.gate });
    const { tau }: { tau: number | null } = await calibrate([{ a: [1], b: [2], same: false }]);
    // @ts-expect-error: a pair says whether it is the same
    await train([{ novelty: 0.1 }]);
    const kinds = await Templates.create({ codes: 'fixed' });
    const best: Template | undefined = kinds.list({ top: 1 })[0];
    // @ts-expect-error: a line is a string
    kinds.learn(5);
    const guards = await Guards.create({ on: ['number', 'order'] });
    const spoken: Guard[] = guards.between('a', guards.facts('b'));
    // @ts-expect-error: there is no such guard
    await Guards.create({ on: ['numbers'] });
    const trusting = await trust.Cache.create({ dimension: 3, audit: 'full', guards: ['number'] });
    const lookup: trust.Lookup = trusting.lookup([1, 2, 3], { guardText: 'port 80' });
    // @ts-expect-error: there is no such guard
    await trust.Cache.create({ dimension: 3, guards: ['numbers'] });
    console.log(lookup.found === 'hit', trusting.members(1)[0]?.similarity);
    console.log(spoken, word, miss, evicted.length, error, store, tau, best?.parameters[0]?.name);
  `;
  const names = `
    import { Cache, type ErrorCode } from 'dpcache';
    import { openFile, type Store } from 'dpcache/store';
    import * as worker from 'dpcache/worker';
    import * as remote from 'dpcache/remote';
    import type { AsyncCache } from 'dpcache/remote';
    import { calibrate, train, type LearnedGate } from 'dpcache/train';
    import { Templates, type Template } from 'dpcache/templates';
    import { Guards, type Guard } from 'dpcache/guards';
    import * as trust from 'dpcache/trust';
    export type Far = worker.Cache;
  `;
  const files = {
    'module.mts': `${names}${use}`,
    'common.cts': `${names}export async function main(): Promise<void> {${use}}`,
    'bundled.ts': `${names}${use}`,
  };
  const place = packed.project(files, { type: 'module' });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  symlinkSync(join(root, 'node_modules/@types'), join(place, 'node_modules/@types'));
  const strict = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom,esnext.disposable'];
  const node = ['--types', 'node', '--module', 'nodenext'];
  run('node', [tsc, ...strict, ...node, 'module.mts', 'common.cts'], place);
  const bundler = ['--types', 'node', '--module', 'esnext', '--moduleResolution', 'bundler'];
  run('node', [tsc, ...strict, ...bundler, 'bundled.ts'], place);
});

test('the package is as small as it promises', async (context) => {
  const kilobyte = 1000;
  for (const name of ['dpcache.wasm', 'dpcache-scalar.wasm']) {
    const size = brotliCompressSync(readFileSync(join(root, 'wasm/dist', name))).length;
    context.diagnostic(`${name}: ${size} bytes by brotli`);
    assert.ok(size <= 60 * kilobyte, `${name}: ${size}`);
  }
  const learning = brotliCompressSync(readFileSync(join(root, 'wasm/dist/train.wasm'))).length;
  context.diagnostic(`train.wasm: ${learning} bytes by brotli`);
  assert.ok(learning <= 30 * kilobyte, `train.wasm: ${learning}`);
  const kinds = brotliCompressSync(readFileSync(join(root, 'wasm/dist/templates.wasm'))).length;
  context.diagnostic(`templates.wasm: ${kinds} bytes by brotli`);
  assert.ok(kinds <= 60 * kilobyte, `templates.wasm: ${kinds}`);
  const guards = brotliCompressSync(readFileSync(join(root, 'wasm/dist/guards.wasm'))).length;
  context.diagnostic(`guards.wasm: ${guards} bytes by brotli`);
  assert.ok(guards <= 60 * kilobyte, `guards.wasm: ${guards}`);
  const trusting = brotliCompressSync(readFileSync(join(root, 'wasm/dist/trust.wasm'))).length;
  context.diagnostic(`trust.wasm: ${trusting} bytes by brotli`);
  assert.ok(trusting <= 130 * kilobyte, `trust.wasm: ${trusting}`);
  const sizes = {};
  for (const entry of ['index', 'remote', 'train', 'templates', 'guards', 'trust']) {
    const bundle = await rolldown({
      input: join(root, `wasm/dist/${entry}.js`),
      external: (id) => id.endsWith('.wasm') || id.startsWith('node:'),
    });
    const { output } = await bundle.generate({ format: 'es', minify: true });
    sizes[entry] = brotliCompressSync(output[0].code).length;
    context.diagnostic(`JavaScript of ${entry}: ${sizes[entry]} bytes by brotli`);
    assert.equal(output.length, 1);
    // A server's client needs nothing of the WebAssembly.
    assert.equal(/\bWebAssembly\b/.test(output[0].code), entry !== 'remote', entry);
  }
  assert.ok(sizes.index <= 15 * kilobyte, `JavaScript: ${sizes.index}`);
  assert.ok(sizes.train <= 10 * kilobyte, `JavaScript of train: ${sizes.train}`);
  assert.ok(sizes.templates <= 10 * kilobyte, `JavaScript of templates: ${sizes.templates}`);
  assert.ok(sizes.guards <= 10 * kilobyte, `JavaScript of guards: ${sizes.guards}`);
  assert.ok(sizes.trust <= 20 * kilobyte, `JavaScript of trust: ${sizes.trust}`);
  assert.ok(sizes.remote <= 8 * kilobyte, `JavaScript of remote: ${sizes.remote}`);
});

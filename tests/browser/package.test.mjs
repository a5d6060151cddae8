// The package in Chromium as its users get it: through Vite, by an import map, under a strict policy.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pack, root, run } from '../wasm/packed.mjs';
import { launch, serve } from './harness.mjs';

const vite = join(root, 'node_modules/vite/bin/vite.js');
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";

// A page that uses the package on the main thread, in a worker of its own, and through its worker
// entry, and says of each how it went.
const files = {
  'index.html': `<!doctype html><html lang="en"><title>page</title>
    <link rel="icon" href="data:,"><script type="module" src="./main.js"></script></html>`,
  'use.js': `import { Cache } from 'dpcache';
    export async function use(options) {
      const cache = await Cache.create({ text: { masks: 'all' } }, options);
      cache.observe({ text: 'request 1 took 5 ms' });
      cache.observe({ text: 'request 2 took 7 ms' });
      return cache.size;
    }`,
  'own-worker.js': `import { use } from './use.js';
    use().then((size) => postMessage('slots: ' + size), (error) => postMessage(String(error)));`,
  'main.js': `import { Cache } from 'dpcache';
    import { Cache as FarCache } from 'dpcache/worker';
    import { openIndexedDB } from 'dpcache/store';
    import { use } from './use.js';
    const inOwnWorker = () => new Promise((resolve) => {
      const worker = new Worker(new URL('./own-worker.js', import.meta.url), { type: 'module' });
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => resolve('failed: ' + message);
    });
    const inItsWorker = async () => {
      const cache = await FarCache.create({ text: { masks: 'all' } });
      await cache.observe({ text: 'request 1 took 5 ms' });
      await cache.observe({ text: 'request 2 took 7 ms' });
      return 'slots: ' + (await cache.slots()).length;
    };
    const inStore = async () => {
      const store = await openIndexedDB('memory');
      const cache = await Cache.create({ dimension: 2 });
      cache.observe({ key: [1, 0] });
      await store.read();
      await store.write(cache.save());
      return 'slots: ' + (await Cache.load(await store.read())).size;
    };
    const say = (promise) => promise.catch((error) => String(error));
    window.done = Promise.all([
      say(use().then((size) => 'slots: ' + size)),
      say(inOwnWorker()),
      say(inItsWorker()),
      say(inStore()),
    ]);`,
};
const well = ['slots: 1', 'slots: 1', 'slots: 1', 'slots: 1'];

let packed;
let place;
let browser;
before(async () => {
  packed = pack();
  place = packed.project(files, { type: 'module' });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  packed?.remove();
});

// What the page says, and what went wrong around it.
async function visit(url) {
  const page = await browser.context.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol === 'http:' && origin !== new URL(url).origin) problems.push(request.url());
  });
  await page.goto(url);
  await page.waitForFunction(() => window.done);
  const said = await page.evaluate(() => window.done);
  await page.close();
  return { said, problems };
}

test('Vite’s development server', { timeout: 60_000 }, async () => {
  const server = spawn(process.execPath, [vite, '--port', '0', '--clearScreen', 'false'], { cwd: place });
  try {
    const url = await new Promise((resolve, reject) => {
      let output = '';
      server.stdout.on('data', (data) => {
        output += data;
        // eslint-disable-next-line no-control-regex
        const found = /http:\/\/localhost:\d+\//.exec(output.replace(/\u001b\[\d+m/g, ''));
        if (found) resolve(found[0]);
      });
      server.on('exit', () => reject(new Error(output)));
    });
    await visit(url); // the first visit finds the dependencies, and loads the page again
    assert.deepEqual(await visit(url), { said: well, problems: [] });
  } finally {
    server.kill();
  }
});

test('Vite’s build, under a policy without eval', async () => {
  run(process.execPath, [vite, 'build'], place);
  const server = await serve({ '/': join(place, 'dist') }, { 'content-security-policy': `${policy}; img-src data:` });
  assert.deepEqual(await visit(server.url), { said: well, problems: [] });
  await server.close();
});

test('a plain module script with an import map, under the same policy', async () => {
  const map = JSON.stringify({
    imports: {
      dpcache: '/package/index.js',
      'dpcache/worker': '/package/worker.js',
      'dpcache/store': '/package/store.js',
    },
  });
  const { createHash } = await import('node:crypto');
  const hash = createHash('sha256').update(map).digest('base64');
  const body = files['index.html'].replace('<script', `<script type="importmap">${map}</script><script`);
  // Workers know no import maps: theirs names the file.
  const ownWorker = files['own-worker.js'].replace('./use.js', './worker-use.js');
  const workerUse = files['use.js'].replace("'dpcache'", "'/package/index.js'");
  const served = (type, body) => () => ({ type, body });
  const server = await serve(
    {
      '/': served('text/html', body),
      '/main.js': served('text/javascript', files['main.js']),
      '/use.js': served('text/javascript', files['use.js']),
      '/own-worker.js': served('text/javascript', ownWorker),
      '/worker-use.js': served('text/javascript', workerUse),
      '/package/': join(place, 'node_modules/dpcache/dist'),
    },
    { 'content-security-policy': `${policy.replace("'self' 'wasm", `'self' 'sha256-${hash}' 'wasm`)}; img-src data:` },
  );
  assert.deepEqual(await visit(server.url), { said: well, problems: [] });
  await server.close();
});

test('the inlined WebAssembly needs no file', async () => {
  const server = await serve({
    '/': () => ({ type: 'text/html', body: '<!doctype html><link rel="icon" href="data:,">' }),
    '/package/': join(place, 'node_modules/dpcache/dist'),
  });
  const page = await browser.context.newPage();
  await page.goto(server.url);
  const size = await page.evaluate(async () => {
    const { Cache } = await import('/package/index.js');
    const { inlineWasm } = await import('/package/inline.js');
    const cache = await Cache.create({ dimension: 2 }, { wasm: inlineWasm() });
    cache.observe({ key: [1, 0] });
    return cache.size;
  });
  assert.equal(size, 1);
  assert.ok(!server.requests.some((path) => path.endsWith('.wasm')));
  await page.close();
  await server.close();
});

test('an engine without SIMD gets the scalar build', async () => {
  const server = await serve({
    '/': () => ({ type: 'text/html', body: '<!doctype html><link rel="icon" href="data:,">' }),
    '/package/': join(place, 'node_modules/dpcache/dist'),
  });
  const page = await browser.context.newPage();
  await page.addInitScript(() => {
    const { validate } = WebAssembly;
    // As an engine that does not know the v128 type.
    WebAssembly.validate = (bytes) => !new Uint8Array(bytes).includes(123) && validate(bytes);
  });
  await page.goto(server.url);
  const [simd, size] = await page.evaluate(async () => {
    const { Cache, hasSimd } = await import('/package/index.js');
    const cache = await Cache.create({ dimension: 2 });
    cache.observe({ key: [1, 0] });
    return [hasSimd(), cache.size];
  });
  assert.deepEqual([simd, size], [false, 1]);
  assert.deepEqual(
    server.requests.filter((path) => path.endsWith('.wasm')),
    ['/package/dpcache-scalar.wasm'],
  );
  await page.close();
  await server.close();
});

test('a missing file is an error that says what to do', async () => {
  const copy = join(place, 'without');
  cpSync(join(place, 'node_modules/dpcache/dist'), copy, {
    recursive: true,
    filter: (name) => !name.endsWith('.wasm'),
  });
  const server = await serve({
    '/': () => ({ type: 'text/html', body: '<!doctype html><link rel="icon" href="data:,">' }),
    '/package/': copy,
  });
  const page = await browser.context.newPage();
  await page.goto(server.url);
  const [code, message] = await page.evaluate(async () => {
    const { Cache } = await import('/package/index.js');
    return Cache.create({ dimension: 2 }).catch((error) => [error.code, error.message]);
  });
  assert.equal(code, 'unavailable');
  assert.match(message, /dpcache\.wasm.*404/);
  await page.close();
  await server.close();
});

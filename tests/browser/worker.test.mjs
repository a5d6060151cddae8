// The worker entry in Chromium: off the page's thread, under a strict policy, and when workers die.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { launch, serve } from './harness.mjs';

let server;
let strict;
let browser;
let page;
let problems;

const script = (body) => () => ({ type: 'text/javascript', body });
const folders = {
  '/': () => ({
    type: 'text/html',
    body: '<!doctype html><title>worker</title><script type="module" src="/page.js"></script>',
  }),
  '/page.js': script(`
    import * as main from '/dist/index.js';
    import * as worker from '/dist/worker.js';
    let evals = 'allowed';
    try {
      new Function('return 1')();
    } catch (error) {
      evals = error.name;
    }
    Object.assign(globalThis, { main, worker, evals, ready: true });`),
  // A worker that uses both entries itself.
  '/nested.js': script(`
    import * as main from '/dist/index.js';
    import * as worker from '/dist/worker.js';
    addEventListener('message', async () => {
      try {
        const here = await main.Cache.create({ dimension: 2 });
        const there = await worker.Cache.create({ dimension: 2 });
        const item = { key: [3, 4], time: 1 };
        here.observe(item);
        await there.observe(item);
        postMessage([typeof document, here.stats().stateHash === (await there.stats()).stateHash]);
      } catch (error) {
        postMessage(String(error.stack));
      }
    });`),
  '/dist/': 'wasm/dist',
};

before(async () => {
  server = await serve(folders);
  strict = await serve(folders, {
    'content-security-policy': "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'",
  });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
  await strict?.close();
});

beforeEach(async () => {
  problems = [];
  page = await browser.context.newPage();
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.goto(server.url);
  await page.waitForFunction(() => globalThis.ready);
});

afterEach(async () => {
  await page.close();
  assert.deepEqual(problems, []);
});

// What a test makes in the page: decisions, readings and the memory, as the main entry has them.
const compare = () =>
  page.evaluate(async () => {
    const config = { text: { masks: 'all' } };
    const here = await main.Cache.create(config);
    const there = await worker.Cache.create(config);
    const items = Array.from({ length: 300 }, (_, i) => ({
      text: ['disk', 'user', 'link'][i % 3] + ` ${i} is ${['full', 'gone'][i % 2]}`,
      payload: { i, at: new Date(0) },
      time: i,
    }));
    const differ = [];
    const same = (name, x, y) => JSON.stringify(x) === JSON.stringify(y) || differ.push(name);
    same('decisions', here.observeBatch(items), await there.observeBatch(items));
    same('read', here.read({ text: 'disk 7' }), await there.read({ text: 'disk 7' }));
    same('slots', here.slots(), await there.slots());
    const saved = await there.save();
    same('save', [...here.save()], [...saved]);
    same('load', here.config, await (await worker.Cache.load(saved)).config());
    await there.observe({ key: 'bad!' }).catch(({ code, errors }) => {
      const error = (() => {
        try {
          here.observe({ key: 'bad!' });
        } catch (thrown) {
          return thrown;
        }
      })();
      same('error', [code, errors], [error.code, error.errors]);
    });
    const encoder = await worker.Encoder.create({ dimension: 32 });
    const own = await main.Encoder.create({ dimension: 32 });
    same('encode', [...(await encoder.encode('a b')), encoder.id], [...own.encode('a b'), own.id]);
    return { differ, hash: (await there.stats()).stateHash };
  });

test('gives what the main entry gives', async () => {
  const { differ, hash } = await compare();
  assert.deepEqual(differ, []);
  assert.match(hash, /^[0-9a-f]{16}$/);
  assert.equal(page.workers().length, 1, 'one worker for all');
});

test('runs under a strict policy, with no eval and no inline script', async () => {
  await page.goto(strict.url);
  await page.waitForFunction(() => globalThis.ready);
  assert.equal(await page.evaluate(() => evals), 'EvalError', 'the policy does nothing');
  assert.deepEqual((await compare()).differ, []);
  problems = problems.filter((text) => !text.includes('unsafe-eval'));
});

test('runs in a worker, where there is no document', async () => {
  const outcome = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const nested = new Worker('/nested.js', { type: 'module' });
        nested.onmessage = ({ data }) => resolve(data);
        nested.onerror = ({ message }) => resolve(message);
        nested.postMessage('go');
      }),
  );
  assert.deepEqual(outcome, ['undefined', true]);
});

test('leaves the page its time', async () => {
  const { ticks, busy } = await page.evaluate(async () => {
    const cache = await worker.Cache.create({ dimension: 256, tau: 0.01 });
    const key = (i) => Float32Array.from({ length: 256 }, (_, j) => Math.sin(1 + i * (j + 1) ** 1.5));
    const items = Array.from({ length: 6000 }, (_, i) => ({ key: key(i) }));
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const work = cache.observeBatch(items);
    const started = performance.now();
    await work;
    const busy = performance.now() - started;
    clearInterval(timer);
    return { ticks, busy };
  });
  assert.ok(busy > 100, 'too little work to see anything');
  assert.ok(ticks > busy / 40, `${ticks} ticks in ${busy} ms`);
});

test('rejects what is pending when a worker is terminated, which no event tells', async () => {
  const outcome = await page.evaluate(async () => {
    const thread = new Worker('/dist/worker-thread.js', { type: 'module' });
    const cache = await worker.Cache.create({ dimension: 2 }, { worker: thread });
    await cache.observe({ key: [1, 0] });
    const pending = [cache.size(), cache.save()];
    thread.terminate();
    const codes = (await Promise.allSettled(pending)).map(({ reason }) => reason?.code);
    const late = await cache.size().catch(({ code, message }) => [code, message]);
    await cache.dispose();
    const other = await worker.Cache.create({ dimension: 2 });
    return { codes, late, other: await other.size() };
  });
  assert.deepEqual(outcome.codes, ['unavailable', 'unavailable']);
  assert.equal(outcome.late[0], 'unavailable');
  assert.match(outcome.late[1], /worker has ended \(it was terminated/);
  assert.equal(outcome.other, 0);
});

test('rejects if the script of a worker is not there, or the WebAssembly', async () => {
  const codes = await page.evaluate(async () => {
    const code = (promise) =>
      Promise.race([
        promise.then(() => 'done', (error) => error.code),
        new Promise((late) => setTimeout(late, 5000, 'late')),
      ]);
    const there = await worker.Cache.create({ dimension: 2 });
    const thread = new Worker('/no-such.js', { type: 'module' });
    return [
      await code(worker.Cache.create({ dimension: 2 }, { worker: thread })),
      await code(worker.Cache.create({ dimension: 2 }, { wasm: '/no-such.wasm' })),
      await code(worker.Cache.create({ dimension: 2 }, { wasm: 'dist/dpcache-scalar.wasm' })),
      await code(worker.Cache.create({ dimension: 2 }, { wasm: fetch('/dist/dpcache.wasm') })),
      await code(there.size()),
    ];
  });
  assert.deepEqual(codes, ['unavailable', 'unavailable', 'done', 'done', 'done']);
  problems = problems.filter((text) => !/404|WebSocket/.test(text));
});

test('ends a worker of its own with its cache, and the shared one when it has been idle', async () => {
  const count = () => page.workers().length;
  await page.evaluate(async () => {
    globalThis.own = await worker.Cache.create({ dimension: 2 }, { worker: 'own' });
    globalThis.shared = [1, 2].map(() => worker.Cache.create({ dimension: 2 }));
    globalThis.shared = await Promise.all(shared);
  });
  assert.equal(count(), 2);
  await page.evaluate(() => own.dispose());
  await page.waitForTimeout(300);
  assert.equal(count(), 1);
  await page.evaluate(async () => {
    for (const cache of shared) await cache.dispose();
    globalThis.again = await worker.Cache.create({ dimension: 2 });
  });
  await page.waitForTimeout(5500);
  assert.equal(count(), 1, 'it is used again');
  await page.evaluate(() => again.dispose());
  await page.waitForTimeout(5500);
  assert.equal(count(), 0);
  assert.equal(await page.evaluate(async () => (await worker.Cache.create({ dimension: 2 })).size()), 0);
});

test('hands a large memory over without copying it', async () => {
  const outcome = await page.evaluate(async () => {
    const cache = await worker.Cache.create({ dimension: 2 });
    await cache.observe({ key: [1, 0], payload: 'x'.repeat(1e6) });
    const bytes = await cache.save();
    const copied = await worker.Cache.load(bytes);
    const before = bytes.length;
    const moved = await worker.Cache.load(bytes, { transfer: true });
    return [before > 1e6, bytes.length, await copied.size(), await moved.size()];
  });
  assert.deepEqual(outcome, [true, 0, 1, 1]);
});

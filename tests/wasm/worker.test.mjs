// The worker entry in Node.js: the same answers as the main entry, and what happens to threads.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, describe, mock, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import * as main from 'dpcache';
import { Cache, DpcacheError, Encoder } from 'dpcache/worker';
import { serve } from '../../wasm/dist/worker-host.js';

const dist = new URL('../../wasm/dist/', import.meta.url);
const threadFile = new URL('worker-thread-node.js', dist);
const run = promisify(execFile);
const here = new URL('.', import.meta.url);

// Runs a module in a process of its own; rejects if it does not end by itself.
async function inProcess(source, flags = []) {
  const args = [...flags, '--input-type=module', '-e', source];
  const { stdout } = await run(process.execPath, args, { cwd: here, timeout: 20_000 });
  return stdout;
}

// Workers of a user keep the process alive until they are ended.
const workers = [];
after(() => Promise.all(workers.map((worker) => worker.terminate())));
function started(...args) {
  workers.push(new Worker(...args));
  return workers.at(-1);
}

// A worker that counts what goes through it.
function watched() {
  const worker = started(threadFile, { execArgv: [] });
  const sent = [];
  const received = [];
  const post = worker.postMessage.bind(worker);
  worker.postMessage = (message, transfer) => {
    sent.push({ ...message, transfer });
    post(message, transfer);
  };
  worker.on('message', (message) => received.push(message));
  return { worker, sent, received };
}

// What a call gives or throws, as data.
async function outcome(call) {
  try {
    return { value: await call() };
  } catch (error) {
    assert.ok(error instanceof Error);
    const { name, code, message, errors } = error;
    return { name, code, message, errors };
  }
}

// Makes Node resolve as a bundler for browsers does, without the condition "node".
const kNoNode = `import { register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(\`
    export const resolve = (name, context, next) =>
      next(name, { ...context, conditions: ['import', 'default'] });\`));`;

const three = (...x) => Float32Array.from(x);

describe('a cache in a worker', () => {
  // Each is one call; `main` and `worker` caches get the same ones, one after the other.
  const calls = {
    'an item opens a slot': (c) => c.observe({ key: three(1, 0, 0), payload: { a: [1] }, time: 5 }),
    'an item joins it': (c) => c.observe({ key: [2, 0.1, 0], exactKey: 'x', time: 6 }),
    'base64 is a key': (c) => c.observe({ key: 'AAAAAAAAgD8AAAAA', time: 7, ttlMs: 1000 }),
    'a batch': (c) =>
      c.observeBatch([
        { key: three(0, 0, 1), payload: new Date(0), time: 8 },
        { key: three(0, 0, 1), payload: Uint8Array.of(34, 120, 34), time: 8 },
        { key: three(-1, 0, 0), payload: { toJSON: () => 'said' }, time: 9 },
      ]),
    'an empty batch': (c) => c.observeBatch([]),
    'no text without an encoder': (c) => c.observe({ text: 'no' }),
    'a wrong type': (c) => c.observe({ key: 7 }),
    'a wrong length': (c) => c.observe({ key: [1, 2] }),
    'a zero vector': (c) => c.observe({ key: [0, 0, 0] }),
    'NaN': (c) => c.observe({ key: three(1, NaN, 0) }),
    'a field that is misspelt': (c) => c.observe({ key: [1, 2, 3], exact_key: 'x' }),
    'a payload that is not JSON': (c) => c.observe({ key: [1, 2, 3], payload: () => 1 }),
    'a payload that refers to itself': (c) => {
      const loop = {};
      loop.loop = loop;
      return c.observe({ key: [1, 2, 3], payload: loop });
    },
    'an exact key that UTF-8 cannot hold': (c) => c.observe({ key: [1, 2, 3], exactKey: 'a\ud800' }),
    'a name that UTF-8 cannot hold': (c) => c.setMetadata({ '\udc00': '' }),
    'options that are none': (c) => c.slots(null),
    'options that are text': (c) => c.consolidate('all'),
    'no item': (c) => c.observe(null),
    'a batch of good and bad items': (c) =>
      c.observeBatch([
        { key: [1, 0, 0] },
        { key: 'not base64!' },
        { key: [0, 0, 0] },
        { key: [1, 0, 0], time: 'now' },
        null,
        { key: [1, Infinity, 0] },
      ]),
    'a batch that is no list': (c) => c.observeBatch({ key: [1, 0, 0] }),
    'read': (c) => c.read(three(1, 1, 0), { k: 2, time: 10 }),
    'read a key in an object': (c) => c.read({ key: [1, 1, 0] }, { time: null }),
    'read what has expired': (c) => c.read([0, 1, 0], { time: 5000 }),
    'read with a bad k': (c) => c.read([0, 1, 0], { k: -1 }),
    'nearest': (c) => c.nearest([0, 0.2, 1], { time: 10 }),
    'nearest of nothing': (c) => c.nearest(undefined),
    'score': (c) => c.score([[1, 0, 0], { key: three(0, 1, 0) }], { k: 2, time: 10 }),
    'score rows': (c) => c.score(three(1, 0, 0, 0, 1, 0), { k: 1, time: 10 }),
    'score half a row': (c) => c.score(three(1, 0, 0, 0)),
    'score good and bad queries': (c) => c.score([[1, 0, 0], 5, [0, 0, 0]]),
    'slot': (c) => c.slot(1),
    'no such slot': (c) => c.slot(99),
    'slot of a text': (c) => c.slot('1'),
    'slots': (c) => c.slots(),
    'some slots': (c) => c.slots({ after: 1, limit: 2 }),
    'erase': (c) => c.erase(1, { time: 11 }),
    'erase again': (c) => c.erase(1),
    'consolidate': (c) => c.consolidate({ similarity: 0.5, time: 12 }),
    'consolidate to nonsense': (c) => c.consolidate({ similarity: NaN }),
    'configure': (c) => c.configure({ tau: 0.2, maxSlots: 3 }, { time: 13 }),
    'configure what cannot change': (c) => c.configure({ dimension: 4 }),
    'configure what is out of range': (c) => c.configure({ tau: 3 }),
    'configure a function': (c) => c.configure({ tau: () => 1 }),
    'metadata': (c) => c.setMetadata({ whose: 'mine' }),
    'metadata that is none': (c) => c.setMetadata(null),
    'metadata of a reserved name': (c) => c.setMetadata({ 'dpcache.config': '' }),
    'metadata again': (c) => c.metadata(),
    'config': (c) => (typeof c.config === 'function' ? c.config() : c.config),
    'size': (c) => (typeof c.size === 'function' ? c.size() : c.size),
    'stats': (c) => c.stats(),
    'warning': (c) => c.warning(),
    'apply nonsense': (c) => c.apply(Uint8Array.of(1, 2, 3)),
    'apply no bytes': (c) => c.apply('event'),
    'save': (c) => c.save(),
  };
  const config = { dimension: 3, tau: 0.3, keepSums: true };

  test('answers as the main entry does, errors too', async () => {
    const there = await Cache.create(config);
    const here = await main.Cache.create(config);
    for (const [name, call] of Object.entries(calls)) {
      const wanted = await outcome(() => call(here));
      const got = await outcome(() => call(there));
      if (wanted.code === 'bad_config' && name === 'configure a function') {
        assert.equal(got.code, 'bad_config'); // it cannot be sent, so it is said in other words
        continue;
      }
      if (wanted.value?.bytes) wanted.value.bytes = got.value.bytes; // memory held, about
      assert.deepEqual(got, wanted, name);
    }
    await there.dispose();
    here.dispose();
  });

  test('has every method of the main entry', () => {
    const inner = ['core', 'ask', 'alter']; // protected: for dpcache/trust
    const methods = (klass) =>
      Object.getOwnPropertyNames(klass.prototype).filter((name) => !inner.includes(name));
    for (const name of methods(main.Cache)) assert.ok(name in Cache.prototype, name);
    for (const name of methods(main.Encoder)) assert.ok(name in Encoder.prototype, name);
    for (const name of ['create', 'load']) assert.equal(typeof Cache[name], 'function');
  });

  test('refuses the configs that the main entry refuses', async () => {
    const configs = [
      null,
      [],
      {},
      { dimension: 0 },
      { dimension: 3, tau: 7 },
      { dimension: 3, tau: 0.1, gate: { a: 1, b: 1 } },
      { dimension: 3, value_dimension: 2 },
      { text: { dimension: 7 } },
      { text: { masks: 'nothing' } },
      { text: { ownMasks: [{ name: 'UP', pattern: /x/ }] } },
    ];
    for (const config of configs) {
      const wanted = await outcome(() => main.Cache.create(config));
      assert.ok(wanted.code, JSON.stringify(config));
      assert.deepEqual(await outcome(() => Cache.create(config)), wanted);
    }
  });

  test('saves the bytes of the main entry, and loads them', async () => {
    const text = { masks: 'all', ownMasks: [{ name: 'user', pattern: /user-\w+/ }] };
    const item = { text: 'user-ann has 3 items', time: 1, payload: 'é' };
    const [there, here] = [await Cache.create({ text }), await main.Cache.create({ text })];
    await there.observe(item);
    here.observe(item);
    const saved = await there.save();
    assert.deepEqual(saved, here.save());

    const loaded = await Cache.load(saved, { ownMasks: text.ownMasks });
    assert.equal((await loaded.observe({ text: 'user-bob has 4 items' })).action, 'merge');
    assert.equal((await loaded.slot(1)).payload, 'é');
    assert.equal(saved.length, here.save().length, 'load() copies');
    const without = async (klass) => (await klass.load(saved)).observe({ text: 'user-x' });
    const refused = await outcome(() => without(main.Cache));
    assert.ok(refused.code, 'without the masks of its own it takes no texts');
    assert.deepEqual(await outcome(() => without(Cache)), refused);
    await assert.rejects(Cache.load(saved.subarray(1)), { code: 'bad_snapshot' });
    await assert.rejects(Cache.load('path'), { code: 'bad_request' });
    const given = saved.slice();
    await Cache.load(given, { ownMasks: text.ownMasks, transfer: true });
    assert.equal(given.length, 0, 'transferred');
  });

  test('carries calls out in their order, without waiting', async () => {
    const cache = await Cache.create({ dimension: 2, tau: 0.01 });
    const turn = (i) => [Math.cos(i), Math.sin(i)];
    const all = await Promise.all([
      ...Array.from({ length: 200 }, (_, i) => cache.observe({ key: turn(i), time: i })),
      cache.size(),
      cache.erase(1),
      cache.size(),
    ]);
    const before = all[200];
    assert.ok(before > 10);
    assert.equal(all[202], before - 1);
    assert.equal((await cache.stats()).items, 200);
    await cache.dispose();
  });

  test('copies arguments as they are at the call, also parts of a buffer', async () => {
    const cache = await Cache.create({ dimension: 2, valueDimension: 1, tau: 0.1 });
    const buffer = Float32Array.of(9, 1, 0, 5, 9);
    const [key, value] = [buffer.subarray(1, 3), buffer.subarray(3, 4)];
    const made = cache.observe({ key, value });
    buffer.fill(7);
    await made;
    assert.equal(key.length, 2);
    assert.deepEqual((await cache.slot(1)).key, Float32Array.of(1, 0));
    assert.deepEqual((await cache.slot(1)).value, Float32Array.of(5));
    const shared = new Float32Array(new SharedArrayBuffer(8));
    shared[1] = 1;
    await cache.observe({ key: shared, value: [1] }, { transfer: true });
    assert.deepEqual((await cache.slot(2)).key, Float32Array.of(0, 1));
    await cache.dispose();
  });

  test('takes buffers over where it is told to', async () => {
    const cache = await Cache.create({ dimension: 2 });
    const key = Float32Array.of(1, 0);
    const rows = Float32Array.of(1, 0, 0, 1);
    const query = Float32Array.of(1, 1);
    await cache.observe({ key }, { transfer: true });
    const batch = [rows.subarray(0, 2), rows.subarray(2, 4)].map((key) => ({ key }));
    const decisions = await cache.observeBatch(batch, { transfer: true });
    assert.deepEqual(decisions.map(({ action }) => action), ['merge', 'allocate']);
    assert.equal((await cache.nearest(query, { transfer: true })).slot, 1);
    for (const array of [key, rows, query]) assert.equal(array.length, 0);
    await assert.rejects(cache.observe({ key }), { code: 'bad_shape' });
    assert.equal((await cache.stats()).items, 3);
    await cache.dispose();
  });

  test('sends one message for a batch and gets one back, with its events', async () => {
    const { worker, sent, received } = watched();
    const cache = await Cache.create({ dimension: 3 }, { worker });
    const events = [];
    const stop = await cache.onEvent((event) => events.push(event));
    sent.length = received.length = 0;
    const items = Array.from({ length: 500 }, (_, i) => ({ key: [i, 1, 500 - i] }));
    await cache.observeBatch(items);
    assert.equal(sent.length, 1);
    assert.equal(received.length, 1);
    assert.equal(events.length, 500);
    stop();
    await cache.observeBatch(items);
    assert.equal(events.length, 500);
    assert.ok(!('events' in received.at(-1)), 'nobody listens, so nothing is sent');
    await cache.dispose();
  });

  test('tells of events before the call is settled, and they rebuild the cache', async () => {
    const [cache, copy] = [await Cache.create({ dimension: 2 }), await Cache.create({ dimension: 2 })];
    const log = [];
    const stop = await cache.onEvent((event) => log.push(event));
    await cache.observe({ key: [1, 0], payload: 1, time: 1 }).then(() => log.push('settled'));
    await cache.erase(1, { time: 2 });
    assert.deepEqual(log.map((event) => event.kind ?? event), ['observe', 'settled', 'erase']);
    for (const event of log) if (event.bytes) await copy.apply(event.bytes);
    assert.equal((await copy.stats()).stateHash, (await cache.stats()).stateHash);
    const event = log[0].bytes;
    await assert.rejects(copy.apply(event), { code: 'conflict' });
    assert.ok(event.length > 0);
    stop();
    stop();
    await cache.observe({ key: [1, 0] });
    assert.equal(log.length, 3);
    await Promise.all([cache.dispose(), copy.dispose()]);
  });

  test('tells one listener on when another leaves', async () => {
    const cache = await Cache.create({ dimension: 2 });
    const heard = [0, 0];
    const stops = await Promise.all([0, 1].map((i) => cache.onEvent(() => ++heard[i])));
    await cache.observe({ key: [1, 0] });
    stops[0]();
    await cache.observe({ key: [1, 0] });
    stops[1]();
    await cache.observe({ key: [1, 0] });
    assert.deepEqual(heard, [1, 2]);
    await cache.dispose();
  });

  test('accepts reactive objects, which cannot be cloned', async () => {
    const reactive = (x) =>
      new Proxy(x, {
        get(target, name) {
          const value = Reflect.get(target, name);
          return Object.prototype.toString.call(value) === '[object Object]' || Array.isArray(value)
            ? reactive(value)
            : value;
        },
      });
    assert.throws(() => structuredClone(reactive({})));
    const text = { masks: ['number'], ownMasks: [{ name: 'x', pattern: /x+/ }] };
    const cache = await Cache.create(reactive({ text }));
    await cache.observe(reactive({ text: 'a 1', payload: { deep: [1, { x: 2 }] } }));
    assert.deepEqual((await cache.slot(1)).payload, { deep: [1, { x: 2 }] });
    await cache.dispose();
    const gated = await Cache.create(reactive({ dimension: 2, gate: { a: 5, b: 0.2 } }));
    await gated.observeBatch(reactive([{ key: [1, 2] }]));
    await gated.dispose();
  });
});

test('an encoder in a worker makes the vectors of the main entry', async () => {
  const config = { dimension: 64, seed: 7, masks: 'number,hex' };
  const [there, here] = [await Encoder.create(config), await main.Encoder.create(config)];
  assert.equal(there.id, here.id);
  assert.equal(there.dimension, 64);
  assert.deepEqual(await there.encode('disk 7 is full'), here.encode('disk 7 is full'));
  assert.equal(await there.mask('disk 7'), here.mask('disk 7'));
  await assert.rejects(there.encode(7), { code: 'bad_request' });
  await assert.rejects(Encoder.create({ dimension: 1 }), { code: 'bad_config' });
  await there[Symbol.asyncDispose]();
  await assert.rejects(there.encode('x'), { code: 'disposed' });
});

describe('the end', () => {
  test('of a cache: what was asked before is answered, what comes later is refused', async () => {
    const cache = await Cache.create({ dimension: 2 });
    const before = cache.observe({ key: [1, 0] });
    const ended = cache.dispose();
    const late = assert.rejects(cache.observe({ key: [1, 0] }), { code: 'disposed' });
    assert.equal((await before).slot, 1);
    await Promise.all([ended, late, cache.dispose()]);
    for (const name of ['size', 'config', 'stats', 'save', 'metadata', 'warning', 'slots']) {
      await assert.rejects(cache[name](), (error) => {
        assert.ok(error instanceof DpcacheError);
        return error.code === 'disposed';
      });
    }
  });

  test('of a worker rejects all that is pending, and all that comes', async () => {
    const { worker } = watched();
    const cache = await Cache.create({ dimension: 2, tau: 0 }, { worker });
    const other = await Cache.create({ dimension: 2 });
    // So much that the thread cannot have answered before it is terminated, in this turn.
    const much = Array.from({ length: 20_000 }, (_, i) => ({ key: [1, i] }));
    const pending = [cache.observeBatch(much), cache.save(), cache.size()];
    const lost = { name: 'DpcacheError', code: 'unavailable', message: /worker has ended/ };
    const refused = pending.map((call) => assert.rejects(call, lost));
    worker.terminate();
    await Promise.all(refused);
    await assert.rejects(cache.observe({ key: [1, 0] }), lost);
    await assert.rejects(Cache.create({ dimension: 2 }, { worker }), lost);
    await cache.dispose();
    assert.equal(await other.size(), 0, 'others live');
    await other.dispose();
  });

  test('of a thread that throws on its own is told with the reason', async () => {
    const source = `import(${JSON.stringify(threadFile.href)}).then(() =>
      require('node:worker_threads').parentPort.on('message', (message) => {
        if (message === 'die') throw new Error('told to');
      }));`;
    const worker = started(source, { eval: true, execArgv: [] });
    const cache = await Cache.create({ dimension: 2 }, { worker });
    worker.postMessage('die');
    const call = cache.size().then(() => cache.size()).then(() => pause(500)).then(() => cache.size());
    await assert.rejects(call, { code: 'unavailable', message: /told to/ });
  });

  test('of a script that is not there', async () => {
    const worker = started(new URL('no-such-file.js', dist), { execArgv: [] });
    await assert.rejects(Cache.create({ dimension: 2 }, { worker }), { code: 'unavailable' });
  });

  test('of patience with a worker that runs something else', async () => {
    const worker = started('setInterval(() => {}, 1000)', { eval: true, execArgv: [] });
    mock.timers.enable({ apis: ['setTimeout'] });
    const made = assert.rejects(Cache.create({ dimension: 2 }, { worker }), {
      code: 'unavailable',
      message: /does not answer/,
    });
    mock.timers.tick(60_000);
    await made;
    mock.timers.reset();
  });

  test('of a process comes by itself when nothing is under way', async () => {
    const started = performance.now();
    const out = await inProcess(`
      import { Cache } from 'dpcache/worker';
      const cache = await Cache.create({ dimension: 2 });
      const own = await Cache.create({ dimension: 2 }, { worker: 'own' });
      await Promise.all([cache.observe({ key: [1, 0] }), own.observe({ key: [1, 0] })]);
      console.log('done');`);
    assert.equal(out, 'done\n');
    assert.ok(performance.now() - started < 4000, 'and at once');
  });

  test('of a process does not come while a call is under way', async () => {
    const out = await inProcess(`
      import { Cache } from 'dpcache/worker';
      Cache.create({ dimension: 256 }).then(async (cache) => {
        const key = (i) => Float32Array.from({ length: 256 }, (_, j) => Math.sin(i * 7 + j * j));
        const items = Array.from({ length: 3000 }, (_, i) => ({ key: key(i) }));
        cache.observeBatch(items).then((decisions) => console.log(decisions.length));
      });`);
    assert.equal(out, '3000\n');
  });

  test('of a cache that was forgotten frees it in the worker', async () => {
    const out = await inProcess(
      `
      import { Worker } from 'node:worker_threads';
      import { setTimeout as pause } from 'node:timers/promises';
      import { Cache } from 'dpcache/worker';
      const worker = new Worker(new URL(${JSON.stringify(threadFile.href)}), { execArgv: [] });
      const disposed = new Set();
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (message, transfer) => {
        if (message.name === 'dispose') disposed.add(message.target);
        post(message, transfer);
      };
      const kept = await Cache.create({ dimension: 2 }, { worker });
      await (async () => {
        for (let i = 0; i < 20; i++) {
          const cache = await Cache.create({ dimension: 2 }, { worker });
          await cache.onEvent(() => cache);
          await cache.observe({ key: [1, 0] });
        }
      })();
      for (let i = 0; i < 20 && disposed.size < 19; i++) { gc(); await pause(50); }
      console.log(disposed.size >= 19, disposed.has(1), await kept.size());
      worker.terminate();`,
      ['--expose-gc'],
    );
    assert.equal(out, 'true false 0\n');
  });

  test('of a worker of its own comes with its cache', async () => {
    const out = await inProcess(`
      import { Cache } from 'dpcache/worker';
      process.on('worker', (worker) => worker.on('exit', () => console.log('ended')));
      const cache = await Cache.create({ dimension: 2 }, { worker: 'own' });
      const other = await Cache.create({ dimension: 2 });
      await cache.dispose();
      await new Promise((later) => setTimeout(later, 300));
      console.log(await other.size());`);
    assert.equal(out, 'ended\n0\n');
  });
});

describe('the WebAssembly', () => {
  const file = new URL('dpcache.wasm', dist);
  const bytes = () => readFileSync(file);
  const sources = {
    'a URL': () => file,
    'the text of a URL': () => file.href,
    'bytes': bytes,
    'a module': () => WebAssembly.compile(bytes()),
    'a response': () => new Response(bytes()),
    'a promise of a URL': async () => file,
  };
  for (const [name, source] of Object.entries(sources)) {
    test(`can come from ${name}, twice`, async () => {
      const wasm = source();
      const made = [1, 2].map(() => Cache.create({ dimension: 2 }, { wasm, worker: 'own' }));
      for (const cache of await Promise.all(made)) await cache.dispose();
      const shared = [1, 2].map(() => Cache.create({ dimension: 2 }, { wasm }));
      for (const cache of await Promise.all(shared)) await cache.dispose();
    });
  }

  test('is sent as one module however often it is given', async () => {
    const { worker, sent } = watched();
    const wasm = bytes();
    const made = await Promise.all([1, 2, 3].map(() => Cache.create({ dimension: 2 }, { wasm, worker })));
    assert.equal(new Set(sent.map(({ args }) => args[1].number)).size, 1);
    assert.equal(made.length, 3);
  });

  test('is one instance in the worker, though it arrives as a new module each time', async () => {
    let hear;
    const replies = [];
    serve({ post: (message) => replies.push(message), listen: (listener) => (hear = listener) });
    const module = await WebAssembly.compile(bytes());
    let made = 0;
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = (...given) => (++made, instantiate(...given));
    for (const call of [1, 2, 3]) {
      const wasm = structuredClone({ number: call < 3 ? 7 : 8, module });
      hear({ dpcache: 'call', call, target: call, name: 'create', args: [{ dimension: 2 }, wasm] });
    }
    while (replies.length < 4) await new Promise((later) => setTimeout(later, 1));
    WebAssembly.instantiate = instantiate;
    assert.equal(replies.filter(({ error }) => error).length, 0);
    assert.equal(made, 2, 'one for each number');
  });

  test('that is none is unavailable', async () => {
    for (const wasm of [Uint8Array.of(1, 2), 'file:///no/such.wasm', new Response('x')]) {
      await assert.rejects(Cache.create({ dimension: 2 }, { wasm }), { code: 'unavailable' });
    }
    await assert.rejects(Cache.create({ dimension: 2 }, { worker: 'mine' }), { code: 'bad_request' });
  });
});

test('results are handed over, not copied', async () => {
  const { serve } = await import(new URL('worker-host.js', dist));
  let listener;
  const replies = new Map();
  serve({
    post: (reply, transfer) => replies.get(reply.call)?.({ reply, transfer }),
    listen: (own) => (listener = own),
  });
  let calls = 0;
  const call = (name, ...args) =>
    new Promise((resolve) => {
      replies.set(++calls, resolve);
      listener({ dpcache: 'call', call: calls, target: 1, name, args });
    });
  await call('create', { dimension: 2, valueDimension: 2 });
  await call('listen', true);
  const item = { key: three(1, 0), value: three(3, 4), payload: '1', time: 0, encoder: '' };
  const { reply, transfer } = await call('observe', item);
  const [event] = reply.events;
  assert.deepEqual(transfer, [event.item.key.buffer, event.item.value.buffer, event.bytes.buffer]);
  const slots = await call('slots');
  assert.deepEqual(slots.transfer, [slots.reply.result[0].key.buffer, slots.reply.result[0].value.buffer]);
  const saved = await call('save');
  assert.deepEqual(saved.transfer, [saved.reply.result.buffer]);
  const options = { k: 1, time: null, encoder: '' };
  const read = await call('read', three(1, 0), options);
  assert.deepEqual(read.transfer, [read.reply.result.value.buffer]);
  assert.equal((await call('dispose')).reply.error, undefined);
  assert.equal((await call('size')).reply.error.code, 'disposed');
});

test("the browser's entry can be imported where there is neither page nor worker", async () => {
  const out = await inProcess(
    `const before = Object.keys(globalThis).length;
     const { Cache } = await import('dpcache/worker');
     console.log(Object.keys(globalThis).length - before);
     await Cache.create({ dimension: 2 }).catch((error) => console.log(error.message));`,
    ['--import', `data:text/javascript,${encodeURIComponent(kNoNode)}`],
  );
  assert.equal(out, '0\nunavailable: there are no workers here\n');
});

test('the worker can be required', async () => {
  const { createRequire } = await import('node:module');
  const required = createRequire(import.meta.url)('dpcache/worker');
  assert.equal(required.Cache, Cache);
});

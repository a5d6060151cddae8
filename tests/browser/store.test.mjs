// Keeping a memory in Chromium: IndexedDB and OPFS, in windows and workers, over reloads and full
// quotas.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { launch, serve } from './harness.mjs';

let server;
let browser;
let page;
let problems;

// In the page and in its workers: what every test needs. `run` calls a function of `tests`.
const helpers = `
import { Cache, DpcacheError } from '/dist/index.js';
import * as worker from '/dist/worker.js';
import * as store from '/dist/store.js';
const { openIndexedDB, openOpfs } = store;

async function memory(slots, extra = 0) {
  const cache = await Cache.create({ dimension: 64, tau: 0.01 });
  const key = (i) => Array.from({ length: 64 }, (_, j) => Math.sin(1 + i * (j + 1) ** 1.5));
  for (let i = 0; i < slots; i++) {
    // Noise, since Chromium compresses what it stores.
    const random = crypto.getRandomValues(new Uint8Array(extra));
    const payload = Array.from(random, (byte) => String.fromCharCode(32 + byte / 3)).join('');
    cache.observe({ key: key(i), time: i, payload });
  }
  const bytes = cache.save();
  cache.dispose();
  return bytes;
}
const same = (x, y) => x?.length === y?.length && x.every((byte, i) => byte === y[i]);
const codeOf = async (promise) => {
  try {
    await promise;
    return 'done';
  } catch (error) {
    return error instanceof DpcacheError ? error.code : String(error.stack);
  }
};
const opens = { indexeddb: openIndexedDB, opfs: openOpfs };

const tests = {
  async roundTrip(kind) {
    const [a, b] = [await memory(3), await memory(500)];
    const one = await opens[kind]('round trip');
    const seen = [(await one.read()) === undefined];
    const part = new Uint8Array(a.length + 30).subarray(10, 10 + a.length);
    part.set(a);
    const written = one.write(part);
    part.fill(0);
    await written;
    seen.push(same(await one.read(), a), one.holds(a), !one.holds(b));
    await one.write(b);
    const two = await opens[kind]('round trip');
    seen.push(same(await two.read(), b));
    await two.write(a);
    const size = (await Cache.load(await two.read())).size;
    seen.push(size === 3);
    await one.remove();
    seen.push((await two.read()) === undefined);
    return seen;
  },
  async conflict(kind) {
    const [a, b, c] = [await memory(1), await memory(2), await memory(3)];
    const [one, two, unread] = await Promise.all([1, 2, 3].map(() => opens[kind]('conflict')));
    await one.read();
    await two.read();
    await one.write(a);
    const codes = [await codeOf(two.write(b)), await codeOf(two.write(b)), await codeOf(unread.write(b))];
    if (kind === 'indexeddb') codes.push(await codeOf(two.write(b, { urgent: true })));
    const kept = same(await one.read(), a);
    await two.read();
    codes.push(await codeOf(two.write(b)), await codeOf(one.write(c)));
    await two.remove();
    codes.push(await codeOf(one.write(c)));
    return { codes, kept, last: same(await two.read(), c) };
  },
  async race(kind) {
    const memories = await Promise.all([1, 2, 3, 4].map((n) => memory(n)));
    const stores = await Promise.all(memories.map(() => opens[kind]('race')));
    for (const store of stores) await store.read();
    return Promise.all(stores.map((store, i) => codeOf(store.write(memories[i]))));
  },
  async refused(kind) {
    const one = await opens[kind]('refused');
    const codes = [];
    for (const bytes of [new Uint8Array(), new Uint8Array(64), 'x']) codes.push(await codeOf(one.write(bytes)));
    return codes;
  },
  persistence: () => codeOf(store.requestPersistence()),
  imports: () => typeof document,
  async withoutCreateWritable() {
    delete FileSystemFileHandle.prototype.createWritable;
    return [await tests.roundTrip('opfs'), await tests.conflict('opfs')];
  },
};
`;
const inPage = `${helpers}
Object.assign(globalThis, { Cache, DpcacheError, worker, store, memory, same, codeOf, opens, tests });
globalThis.inWorker = (name, ...args) => new Promise((resolve, reject) => {
  const thread = new Worker('/worker.js', { type: 'module' });
  thread.onerror = (event) => reject(new Error(event.message || 'the worker cannot be loaded'));
  thread.onmessage = ({ data }) => {
    thread.terminate();
    if (data.error) reject(new Error(data.error));
    else resolve(data.result);
  };
  thread.postMessage({ name, args });
});
globalThis.ready = true;`;
const inWorkerToo = `${helpers}
addEventListener('message', async ({ data }) => {
  try {
    postMessage({ result: await tests[data.name](...data.args) });
  } catch (error) {
    postMessage({ error: String(error.stack) });
  }
});`;

before(async () => {
  const script = (body) => () => ({ type: 'text/javascript', body });
  server = await serve({
    '/': () => ({
      type: 'text/html',
      body: '<!doctype html><title>store</title><script type="module" src="/page.js"></script>',
    }),
    '/page.js': script(inPage),
    '/worker.js': script(inWorkerToo),
    '/dist/': 'wasm/dist',
  });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
});

async function open() {
  const opened = await browser.context.newPage();
  opened.on('pageerror', (error) => problems.push(String(error)));
  await opened.goto(server.url);
  await opened.waitForFunction(() => globalThis.ready);
  return opened;
}

beforeEach(async () => {
  problems = [];
  page = await open();
});

afterEach(async () => {
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    for await (const name of root.keys()) await root.removeEntry(name);
    await new Promise((done) => {
      indexedDB.deleteDatabase('dpcache').onsuccess = done;
    });
  });
  await page.close();
  assert.deepEqual(problems, []);
});

for (const kind of ['indexeddb', 'opfs']) {
  for (const place of ['window', 'worker']) {
    const run = (...args) =>
      page.evaluate(
        ([place, name, ...args]) =>
          place === 'window' ? tests[name](...args) : inWorker(name, ...args),
        [place, ...args],
      );

    describe(`${kind} in a ${place}`, () => {
      test('is read as it was written', async () => {
        const seen = await run('roundTrip', kind);
        assert.ok(seen.every(Boolean), String(seen));
      });

      test('keeps what a stale writer has not read', async () => {
        const { codes, kept, last } = await run('conflict', kind);
        const refused = codes.slice(0, -3);
        assert.ok(refused.length >= 3);
        assert.deepEqual(new Set(refused), new Set(['conflict']));
        assert.deepEqual(codes.slice(-3), ['done', 'conflict', 'done']);
        assert.ok(kept && last);
      });

      test('lets one of several win that write at once', async () => {
        const codes = await run('race', kind);
        assert.deepEqual(codes.sort(), ['conflict', 'conflict', 'conflict', 'done']);
      });

      test('takes nothing that is no memory', async () => {
        assert.deepEqual(new Set(await run('refused', kind)), new Set(['bad_snapshot']));
      });
    });
  }

  test(`${kind}: two tabs see each other, and a memory outlives its pages`, async () => {
    const other = await open();
    const [codes, bytes] = [[], []];
    for (const tab of [page, other]) {
      await tab.evaluate(async (kind) => {
        globalThis.mine = await opens[kind]('tabs');
        await mine.read();
      }, kind);
    }
    for (const tab of [page, other]) {
      codes.push(await tab.evaluate(async () => codeOf(mine.write(await memory(5)))));
    }
    // The same bytes are no conflict for a store that compares them; other bytes always are.
    codes[1] = await other.evaluate(async () => codeOf(mine.write(await memory(6))));
    assert.deepEqual(codes, ['done', 'conflict']);
    await page.close();
    await other.reload();
    await other.waitForFunction(() => globalThis.ready);
    page = other;
    bytes.push(
      await other.evaluate(async (kind) => (await Cache.load(await (await opens[kind]('tabs')).read())).size, kind),
    );
    assert.deepEqual(bytes, [5]);
  });

  test(`${kind}: a full quota leaves the old memory`, async () => {
    // An origin of its own, since Chromium remembers for a while how much room there was.
    const origin = server.url.replace('127.0.0.1', `${kind}.localhost`);
    const session = await browser.context.newCDPSession(page);
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 2_000_000 });
    await page.goto(origin);
    await page.waitForFunction(() => globalThis.ready);
    const outcome = await page.evaluate(async (kind) => {
      const mine = await opens[kind]('quota');
      await mine.read();
      await mine.write(await memory(2));
      const large = await memory(100, 50_000);
      const codes = [await codeOf(mine.write(large)), await codeOf(mine.write(large))];
      const old = (await Cache.load(await mine.read())).size;
      codes.push(await codeOf(mine.write(await memory(3))));
      return [large.length > 3e6, codes, old, (await Cache.load(await mine.read())).size];
    }, kind);
    assert.deepEqual(outcome, [true, ['full', 'full', 'done'], 2, 3]);
  });
}

test('IndexedDB: the database can be deleted while a store is open, which goes on with a new one', async () => {
  const outcome = await page.evaluate(async () => {
    const one = await store.openIndexedDB('m', { database: 'other' });
    await one.read();
    await one.write(await memory(1));
    await new Promise((done, failed) => {
      const request = indexedDB.deleteDatabase('other');
      request.onsuccess = done;
      request.onblocked = () => failed(new Error('blocked'));
    });
    const gone = (await one.read()) === undefined;
    await one.write(await memory(2));
    one.close();
    return [gone, (await Cache.load(await one.read())).size];
  });
  assert.deepEqual(outcome, [true, 2]);
});

test('IndexedDB: memories of one database do not know each other', async () => {
  const sizes = await page.evaluate(async () => {
    const names = ['a', 'b', 'a/1', ''];
    const stores = await Promise.all(names.map((name) => store.openIndexedDB(name)));
    for (const [i, one] of stores.entries()) {
      await one.read();
      await one.write(await memory(i + 1));
    }
    await stores[1].remove();
    const sizes = [];
    for (const one of stores) {
      const bytes = await one.read();
      sizes.push(bytes ? (await Cache.load(bytes)).size : 0);
    }
    return sizes;
  });
  assert.deepEqual(sizes, [1, 0, 3, 4]);
});

test('OPFS: where only workers can write, a worker writes and a window says why not', async () => {
  const [[roundTrip, conflict], code] = await page.evaluate(async () => {
    const there = await inWorker('withoutCreateWritable');
    delete FileSystemFileHandle.prototype.createWritable;
    const one = await store.openOpfs('window only');
    await one.read();
    return [there, await codeOf(one.write(await memory(1)))];
  });
  assert.ok(roundTrip.every(Boolean), String(roundTrip));
  assert.deepEqual(conflict.codes, ['conflict', 'conflict', 'conflict', 'done', 'conflict', 'done']);
  assert.equal(code, 'unavailable');
});

test('OPFS: neither a half-written file nor a first write that was cut off is a memory', async () => {
  const outcome = await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    await root.getFileHandle('m', { create: true });
    const half = await (await root.getFileHandle('.m.dpcache-tmp', { create: true })).createWritable();
    await half.write('half');
    await half.close();
    const one = await store.openOpfs('m');
    const nothing = (await one.read()) === undefined;
    await one.write(await memory(2));
    const names = [];
    for await (const name of root.keys()) names.push(name);
    return [nothing, names, await codeOf(store.openOpfs('a/b').then((bad) => bad.write(new Uint8Array())))];
  });
  assert.deepEqual(outcome, [true, ['m'], 'bad_snapshot']);
});

test('only windows can ask for persistence (a worker is told so)', async () => {
  const [here, there] = await page.evaluate(async () => [
    typeof (await store.requestPersistence()),
    await inWorker('persistence'),
  ]);
  assert.deepEqual([here, there], ['boolean', 'unavailable']);
});

test('all entries can be imported in a worker, where there is no document', async () => {
  assert.equal(await page.evaluate(() => inWorker('imports')), 'undefined');
});

describe('autosave', () => {
  const begin = (options) =>
    page.evaluate(async (options) => {
      globalThis.kept = await store.openIndexedDB('autosave');
      globalThis.cache = await store.loadOrCreate(Cache, kept, { dimension: 2, tau: 0.001 });
      globalThis.saving = store.autosave(cache, kept, options);
      return cache.size;
    }, options);
  const observe = (angle) =>
    page.evaluate((angle) => {
      cache.observe({ key: [Math.cos(angle), Math.sin(angle)] });
    }, angle);
  const reload = async () => {
    await page.reload();
    await page.waitForFunction(() => globalThis.ready);
  };

  test('keeps changes over a reload', async () => {
    assert.equal(await begin({ delayMs: 10 }), 0);
    await observe(1);
    // waitForFunction() takes a promise for an answer, so it cannot wait for what a store has.
    await page.evaluate(async () => {
      const kept = await store.openIndexedDB('autosave');
      while ((await kept.read()) === undefined) await new Promise((later) => setTimeout(later, 5));
    });
    await reload();
    assert.equal(await begin({ delayMs: 10 }), 1);
  });

  test('loses nothing when the page is reloaded at once, again and again', async () => {
    for (let times = 0; times < 8; times++) {
      assert.equal(await begin({ delayMs: 60_000, maxDelayMs: 60_000 }), times);
      await page.evaluate((times) => {
        cache.observe({ key: [Math.cos(times), Math.sin(times)] });
        location.reload();
      }, times);
      await page.waitForFunction(() => globalThis.ready && !globalThis.cache);
    }
  });

  test('saves when the page is hidden, and listens only from its call to stop()', async () => {
    const outcome = await page.evaluate(async () => {
      const listening = new Set();
      for (const target of [document, window]) {
        const { addEventListener, removeEventListener } = target;
        target.addEventListener = function (type, ...rest) {
          listening.add(type);
          return addEventListener.call(target, type, ...rest);
        };
        target.removeEventListener = function (type, ...rest) {
          listening.delete(type);
          return removeEventListener.call(target, type, ...rest);
        };
      }
      const one = await store.openIndexedDB('hidden');
      await one.read();
      const cache = await Cache.create({ dimension: 2 });
      const before = [...listening];
      const saving = store.autosave(cache, one, { delayMs: 60_000 });
      const during = [...listening].sort();
      cache.observe({ key: [1, 0] });
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
      delete document.visibilityState;
      await new Promise((later) => setTimeout(later, 200));
      const saved = one.holds(cache.save());
      await saving.stop();
      return { before, during, after: [...listening], saved };
    });
    assert.deepEqual(outcome, {
      before: [],
      during: ['pagehide', 'visibilitychange'],
      after: [],
      saved: true,
    });
  });

  test('of the later of two tabs is told of the conflict, and the earlier one is kept', async () => {
    const other = await open();
    const started = async (tab) =>
      tab.evaluate(async () => {
        globalThis.kept = await store.openIndexedDB('autosave');
        globalThis.cache = await store.loadOrCreate(Cache, kept, { dimension: 2, tau: 0.001 });
        globalThis.errors = [];
        globalThis.saving = store.autosave(cache, kept, {
          delayMs: 1,
          onError: (error) => errors.push(error.code),
        });
      });
    await started(page);
    await started(other);
    await page.evaluate(async () => {
      cache.observe({ key: [1, 0], payload: 'first' });
      await saving.flush();
    });
    await other.evaluate(() => void cache.observe({ key: [0, 1], payload: 'second' }));
    await other.waitForFunction(() => errors.length > 0);
    assert.deepEqual(await other.evaluate(() => errors), ['conflict']);
    await other.close();
    const payload = await page.evaluate(async () => {
      const bytes = await (await store.openIndexedDB('autosave')).read();
      return (await Cache.load(bytes)).slots().map(({ payload }) => payload);
    });
    assert.deepEqual(payload, ['first']);
  });

  test("saves a worker's cache to OPFS, and to IndexedDB", async () => {
    const sizes = await page.evaluate(async () => {
      const sizes = [];
      for (const open of [store.openOpfs, store.openIndexedDB]) {
        const one = await open('of a worker');
        const cache = await store.loadOrCreate(worker.Cache, one, { dimension: 2 });
        const saving = store.autosave(cache, one, { delayMs: 1 });
        await cache.observeBatch([{ key: [1, 0] }, { key: [0, 1] }]);
        await saving.stop();
        await cache.dispose();
        sizes.push((await Cache.load(await (await open('of a worker')).read())).size);
      }
      return sizes;
    });
    assert.deepEqual(sizes, [2, 2]);
  });
});

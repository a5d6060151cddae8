// Odd but legal uses of the public API: lengths, buffers, listeners and masks of every kind.
import assert from 'node:assert/strict';
import { copyFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, test } from 'node:test';
import { Cache, DpcacheError, Encoder } from 'dpcache';
import { inlineWasm } from 'dpcache/inline';
import { autosave, openFile } from 'dpcache/store';
import { Cache as WorkerCache } from 'dpcache/worker';

const folder = await mkdtemp(join(tmpdir(), 'dpcache-odd-'));
after(() => rmSync(folder, { recursive: true }));

function refuses(run, code, pointer) {
  assert.throws(run, (error) => {
    assert.ok(error instanceof DpcacheError, String(error?.stack ?? error));
    assert.deepEqual([error.code, error.errors[0].pointer], [code, pointer], error.message);
    return true;
  });
}

function transferred(x) {
  structuredClone(x, { transfer: [x.buffer ?? x] });
  return x;
}

/** A view that its buffer has become too short for. */
function cutOff(Kind) {
  const buffer = new ArrayBuffer(8, { maxByteLength: 16 });
  const view = new Kind(buffer, 4, 1);
  buffer.resize(4);
  return view;
}

// --- Events

for (const [what, dimension, items] of [
  ['a large payload', 4, [{ key: [1, 0, 0, 0], payload: 'x'.repeat(2_000_000) }]],
  ['a large batch', 4, Array.from({ length: 20_000 }, (_, i) => ({ key: [i, 1, (i * i) % 7, 3] }))],
  ['a large key', 65_536, [{ key: new Float32Array(65_536).fill(1) }]],
]) {
  test(`${what} is told whole, and rebuilds a cache`, async () => {
    const cache = await Cache.create({ dimension });
    const copy = await Cache.create({ dimension });
    const seen = [];
    cache.onEvent(({ seq, kind, item, bytes }) => {
      seen.push([seq, kind, item.key.length, item.payload]);
      copy.apply(bytes);
    });
    cache.observeBatch(items);
    cache.observe({ ...items[0], payload: 'last' });
    assert.equal(seen.length, items.length + 1);
    assert.deepEqual(seen[0], [1, 'observe', dimension, items[0].payload]);
    assert.deepEqual(seen.at(-1), [items.length + 1, 'observe', dimension, 'last']);
    assert.equal(copy.stats().stateHash, cache.stats().stateHash);
  });
}

test('all listeners hear of all changes in order, also of those that a listener makes', async () => {
  const cache = await Cache.create({ dimension: 2 });
  const copy = await Cache.create({ dimension: 2 });
  const heard = [[], []];
  cache.onEvent(({ seq }) => {
    heard[0].push(seq);
    if (seq < 5) cache.observe({ key: [1, seq] });
  });
  cache.onEvent(({ seq, bytes }) => {
    heard[1].push(seq);
    copy.apply(bytes);
  });
  cache.observeBatch([{ key: [1, 0] }, { key: [0, 1] }, { key: [-1, 0] }]);
  assert.deepEqual(heard, Array(2).fill([1, 2, 3, 4, 5, 6, 7]));
  assert.equal(copy.stats().stateHash, cache.stats().stateHash);
  cache.observe({ key: [1, 0] });
  assert.equal(heard[1].at(-1), 8);
});

test('a listener that never stops is stopped, and no other cache suffers', async () => {
  const other = await Cache.create({ dimension: 2 });
  other.observe({ key: [1, 0] });
  const cache = await Cache.create({ dimension: 2 });
  let error;
  cache.onEvent(({ seq }) => {
    try {
      cache.observe({ key: [1, seq] });
    } catch (caught) {
      error = caught;
    }
  });
  cache.observe({ key: [1, 0] });
  assert.equal(error?.code, 'bad_request');
  assert.equal(other.stats().items, 1);
  const { items } = cache.stats();
  error = undefined;
  cache.observe({ key: [0, 1] });
  assert.ok(cache.stats().items > items + 100, 'the next call may tell again');
});

test('a listener may dispose its cache, or leave; nobody is told more', async () => {
  const cache = await Cache.create({ dimension: 2 });
  const heard = [];
  const stop = cache.onEvent(({ seq }) => {
    heard.push(seq);
    if (seq === 2) stop();
    if (seq === 4) cache.dispose();
  });
  cache.onEvent(({ seq }) => seq === 4 && cache.dispose());
  const all = cache.observeBatch([0, 1, 2, 3, 4].map((y) => ({ key: [1, y] })));
  assert.equal(all.length, 5);
  assert.deepEqual(heard, [1, 2]);
  stop();
  refuses(() => cache.size, 'disposed', '');
});

// --- Arrays

class Bounded extends Float32Array {
  get length() {
    return 1e9;
  }
}
class Foreign extends Float32Array {
  static get [Symbol.species]() {
    return Array;
  }
}

test('arrays are as long as they are, whatever a subclass says', async () => {
  const cache = await Cache.create({ dimension: 2 });
  cache.observe({ key: [3, 4] });
  const key = new Bounded([3, 4]);
  assert.deepEqual(cache.nearest(key), { slot: 1, similarity: 1 });
  assert.equal(cache.observe({ key }).slot, 1);
  const rows = new Foreign([3, 4, -3, -4]);
  assert.deepEqual(
    cache.score(rows).map(([{ similarity }]) => similarity),
    [1, -1],
  );
  const worker = await WorkerCache.create({ dimension: 2 });
  await worker.observe({ key: new Foreign([3, 4]) });
  assert.equal((await worker.score(rows)).length, 2);
  await worker.dispose();
});

test('what only says that it is an array of bytes is JSON like any object', async () => {
  const cache = await Cache.create({ dimension: 2 });
  const payload = { [Symbol.toStringTag]: 'Uint8Array', a: 1 };
  cache.observe({ key: [1, 0], payload });
  assert.deepEqual(cache.slot(1).payload, { a: 1 });
  refuses(() => cache.apply(payload), 'bad_request', '');
  const key = { [Symbol.toStringTag]: 'Float32Array', length: 2, 0: 1, 1: 2, buffer: [] };
  refuses(() => cache.observe({ key }), 'bad_request', '/key');
});

for (const [what, make] of [
  ['transferred', (Kind) => transferred(new Kind(2))],
  ['cut off by a resize', cutOff],
]) {
  test(`arrays whose buffer was ${what} are refused`, async () => {
    const cache = await Cache.create({ dimension: 2, valueDimension: 2 });
    const [key, value] = [[1, 0], [1, 0]];
    const before = cache.save();
    refuses(() => cache.observe({ key: make(Float32Array), value }), 'bad_shape', '/key');
    refuses(() => cache.observe({ key, value: make(Float32Array) }), 'bad_shape', '/value');
    refuses(() => cache.score(make(Float32Array)), 'bad_shape', '');
    const payload = make(Uint8Array);
    refuses(() => cache.observe({ key, value, payload }), 'bad_request', '/payload');
    refuses(() => cache.apply(make(Uint8Array)), 'bad_request', '');
    await assert.rejects(Cache.load(make(Uint8Array)), { code: 'bad_request' });
    await assert.rejects(WorkerCache.load(make(Uint8Array)), { code: 'bad_request' });
    assert.deepEqual(cache.save(), before);
  });
}

test('a memory file that is transferred while it is loaded is refused', async () => {
  await assert.rejects(Cache.load(transferred(new ArrayBuffer(8))), { code: 'bad_request' });
  const bytes = (await Cache.create({ dimension: 2 })).save();
  const loading = Cache.load(bytes);
  transferred(bytes);
  await assert.rejects(loading, { code: 'bad_request' });
});

test('views that follow a growing buffer are read as they are at the call', async () => {
  const buffer = new ArrayBuffer(8, { maxByteLength: 64 });
  const key = new Float32Array(buffer);
  key.set([1, 2]);
  const cache = await Cache.create({ dimension: 4 });
  refuses(() => cache.observe({ key }), 'bad_shape', '/key');
  buffer.resize(16);
  key.set([1, 2, 3, 4]);
  assert.equal(cache.observe({ key }).slot, 1);
  assert.equal(cache.nearest([1, 2, 3, 4]).similarity, 1);
});

// Buffer.slice() is a view, unlike that of every other array.
test('Buffers of Node are copied like any bytes', async () => {
  const cache = await Cache.create({ dimension: 2 });
  cache.observe({ key: [1, 0], payload: 'x'.repeat(100_000) });
  const bytes = Buffer.from(cache.save()); // too large for the pool that Buffers share
  const worker = await WorkerCache.load(bytes);
  assert.equal(await worker.size(), 1);
  assert.ok(bytes.length > 100_000, 'the caller’s bytes were transferred');
  const payload = Buffer.alloc(20_000, '"');
  await worker.observe({ key: [0, 1], payload });
  assert.equal(payload.length, 20_000);
  await worker.dispose();
  const store = await openFile(join(folder, 'buffer.dpc'));
  const writing = store.write(bytes);
  bytes.fill(0);
  await writing;
  assert.equal((await Cache.load(await store.read())).size, 1);
});

// --- Arguments

test('what nobody can have meant is refused, not passed over', async () => {
  const cache = await Cache.create({ text: {} });
  cache.observe({ text: 'a' });
  refuses(() => cache.nearest({ text: 'a', key: [1] }), 'bad_request', '/text');
  refuses(() => cache.slots({ after: -1 }), 'bad_request', '/after');
  for (const options of [null, 7, 'k']) {
    refuses(() => cache.read({ text: 'a' }, options), 'bad_request', '');
  }
  cache.setMetadata({ kept: 'yes' });
  const entries = new Map([['lost', 'yes']]);
  refuses(() => cache.setMetadata(entries), 'bad_config', '');
  refuses(() => cache.configure(new Map([['tau', 1]])), 'bad_config', '');
  await assert.rejects(Cache.create(new Map([['dimension', 2]])), { code: 'bad_config' });
  assert.deepEqual(cache.metadata(), { kept: 'yes' });
  const worker = await WorkerCache.create({ dimension: 2 });
  await assert.rejects(worker.setMetadata(entries), { code: 'bad_config' });
  await worker.dispose();
});

test('no source of WebAssembly is the file beside the module', async () => {
  for (const wasm of [undefined, null]) {
    assert.equal((await Cache.create({ dimension: 2 }, { wasm })).size, 0);
  }
});

test('names that objects have of their own are names like others', async () => {
  const cache = await Cache.create({ dimension: 2 });
  const odd = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c", "": "d"}');
  cache.setMetadata(odd);
  cache.observe({ key: [1, 0], payload: odd, exactKey: '__proto__' });
  const back = await Cache.load(cache.save());
  for (const one of [back.metadata(), back.slot(1).payload]) {
    assert.deepEqual(Object.entries(one).sort(), Object.entries(odd).sort());
    assert.equal(Object.getPrototypeOf(one), Object.prototype);
  }
  const worker = await WorkerCache.load(cache.save());
  assert.deepEqual(Object.entries(await worker.metadata()).sort(), Object.entries(odd).sort());
  await worker.dispose();
  refuses(() => cache.observe(JSON.parse('{"key": [1, 0], "__proto__": 1}')), 'bad_request', '/__proto__');
});

test('a gate takes the place of the threshold of text', async () => {
  const cache = await Cache.create({ text: {}, gate: { a: 4, b: 0.25 } });
  assert.deepEqual([cache.config.gate, cache.config.tau], [{ a: 4, b: 0.25 }, undefined]);
});

test('the errors of a batch stand in its order, whoever finds them', async () => {
  const cache = await Cache.create({ dimension: 2 });
  const [zero, nothing] = [[0, 0], null];
  for (const keys of [[zero, nothing, zero], [nothing, zero, nothing]]) {
    for (const call of [
      () => cache.observeBatch(keys.map((key) => ({ key }))),
      () => cache.score(keys.map((key) => ({ key }))),
    ]) {
      assert.throws(call, (error) => {
        assert.deepEqual(error.errors.map(({ index }) => index), [0, 1, 2]);
        assert.equal(error.code, keys[0] === zero ? 'zero_norm' : 'bad_request');
        return true;
      });
    }
  }
});

test('errors speak of fields by the names that they have here', async () => {
  const made = [
    [{ valueDimension: -1 }, 'valueDimension'],
    [{ usageDecay: 7 }, 'usageDecay'],
    [{ keyUpdate: 'thawed' }, 'keyUpdate'],
    [{ maxSlots: 0 }, 'maxSlots'],
  ];
  for (const [config, name] of made) {
    await assert.rejects(Cache.create({ dimension: 2, ...config }), (error) => {
      assert.equal(error.errors[0].pointer, `/${name}`);
      assert.match(error.message, new RegExp(name));
      assert.doesNotMatch(error.message, /[a-z]_[a-z]+(?!.*:)/);
      return true;
    });
  }
  const cache = await Cache.create({ dimension: 2 });
  assert.throws(() => cache.configure({ valueDimension: 3 }), /valueDimension/);
  assert.throws(() => cache.consolidate(), /keepSums/);
});

test('a source of WebAssembly that failed is tried again', async () => {
  const file = join(folder, 'late.wasm');
  const wasm = pathToFileURL(file).href;
  await assert.rejects(Cache.create({ dimension: 2 }, { wasm }), { code: 'unavailable' });
  copyFileSync(new URL('../../wasm/dist/dpcache.wasm', import.meta.url), file);
  assert.equal((await Cache.create({ dimension: 2 }, { wasm })).size, 0);
});

// --- Masks of one's own

test('a mask that can match nothing ends, also beside pairs of surrogates', async () => {
  for (const flags of ['', 'g', 'u', 'v', 'y', 'gu']) {
    const pattern = new RegExp('q*', flags);
    const encoder = await Encoder.create({ ownMasks: [{ name: 'q', pattern }] });
    assert.equal(encoder.mask('😀a😀😀 qq😀q'), '😀a😀😀 <q>😀<q>', flags);
  }
});

test('a mask that matches half a pair masks the whole of it, and goes on', async () => {
  const halves = { any: [/./, '<any><any><any>'], high: [/[\ud83d]/, 'a<high>b'], low: [/[\ude00]/, 'a<low>b'] };
  for (const [name, [pattern, masked]] of Object.entries(halves)) {
    const encoder = await Encoder.create({ ownMasks: [{ name, pattern }] });
    assert.equal(encoder.mask('a😀b'), masked);
  }
});

test('a mask that fails is an error of its call alone', async () => {
  const other = await Cache.create({ dimension: 2 });
  other.observe({ key: [1, 0] });
  // So much backtracking finds no room, which V8 throws.
  const ownMasks = [{ name: 'x', pattern: /(?:a|ab|.)*z/s }];
  const long = 'ab'.repeat(2e7);
  const encoder = await Encoder.create({ ownMasks });
  refuses(() => encoder.mask(long), 'bad_request', '/text');
  assert.equal(encoder.mask('abz'), '<x>');
  const cache = await Cache.create({ text: { ownMasks } });
  cache.observe({ text: 'short' });
  const before = cache.save();
  let events = 0;
  cache.onEvent(() => events++);
  refuses(() => cache.observe({ text: long }), 'bad_request', '/text');
  const batch = [{ text: 'a' }, { text: long }, { text: 'b' }];
  refuses(() => cache.observeBatch(batch), 'bad_request', '/text');
  refuses(() => cache.nearest({ text: long }), 'bad_request', '/text');
  refuses(() => cache.score([{ text: long }, { text: 'a' }]), 'bad_request', '/text');
  assert.deepEqual(cache.save(), before);
  assert.equal(events, 0);
  assert.equal(cache.observe({ text: 'short' }).action, 'merge');
  assert.equal(other.stats().items, 1);
});

// --- The instance

test('an instance that has aborted says so, hurts no other, and is made anew', async () => {
  const wasm = inlineWasm().slice();
  const cache = await Cache.create({ dimension: 2 }, { wasm });
  const encoder = await Encoder.create({}, { wasm });
  const overflow = () => {
    try {
      overflow();
    } catch {
      for (let i = 0; i < 50; i++) cache.observe({ key: [1, i] });
    }
  };
  // Where the stack ends inside the WebAssembly is not ours to choose: try until it does.
  for (let i = 0; i < 100; i++) {
    try {
      overflow();
      cache.size;
    } catch (error) {
      if (error.code === 'full') break;
    }
  }
  refuses(() => cache.observe({ key: [1, 0] }), 'full', '');
  assert.throws(() => cache.stats(), /no room on the stack; its caches are lost/);
  for (const call of [() => cache.size, () => encoder.mask('a'), () => cache.onEvent(() => {})]) {
    refuses(call, 'full', '');
  }
  cache.dispose();
  encoder.dispose();
  const next = await Cache.create({ dimension: 2 }, { wasm });
  assert.equal(next.observe({ key: [1, 0] }).slot, 1);
});

test('autosave knows the errors of another copy of the package', async () => {
  const copy = (file) => import(`${new URL(`../../wasm/dist/${file}`, import.meta.url)}?copy`);
  const { DpcacheError: Other } = await copy('errors.js');
  assert.notEqual(Other, DpcacheError);
  const cache = await Cache.create({ dimension: 2 });
  let told = [];
  const store = {
    read: () => Promise.resolve(undefined),
    write: () => Promise.reject(new Other('conflict', 'somebody was faster')),
    remove: () => Promise.resolve(),
  };
  const saving = autosave(cache, store, { delayMs: 1, maxDelayMs: 2, onError: (e) => told.push(e) });
  cache.observe({ key: [1, 0] });
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.deepEqual(
    told.map(({ code, message }) => [code, message]),
    [['conflict', 'conflict: somebody was faster']],
  );
  assert.ok(told[0] instanceof DpcacheError);
  await saving.stop().catch(() => undefined);
});

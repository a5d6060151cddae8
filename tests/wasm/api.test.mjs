// The public API by example and by kind of bad input. What the numbers are is for vectors.test.mjs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import vm from 'node:vm';
import { Cache, DpcacheError, Encoder, hasSimd, version } from 'dpcache';
import { inlineWasm } from 'dpcache/inline';
import { readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
const time = 1000;

// Expects a DpcacheError; errors are given as [index, code, pointer].
function refuses(run, ...errors) {
  assert.throws(run, (error) => {
    assert.ok(error instanceof DpcacheError, String(error?.stack ?? error));
    assert.deepEqual(
      error.errors.map(({ index, code, pointer }) => [index, code, pointer]),
      errors,
    );
    assert.equal(error.code, errors[0][1]);
    assert.ok(error.errors.every(({ detail }) => detail.length > 5));
    return true;
  });
}

async function rejects(promise, code, pointer) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof DpcacheError, String(error?.stack ?? error));
    assert.deepEqual([error.code, error.errors[0].pointer], [code, pointer], error.message);
    return true;
  });
}

const detached = (x) => {
  structuredClone(x, { transfer: [x.buffer] });
  return x;
};

test('the version is the library’s', () => {
  const header = readFileSync(new URL('core/include/dpcache/version.h', root), 'utf8');
  assert.equal(version, /VERSION_STRING "(.*)"/.exec(header)[1]);
  assert.equal(version, JSON.parse(readFileSync(new URL('wasm/package.json', root))).version);
  assert.equal(hasSimd(), true);
});

test('a vector may be a Float32Array, numbers or base64', async () => {
  const key = Float32Array.of(0.1, -2, 3e-5);
  const same = [key, [...key], Buffer.from(key.buffer).toString('base64')];
  const foreign = vm.runInNewContext('Float32Array.of(...numbers)', { numbers: [...key] });
  assert.ok(!(foreign instanceof Float32Array));
  const cache = await Cache.create({ dimension: 3, tau: 0 });
  for (const one of [...same, foreign, key.subarray(0), new Float32Array(new SharedArrayBuffer(12))]) {
    if (one.buffer instanceof SharedArrayBuffer) one.set(key);
    assert.equal(cache.observe({ key: one }).slot, 1);
    assert.deepEqual(cache.nearest(one), { slot: 1, similarity: 1 });
    assert.equal(cache.read({ key: one }).top[0].slot, 1);
  }
  assert.equal(cache.size, 1);
});

const badKeys = [
  ['undefined', undefined, 'bad_request', '/key'],
  ['null', null, 'bad_request', '/key'],
  ['a number', 7, 'bad_request', '/key'],
  ['an object', {}, 'bad_request', '/key'],
  ['a bigint', 7n, 'bad_request', '/key'],
  ['a function', () => [1, 2, 3], 'bad_request', '/key'],
  ['a Uint8Array', new Uint8Array(3), 'bad_request', '/key'],
  ['a Float64Array', new Float64Array(3), 'bad_request', '/key'],
  ['a DataView', new DataView(new ArrayBuffer(12)), 'bad_request', '/key'],
  ['an ArrayBuffer', new ArrayBuffer(12), 'bad_request', '/key'],
  ['text that is no base64', '*', 'bad_request', '/key'],
  ['base64 of 5 bytes', btoa('12345'), 'bad_shape', '/key'],
  ['base64 of 2 floats', btoa('12345678'), 'bad_shape', '/key'],
  ['a string among numbers', [1, '2', 3], 'bad_request', '/key/1'],
  ['a hole among numbers', [1, , 3], 'bad_request', '/key/1'], // eslint-disable-line
  ['a null among numbers', [1, 2, null], 'bad_request', '/key/2'],
  ['an empty list', [], 'bad_shape', '/key'],
  ['too few', [1, 2], 'bad_shape', '/key'],
  ['too many', [1, 2, 3, 4], 'bad_shape', '/key'],
  ['too many floats', new Float32Array(6).fill(1), 'bad_shape', '/key'],
  ['a detached array', detached(Float32Array.of(1, 2, 3)), 'bad_shape', '/key'],
  ['NaN', [1, NaN, 3], 'not_finite', '/key/1'],
  ['NaN as float', Float32Array.of(NaN, 2, 3), 'not_finite', '/key/0'],
  ['Infinity', [1, 2, -Infinity], 'not_finite', '/key/2'],
  ['a double beyond float32', [1e300, 2, 3], 'not_finite', '/key/0'],
  ['zeros', [0, -0, 0], 'zero_norm', '/key'],
  ['zeros as floats', new Float32Array(3), 'zero_norm', '/key'],
  ['doubles that round to zero', [1e-60, 0, 0], 'zero_norm', '/key'],
];

for (const [what, key, code, pointer] of badKeys) {
  test(`${what} is refused as a key, and nothing changes`, async () => {
    const cache = await Cache.create({ dimension: 3 });
    cache.observe({ key: [1, 2, 3], time });
    const before = cache.save();
    let events = 0;
    cache.onEvent(() => events++);
    refuses(() => cache.observe({ key }), [0, code, pointer]);
    refuses(() => cache.nearest({ key }), [0, code, pointer]);
    refuses(() => cache.read({ key }), [0, code, pointer]);
    refuses(() => cache.score([[1, 2, 3], { key }]), [1, code, pointer]);
    refuses(() => cache.observeBatch([{ key: [1, 2, 3] }, { key }]), [1, code, pointer]);
    assert.deepEqual(cache.save(), before);
    assert.equal(events, 0);
  });
}

test('a batch names every bad item, whoever finds it', async () => {
  const cache = await Cache.create({ dimension: 2, valueDimension: 1, ttlMs: 5 });
  const good = { key: [1, 2], value: [1] };
  const items = [good, ...badKeys.map(([, key]) => ({ key, value: [1] })), good, { ...good, value: [] }];
  let error;
  try {
    cache.observeBatch([...items, { ...good, time: 0.5 }, { ...good, extra: 1 }, null]);
  } catch (caught) {
    error = caught;
  }
  const bad = error.errors.map(({ index }) => index);
  // Of the keys that are bad for three components, two are of two components.
  const fine = badKeys.flatMap(([what], i) => (/^(too few|base64 of 2)/.test(what) ? [i + 1] : []));
  assert.deepEqual(
    [...Array(items.length + 3).keys()].filter((i) => !bad.includes(i)),
    [0, ...fine, badKeys.length + 1],
  );
  assert.equal(cache.stats().items, 0);
});

test('fields of an item are checked', async () => {
  const cache = await Cache.create({ dimension: 2, valueDimension: 2 });
  const item = { key: [1, 2], value: [1, 2] };
  const cycle = {};
  cycle.cycle = cycle;
  const bad = [
    [{ value: undefined }, 'bad_shape', '/value'],
    [{ value: [1] }, 'bad_shape', '/value'],
    [{ value: [1, NaN] }, 'not_finite', '/value/1'],
    [{ value: 'é' }, 'bad_request', '/value'],
    [{ payload: cycle }, 'bad_request', '/payload'],
    [{ payload: 1n }, 'bad_request', '/payload'],
    [{ payload: () => 1 }, 'bad_request', '/payload'],
    [{ payload: Symbol('s') }, 'bad_request', '/payload'],
    [{ exactKey: 5 }, 'bad_request', '/exactKey'],
    [{ time: 1.5 }, 'bad_request', '/time'],
    [{ time: NaN }, 'bad_request', '/time'],
    [{ time: '5' }, 'bad_request', '/time'],
    [{ time: 2 ** 53 }, 'bad_request', '/time'],
    [{ ttlMs: -1 }, 'bad_request', '/ttlMs'],
    [{ ttlMs: 0.5 }, 'bad_request', '/ttlMs'],
    [{ encoder: 'other' }, 'encoder_mismatch', '/encoder'],
    [{ encoder: 5 }, 'bad_request', '/encoder'],
    [{ text: 'and a key' }, 'bad_request', '/text'],
    [{ payLoad: 1 }, 'bad_request', '/payLoad'],
  ];
  for (const [change, code, pointer] of bad) {
    refuses(() => cache.observe({ ...item, ...change }), [0, code, pointer]);
  }
  for (const nothing of [null, undefined, 5, 'text']) {
    refuses(() => cache.observe(nothing), [0, 'bad_request', '']);
  }
  refuses(() => cache.observeBatch('text'), [0, 'bad_request', '']);
  refuses(() => cache.nearest([1, 2], { k: -1 }), [0, 'bad_request', '/k']);
  refuses(() => cache.nearest([1, 2], { time: 'now' }), [0, 'bad_request', '/time']);
  refuses(() => cache.score(new Float32Array(3)), [0, 'bad_shape', '']);
  refuses(() => cache.slot(7), [0, 'not_found', '/slot']);
  refuses(() => cache.slot(-1), [0, 'not_found', '/slot']);
  refuses(() => cache.slot('7'), [0, 'bad_request', '/slot']);
  refuses(() => cache.erase(7), [0, 'not_found', '/slot']);
  refuses(() => cache.consolidate(), [0, 'bad_config', '/keepSums']);
  refuses(() => cache.apply(new Uint8Array(5)), [0, 'bad_request', '']);
  refuses(() => cache.apply('event'), [0, 'bad_request', '']);
  assert.equal(cache.stats().seq, 0);
});

test('settings are checked', async () => {
  const bad = [
    [null, 'bad_config', ''],
    [[], 'bad_config', ''],
    [{}, 'bad_config', '/dimension'],
    [{ dimension: 0 }, 'bad_config', '/dimension'],
    [{ dimension: 2.5 }, 'bad_config', '/dimension'],
    [{ dimension: '3' }, 'bad_config', '/dimension'],
    [{ dimension: 2 ** 32 + 3 }, 'bad_config', '/dimension'],
    [{ tau: NaN }, 'bad_config', '/tau'],
    [{ tau: -0.1 }, 'bad_config', '/tau'],
    [{ tau: Infinity }, 'bad_config', '/tau'],
    [{ tau: '0.2' }, 'bad_config', '/tau'],
    [{ tau: 0.2, gate: { a: 1, b: 0.3 } }, 'bad_config', '/tau'],
    [{ gate: { a: 0, b: 0.3 } }, 'bad_config', '/gate/a'],
    [{ gate: { a: NaN, b: 0.3 } }, 'bad_config', '/gate/a'],
    [{ gate: { a: 1, c: 0.3 } }, 'bad_config', '/gate/c'],
    [{ gate: 5 }, 'bad_config', '/gate'],
    [{ keyUpdate: 'thawed' }, 'bad_config', '/keyUpdate'],
    [{ usageDecay: 0 }, 'bad_config', '/usageDecay'],
    [{ maxSlots: 0 }, 'bad_config', '/maxSlots'],
    [{ ttlMs: -5 }, 'bad_config', '/ttlMs'],
    [{ value_dimension: 1 }, 'bad_config', '/value_dimension'],
    [{ threshold: 1 }, 'bad_config', '/threshold'],
    [{ encoder: () => 1 }, 'bad_config', '/encoder'],
    [{ text: { dimension: 4 } }, 'bad_config', '/text/dimension'],
    [{ text: { masks: 'numbers' } }, 'bad_config', '/text/masks'],
    [{ text: { mask: 'number' } }, 'bad_config', '/text/mask'],
    [{ text: {}, dimension: 3 }, 'bad_config', '/text/dimension'],
    [{ text: { dimension: 64 }, dimension: 65 }, 'bad_config', '/dimension'],
    [{ text: {}, encoder: 'other' }, 'bad_config', '/encoder'],
    [{ text: { ownMasks: [{ name: 'A', pattern: /x/ }] } }, 'bad_config', '/text/ownMasks/0/name'],
    [{ text: { ownMasks: [{ name: 'a', pattern: 'x' }] } }, 'bad_config', '/text/ownMasks/0/pattern'],
  ];
  for (const [config, code, pointer] of bad) {
    const full =
      config && !Array.isArray(config) && Object.keys(config).length > 0 && !config.text
        ? { dimension: 3, ...config }
        : config;
    await rejects(Cache.create(full), code, pointer);
  }
});

test('null and undefined settings are absent ones', async () => {
  const cache = await Cache.create({ dimension: 3, tau: undefined, gate: null, encoder: null });
  assert.equal(cache.config.tau, undefined);
  assert.equal(cache.observe({ key: [1, 0, 0] }).threshold, Math.fround(0.4));
});

test('configure changes, takes away, and keeps what was', async () => {
  const cache = await Cache.create({ dimension: 2, tau: 0.3, maxSlots: 5 });
  const events = [];
  cache.onEvent((event) => events.push(event));
  cache.configure({ tau: 0.1 }, { time });
  cache.configure({ tau: null, gate: { a: 8, b: 0.25 }, maxSlots: null }, { time });
  const { tau, gate, maxSlots } = cache.config;
  assert.deepEqual([tau, gate, maxSlots], [undefined, { a: 8, b: 0.25 }, undefined]);
  assert.deepEqual(events[1].config, cache.config);
  refuses(() => cache.configure({ dimension: 3 }), [0, 'bad_config', '/dimension']);
  refuses(() => cache.configure({ tau: 0.2 }), [0, 'bad_config', '/tau']);
  refuses(() => cache.configure(null), [0, 'bad_config', '']);
  assert.equal(events.length, 2);
});

test('a payload is any JSON value', async () => {
  const cache = await Cache.create({ dimension: 2, tau: 0 });
  const payloads = [null, true, 0, -1.5, '', '7', 'é\u0000\ud800', [], {}, [1, { a: [null] }], { n: NaN }];
  payloads.forEach((payload, i) => {
    const { slot } = cache.observe({ key: [1, i], payload });
    const written = JSON.parse(JSON.stringify(payload));
    const kept = typeof written === 'string' ? written.replace('\ud800', '\ud800') : written;
    assert.deepEqual(cache.slot(slot).payload, kept);
    assert.deepEqual(cache.read([1, i]).top[0].payload, kept);
  });
  const { slot } = cache.observe({ key: [-1, 0] });
  assert.equal(cache.slot(slot).payload, undefined);
  cache.observe({ key: [-1, 0], payload: new TextEncoder().encode('{not json') });
  assert.equal(cache.slot(slot).payload, '{not json');
});

test('exact keys merge before vectors are compared', async () => {
  const cache = await Cache.create({ dimension: 2 });
  assert.equal(cache.observe({ key: [1, 0], exactKey: 'DGIA' }).action, 'allocate');
  assert.equal(cache.observe({ key: [0, 1], exactKey: 'DGIA' }).slot, 1);
  assert.equal(cache.observe({ key: [0, 1], exactKey: '' }).slot, 2);
  assert.deepEqual(cache.slot(1).exactKeys, ['DGIA']);
  assert.deepEqual(cache.slot(2).exactKeys, ['']);
  assert.equal(cache.observe({ key: [-1, 0], exactKey: '\u{1f600}' }).slot, 3);
  assert.deepEqual(cache.slot(3).exactKeys, ['\u{1f600}']);
});

test('texts that UTF-8 cannot hold are refused where two would become one', async () => {
  const cache = await Cache.create({ dimension: 2 });
  const before = cache.save();
  for (const half of ['\ud800', 'a\udc00b', '\udc00\ud800']) {
    const item = { key: [1, 0], exactKey: half };
    refuses(() => cache.observe(item), [0, 'bad_request', '/exactKey']);
    refuses(() => cache.observeBatch([{ key: [0, 1] }, item]), [1, 'bad_request', '/exactKey']);
    refuses(() => cache.setMetadata({ [half]: '' }), [0, 'bad_request', `/${half}`]);
    refuses(() => cache.setMetadata({ name: half }), [0, 'bad_request', '/name']);
  }
  assert.deepEqual(cache.save(), before);
});

test('options that are no object are refused', async () => {
  const cache = await Cache.create({ dimension: 2, keepSums: true });
  cache.observe({ key: [1, 0] });
  const before = cache.save();
  for (const none of [null, 'all', 5]) {
    await rejects(Cache.create({ dimension: 2 }, none), 'bad_request', '');
    await rejects(Cache.load(before, none), 'bad_request', '');
    await rejects(Encoder.create({}, none), 'bad_request', '');
    refuses(() => cache.read([1, 0], none), [0, 'bad_request', '']);
    refuses(() => cache.slots(none), [0, 'bad_request', '']);
    refuses(() => cache.erase(1, none), [0, 'bad_request', '']);
    refuses(() => cache.consolidate(none), [0, 'bad_request', '']);
    refuses(() => cache.configure({ tau: 0.1 }, none), [0, 'bad_request', '']);
  }
  assert.deepEqual(cache.save(), before);
});

test('slots expire by the caller’s clock', async () => {
  const cache = await Cache.create({ dimension: 2, ttlMs: 10 });
  cache.observe({ key: [1, 0], time: 100 });
  cache.observe({ key: [0, 1], time: 100, ttlMs: 1000 });
  assert.equal(cache.nearest([1, 0], { time: 109 }).slot, 1);
  assert.equal(cache.nearest([1, 0], { time: 110 }).slot, 2);
  assert.equal(cache.nearest([1, 0], { time: null }).slot, 1);
  assert.equal(cache.nearest([1, 0]), null); // by today's clock both are long gone
  assert.equal(cache.size, 2);
  const removed = [];
  cache.onEvent((event) => removed.push(...event.removed));
  cache.observe({ key: [1, 1], time: 500 });
  assert.deepEqual(removed, [1]);
});

test('an empty cache answers "empty"', async () => {
  const cache = await Cache.create({ dimension: 2, valueDimension: 1 });
  assert.deepEqual(cache.read([1, 0]), { empty: true, value: null, nullWeight: 0, top: [] });
  assert.equal(cache.nearest([1, 0]), null);
  assert.deepEqual(cache.score([[1, 0]]), [[]]);
  assert.deepEqual(cache.score([]), []);
  assert.deepEqual(cache.slots(), []);
  assert.deepEqual(cache.observeBatch([]), []);
});

test('score takes rows of one array', async () => {
  const cache = await Cache.create({ dimension: 2, tau: 0 });
  for (const key of [[1, 0], [0, 1], [1, 1]]) cache.observe({ key });
  const rows = Float32Array.of(1, 0, 0, 2, 3, 3);
  const lists = cache.score(rows, { k: 2 });
  assert.deepEqual(lists, cache.score([[1, 0], [0, 2], [3, 3]], { k: 2 }));
  assert.deepEqual(lists.map(([first]) => first), [1, 2, 3].map((slot) => ({ slot, similarity: 1 })));
});

test('slots are listed in pages and whole', async () => {
  const cache = await Cache.create({ dimension: 2, tau: 0 });
  const count = 2500; // more than one page
  const angle = (2 * Math.PI) / count;
  const key = (_, i) => ({ key: [Math.cos(i * angle), Math.sin(i * angle)] });
  cache.observeBatch(Array.from({ length: count }, key));
  assert.deepEqual(cache.slots().map(({ id }) => id), Array.from({ length: count }, (_, i) => i + 1));
  assert.deepEqual(cache.slots({ after: 1000, limit: 3 }).map(({ id }) => id), [1001, 1002, 1003]);
  assert.deepEqual(cache.slots({ limit: 0 }), []);
  assert.equal(cache.slots({ after: 100, limit: 2048 }).length, 2048);
});

test('events rebuild a cache, and listeners may use it', async () => {
  const config = { dimension: 3, valueDimension: 2, budget: 'fixed', m0: 4, keepSums: true, tau: 0.05 };
  const cache = await Cache.create(config);
  const log = [];
  const sizes = [];
  cache.onEvent((event) => {
    log.push(event);
    sizes.push(cache.size);
    cache.nearest([1, 1, 1]);
  });
  for (let i = 0; i < 40; i++) {
    const key = [Math.sin(i), Math.cos(2 * i), Math.sin(3 * i)];
    cache.observe({ key, value: [i, -i], payload: { i }, exactKey: `${i % 9}`, time: i });
  }
  cache.erase(cache.slots()[0].id, { time: 50 });
  cache.consolidate({ similarity: 0.2, time: 51 });
  cache.configure({ theta: 0.1 }, { time: 52 });
  assert.deepEqual(log.map(({ seq }) => seq), Array.from(log, (_, i) => i + 1));
  assert.ok(log.some(({ removed }) => removed.length > 0));
  assert.ok(log.some(({ folded }) => folded.length > 0));
  assert.equal(sizes.length, log.length);

  const copy = await Cache.create(config);
  for (const { bytes } of log) copy.apply(bytes);
  assert.deepEqual(copy.save(), cache.save());
  refuses(() => copy.apply(log[3].bytes), [0, 'conflict', '']);
});

test('what a listener throws is reported and stops nobody', async () => {
  const cache = await Cache.create({ dimension: 2 });
  const seen = [];
  const uncaught = [];
  const runners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error.message));
  cache.onEvent(() => {
    throw new Error('mine');
  });
  const stop = cache.onEvent(({ seq }) => seen.push(seq));
  assert.equal(cache.observe({ key: [1, 0] }).slot, 1);
  stop();
  stop();
  cache.observe({ key: [1, 0] });
  await new Promise((later) => setTimeout(later, 5));
  process.removeAllListeners('uncaughtException');
  for (const runner of runners) process.on('uncaughtException', runner);
  assert.deepEqual(seen, [1]);
  assert.deepEqual(uncaught, ['mine', 'mine']);
  refuses(() => cache.onEvent('listener'), [0, 'bad_request', '']);
});

test('arguments that run code cannot get between a call and its answer', async () => {
  const cache = await Cache.create({ dimension: 2, tau: 0 });
  const sly = {
    get key() {
      cache.observe({ key: [0, 1], payload: 'inner' });
      return [1, 0];
    },
    payload: {
      toJSON() {
        cache.observe({ key: [-1, 0] });
        return 'outer';
      },
    },
  };
  assert.equal(cache.observe(sly).slot, 3);
  assert.equal(cache.slot(3).payload, 'outer');
  assert.equal(cache.slot(1).payload, 'inner');
  const proxy = new Proxy([1, 0], {
    get(list, name) {
      if (name === '1') cache.dispose();
      return list[name];
    },
  });
  refuses(() => cache.nearest(proxy), [0, 'disposed', '']);
});

test('copies come out, never views of the heap', async () => {
  const cache = await Cache.create({ dimension: 8, valueDimension: 4, tau: 0 });
  const key = Float32Array.from({ length: 8 }, (_, i) => i + 1);
  cache.observe({ key, value: [1, 2, 3, 4], payload: 'p' });
  const held = [cache.slot(1).key, cache.slot(1).value, cache.read(key).value, cache.save()];
  const before = held.map((one) => Array.from(one));
  cache.observeBatch(
    Array.from({ length: 60_000 }, (_, i) => ({ key: [i, 1, 2, 3, 4, 5, 6, 7], value: [0, 0, 0, 0] })),
  ); // the heap grows and moves
  held.forEach((one, i) => assert.deepEqual(Array.from(one), before[i]));
  for (const one of held) one.fill(9);
  assert.deepEqual(Array.from(cache.slot(1).value), [1, 2, 3, 4]);
  assert.deepEqual(key, Float32Array.from({ length: 8 }, (_, i) => i + 1));
});

test('memory files come from anywhere, and damaged ones are refused', async () => {
  const cache = await Cache.create({ dimension: 3, valueDimension: 1, tau: 0.1 });
  cache.observe({ key: [1, 0, 0], value: [7], payload: { text: 'kept' }, time });
  cache.setMetadata({ owner: 'é', empty: '' });
  const file = cache.save();
  const loads = await Promise.all([1, 2, 3].map(() => Cache.load(file)));
  for (const loaded of loads) {
    assert.deepEqual(loaded.save(), file);
    assert.deepEqual(loaded.slot(1).payload, { text: 'kept' });
    assert.deepEqual(Array.from(loaded.slot(1).value), [7]);
    assert.deepEqual(loaded.metadata(), { empty: '', owner: 'é' });
  }
  assert.deepEqual((await Cache.load(file.buffer)).save(), file);
  for (let cut = 0; cut < file.length; cut += 13) {
    await rejects(Cache.load(file.subarray(0, cut)), 'bad_snapshot', '');
  }
  for (let at = 0; at < file.length; at += 7) {
    const flipped = file.slice();
    flipped[at] ^= 1 << (at % 8);
    await rejects(Cache.load(flipped), 'bad_snapshot', '');
  }
  await rejects(Cache.load(Buffer.concat([file, Buffer.of(0)])), 'bad_snapshot', '');
  for (const nothing of [undefined, null, 'file', [1, 2], new Float32Array(2)]) {
    await rejects(Cache.load(nothing), 'bad_request', '');
  }
  refuses(() => cache.setMetadata({ 'dpcache.config': '' }), [0, 'bad_request', '/dpcache.config']);
  refuses(() => cache.setMetadata({ n: 5 }), [0, 'bad_request', '/n']);
  assert.deepEqual(cache.metadata(), { empty: '', owner: 'é' });
});

test('a disposed cache refuses everything, and disposing twice is fine', async () => {
  const cache = await Cache.create({ dimension: 2 });
  cache.observe({ key: [1, 0] });
  cache.dispose();
  cache.dispose();
  const uses = {
    observe: [{ key: [1, 0] }],
    observeBatch: [[{ key: [1, 0] }]],
    read: [[1, 0]],
    nearest: [[1, 0]],
    score: [[[1, 0]]],
    slot: [1],
    slots: [],
    erase: [1],
    consolidate: [],
    configure: [{ tau: 0.2 }],
    stats: [],
    warning: [],
    onEvent: [() => {}],
    apply: [new Uint8Array(4)],
    metadata: [],
    setMetadata: [{}],
    save: [],
  };
  const methods = Object.getOwnPropertyNames(Cache.prototype);
  const getters = ['size', 'config'];
  const inner = ['core', 'ask', 'alter']; // protected: for dpcache/trust
  assert.deepEqual(
    methods.filter((name) => !['constructor', 'dispose', ...getters, ...inner].includes(name)).sort(),
    Object.keys(uses).sort(),
  );
  for (const [name, given] of Object.entries(uses)) {
    refuses(() => cache[name](...given), [0, 'disposed', '']);
  }
  for (const name of getters) refuses(() => cache[name], [0, 'disposed', '']);
  const encoder = await Encoder.create();
  encoder[Symbol.dispose]();
  refuses(() => encoder.encode('x'), [0, 'disposed', '']);
  refuses(() => encoder.mask('x'), [0, 'disposed', '']);
});

test('text is encoded, masked and compared', async () => {
  const cache = await Cache.create({ text: { masks: 'all' } });
  assert.equal(cache.config.tau, 0.17);
  assert.equal(cache.observe({ text: 'request 17 took 5 ms' }).slot, 1);
  assert.equal(cache.observe({ text: 'request 18 took 9 ms' }).slot, 1);
  assert.equal(cache.observe({ text: 'the disk is full' }).slot, 2);
  assert.equal(cache.nearest({ text: 'the disk is full' }).slot, 2);
  assert.deepEqual(cache.score([{ text: 'the disk is full' }], { k: 1 })[0][0].slot, 2);
  const encoder = await Encoder.create({ masks: 'all' });
  assert.equal(encoder.id, cache.config.encoder);
  assert.equal(cache.nearest(encoder.encode('request 1 took 1 ms')).similarity, 1);
  refuses(() => cache.observe({ text: 5 }), [0, 'bad_request', '/text']);
  const plain = await Cache.create({ dimension: 256, encoder: 'a model of mine' });
  refuses(() => plain.observe({ text: 'x' }), [0, 'encoder_mismatch', '/text']);
  refuses(() => plain.read({ text: 'x' }), [0, 'encoder_mismatch', '/text']);
  refuses(
    () => plain.observeBatch([{ text: 'x' }, { key: new Float32Array(256).fill(1) }, { key: [1] }]),
    [0, 'encoder_mismatch', '/text'],
    [2, 'bad_shape', '/key'],
  );
  const named = await Cache.create({ dimension: 256, encoder: encoder.id });
  assert.equal(named.observe({ text: 'by its id' }).slot, 1);
});

test('masks: names, lists, all, none', async () => {
  const text = 'node-7 10.0.0.1 0xBEEF at 12:00:01 in /var/log/x, 5 ms';
  const mask = async (masks) => (await Encoder.create({ masks })).mask(text);
  assert.equal(await mask('none'), text);
  assert.equal(await mask(undefined), text);
  assert.equal(await mask([]), text);
  assert.equal(await mask('ip,path'), await mask(['ip', 'path']));
  assert.match(await mask(['ip', 'path']), /<ip> 0xBEEF at 12:00:01 in <path>/);
  assert.match(await mask('all'), /<ip> <hex> at <time> in <path>/);
  await rejects(Encoder.create({ masks: ['ips'] }), 'bad_config', '/masks');
  await rejects(Encoder.create({ masks: 5 }), 'bad_config', '/masks');
  await rejects(Encoder.create({ seed: -1 }), 'bad_config', '/seed');
  await rejects(Encoder.create({ seed: 0.5 }), 'bad_request', '/seed');
});

test('masks of one’s own find what the RegExp finds, at the right bytes', async () => {
  const patterns = [/user \w+/i, /[äöü]+/u, /😀./u, /^/, /\bid=(\S+)/, /x*/, /(?<=#)\d+/];
  const ownMasks = patterns.map((pattern, i) => ({ name: `own${i}`, pattern }));
  const texts = [
    'User bob and user eve',
    'ä äöü 😀! 😀😀 id=ü7 #12 xxyx',
    '\ufeffuser x',
    'user a'.repeat(300),
    '',
    'x'.repeat(5000),
  ];
  for (const [i, pattern] of patterns.entries()) {
    const encoder = await Encoder.create({ ownMasks: [ownMasks[i]] });
    const whole = new RegExp(pattern.source, `${pattern.flags}g`);
    for (const text of texts) {
      const replaced = text.replace(whole, (match) => (match === '' ? '' : `<own${i}>`));
      assert.equal(encoder.mask(text), replaced.normalize('NFD'), `${pattern} in ${text.slice(0, 40)}`);
    }
    assert.equal(pattern.lastIndex, 0);
  }
  const all = await Encoder.create({ ownMasks });
  assert.equal(all.mask('User bob, id=7 äö'), '<own0>, <own4> <own1>');
  const other = await Encoder.create({ ownMasks: [{ name: 'own0', pattern: /user \w+/ }] });
  assert.notEqual(other.id, (await Encoder.create({ ownMasks: [ownMasks[0]] })).id);
});

test('a memory with masks of one’s own needs them for text, and for nothing else', async () => {
  const ownMasks = [{ name: 'user', pattern: /user \w+/ }];
  const cache = await Cache.create({ text: { ownMasks } });
  cache.observe({ text: 'user bob logged in', time });
  const file = cache.save();
  const bare = await Cache.load(file);
  assert.equal(bare.nearest(bare.slot(1).key).similarity, 1);
  refuses(() => bare.observe({ text: 'x' }), [0, 'encoder_mismatch', '/text']);
  const whole = await Cache.load(file, { ownMasks });
  assert.equal(whole.nearest({ text: 'user eve logged in' }).similarity, 1);
  const wrong = [{ name: 'user', pattern: /user/ }];
  await rejects(Cache.load(file, { ownMasks: wrong }), 'encoder_mismatch', '/ownMasks');
});

test('the WebAssembly can come from anywhere', async () => {
  const url = new URL('wasm/dist/dpcache.wasm', root);
  const bytes = readFileSync(url);
  const module = await WebAssembly.compile(bytes);
  const response = () => new Response(bytes, { headers: { 'content-type': 'application/wasm' } });
  const untyped = () => new Response(bytes);
  const sources = [url, String(url), bytes, module, response(), untyped(), Promise.resolve(module)];
  for (const wasm of [...sources, inlineWasm()]) {
    const cache = await Cache.create({ dimension: 2 }, { wasm });
    assert.equal(cache.observe({ key: [1, 0] }).slot, 1);
    cache.dispose();
  }
  await rejects(Cache.create({ dimension: 2 }, { wasm: new Uint8Array(8) }), 'unavailable', '');
  await rejects(Cache.create({ dimension: 2 }, { wasm: new URL('none', url) }), 'unavailable', '');
  const notFound = new Response('', { status: 404 });
  await rejects(Cache.create({ dimension: 2 }, { wasm: notFound }), 'unavailable', '');
  await rejects(Cache.create({ dimension: 2 }, { wasm: Promise.reject(new Error('mine')) }), 'unavailable', '');
});

test('a threshold that merges nearly all is warned about', async () => {
  const cache = await Cache.create({ dimension: 4, tau: 1.9 });
  for (let i = 0; i < 300; i++) cache.observe({ key: [Math.sin(i), Math.cos(i), Math.sin(2 * i), 1] });
  assert.match(cache.warning(), /tau|threshold/);
  assert.equal((await Cache.create({ dimension: 4 })).warning(), '');
});

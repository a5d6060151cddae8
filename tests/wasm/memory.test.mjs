// Memory: nothing leaks, and nothing that was given out is touched when the heap grows and moves.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Cache } from 'dpcache';
import { inlineWasm } from 'dpcache/inline';
import { runtime } from '../../wasm/dist/runtime.js';

// An instance whose heap can be looked at.
async function watched() {
  const module = await WebAssembly.compile(inlineWasm());
  let heap;
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...given) => {
    const instance = await instantiate(...given);
    heap = Object.values(instance.exports).find((one) => one instanceof WebAssembly.Memory);
    return instance;
  };
  const warm = await Cache.create({ dimension: 2 }, { wasm: module });
  WebAssembly.instantiate = instantiate;
  warm.dispose();
  return { wasm: module, bytes: () => heap.buffer.byteLength };
}

test('100,000 caches made and disposed leave the memory flat', async () => {
  const { wasm, bytes } = await watched();
  const ownMasks = [{ name: 'user', pattern: /user \w+/ }];
  const once = async (i) => {
    const config = i % 2 ? { dimension: 64, valueDimension: 8 } : { text: { dimension: 64, ownMasks } };
    const cache = await Cache.create(config, { wasm });
    const value = i % 2 ? { value: new Float32Array(8) } : {};
    cache.observe({ key: Float32Array.from({ length: 64 }, (_, j) => i + j), payload: { i }, ...value });
    cache.onEvent(() => {});
    cache.dispose();
  };
  for (let i = 0; i < 1000; i++) await once(i);
  const before = bytes();
  for (let i = 0; i < 100_000; i++) await once(i);
  assert.equal(bytes(), before);
});

test('1,000,000 observes with growth leave old results as they were', async () => {
  const { wasm, bytes } = await watched();
  const cache = await Cache.create({ dimension: 16, valueDimension: 2, tau: 0.02 }, { wasm });
  let seed = 1;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  const before = bytes();
  const held = [];
  const total = 1_000_000;
  const payload = 'x'.repeat(20_000);
  let known = 0;
  for (let i = 0; i < total; i++) {
    // A new one now and then, until there are 2,000; they hold 40 MB.
    const fresh = i % 500 === 0;
    const at = fresh ? known++ : Math.floor(random() * known);
    const key = Float32Array.from({ length: 16 }, (_, j) => ((at + 1) * (j + 3) * 7919) % 1009 - 504);
    const item = { key, value: [at, 0], time: i };
    const decision = cache.observe(fresh ? { ...item, payload: payload + at } : item);
    if (i % 997 === 0) {
      const slot = cache.slot(decision.slot);
      const reading = i % 9970 === 0 ? cache.read(key, { k: 3, time: null }) : undefined;
      held.push([slot, reading, decision, JSON.stringify([[...slot.key], reading?.top, decision])]);
    }
  }
  assert.ok(bytes() > before, 'the heap has grown');
  assert.equal(cache.stats().items, total);
  for (const [slot, reading, decision, text] of held) {
    assert.equal(JSON.stringify([[...slot.key], reading?.top, decision]), text);
    assert.deepEqual(cache.slot(slot.id).key, slot.key);
  }
});

test('large requests and replies are given back', async () => {
  const { wasm, bytes } = await watched();
  const cache = await Cache.create({ dimension: 1024, tau: 0.4 }, { wasm });
  const items = Array.from({ length: 4096 }, () => ({ key: new Float32Array(1024).fill(1) }));
  const payload = 'x'.repeat(5_000_000);
  const round = () => {
    cache.observeBatch(items);
    cache.observe({ key: items[0].key, payload });
    cache.save();
    cache.slots();
    cache.score(items.slice(0, 100));
  };
  for (let i = 0; i < 3; i++) round();
  const before = bytes();
  for (let i = 0; i < 30; i++) round();
  assert.equal(bytes(), before);
});

test('what a large request, reply or event took is given back after its call', async () => {
  const { core } = await runtime();
  const cache = await Cache.create({ dimension: 4096, tau: 0.4 });
  const { trim } = core;
  let trims = 0;
  core.trim = () => {
    trims++;
    trim();
  };
  const trimsOf = (call) => {
    trims = 0;
    call();
    return trims;
  };
  try {
    const unit = (i) => Float32Array.from({ length: 4096 }, (_, j) => (j === i ? 1 : 0));
    for (let i = 0; i < 512; i++) cache.observe({ key: unit(i) });
    const few = [{ key: unit(0) }];
    assert.equal(trimsOf(() => cache.observeBatch(few)), 0);
    assert.equal(trimsOf(() => cache.slots({ limit: 10 })), 0);
    assert.equal(trimsOf(() => cache.slots()), 1, 'a large reply');
    assert.equal(trimsOf(() => cache.setMetadata({ name: 'x'.repeat(5e6) })), 1, 'a large request');
    assert.equal(trimsOf(() => cache.setMetadata({})), 0);
    cache.onEvent(() => {});
    assert.equal(trimsOf(() => cache.observe(few[0])), 0);
    // An event holds its item twice, in parts and as bytes: these are large where the request is not.
    const some = Array.from({ length: 40 }, () => few[0]);
    assert.equal(trimsOf(() => cache.observeBatch(some)), 1, 'large events');
  } finally {
    core.trim = trim;
    cache.dispose();
  }
});

test('what is disposed leaves no mask behind', () => {
  const program = `
    import { Cache, Encoder } from 'dpcache';
    const used = () => (globalThis.gc(), process.memoryUsage().heapUsed);
    const begin = used();
    for (let i = 0; i < 100; i++) {
      const masks = (name) => [{ name, pattern: new RegExp('x'.repeat(100_000) + name + i) }];
      (await Encoder.create({ ownMasks: masks('a') })).dispose();
      (await Cache.create({ text: { ownMasks: masks('b') } })).dispose();
      await Encoder.create({ ownMasks: [...masks('c'), { name: 'C', pattern: /x/ }] }).catch(() => {});
    }
    // The engine forgets its own copies only after some collections.
    for (let i = 0; i < 10; i++) await new Promise((later) => setTimeout(later, 5), globalThis.gc());
    console.log(Math.round((used() - begin) / 1e6));
  `;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', '--input-type=module', '--eval', program],
    { cwd: fileURLToPath(new URL('.', import.meta.url)), encoding: 'utf8' },
  );
  assert.ok(stdout !== '' && Number(stdout) < 10, `${stdout} MB ${stderr}`); // all would be 30 MB
});

test('a cache that finds no memory says so, keeps its state, and goes on', async () => {
  const { wasm } = await watched();
  const cache = await Cache.create({ dimension: 2, tau: 0 }, { wasm });
  const payload = new Uint8Array(200_000_000).fill(32);
  let error;
  for (let i = 0; i < 25 && !error; i++) {
    try {
      cache.observe({ key: [1, i], payload });
    } catch (caught) {
      error = caught;
      assert.equal(cache.size, i);
    }
  }
  assert.equal(error?.code, 'full', String(error));
  assert.equal(cache.observe({ key: [1, 0] }).slot, 1);
  assert.equal(cache.observe({ key: [-1, 0] }).slot, cache.size);
  const other = await Cache.create({ dimension: 2 });
  assert.equal(other.observe({ key: [1, 0] }).slot, 1);
});

test('caches that nobody holds any more are taken back', () => {
  const program = `
    import { Cache, Encoder } from 'dpcache';
    const key = new Float32Array(4096).fill(1);
    let slots = 0;
    for (let i = 0; i < 3000; i++) {
      const cache = await Cache.create({ dimension: 4096 });
      cache.observe({ key });
      slots += cache.size;
      await Encoder.create();
      if (i % 100 === 0) { globalThis.gc(); await new Promise((later) => setTimeout(later, 1)); }
    }
    console.log(slots, Math.round(process.memoryUsage().arrayBuffers / 1e6));
  `;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', '--input-type=module', '--eval', program],
    { cwd: fileURLToPath(new URL('.', import.meta.url)), encoding: 'utf8' },
  );
  const [slots, megabytes] = stdout.split(' ').map(Number);
  assert.equal(slots, 3000, stderr);
  assert.ok(megabytes < 40, `${megabytes} MB`); // 3,000 of them would hold 150 MB
});

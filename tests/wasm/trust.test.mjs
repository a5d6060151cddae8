// dpcache/trust in Node.js: the same bits as native code, and what is refused.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { xxhash3 } from 'hash-wasm';
import { Cache as PlainCache } from 'dpcache';
import { loadOrCreate } from 'dpcache/store';
import * as remote from 'dpcache/remote';
import { Cache, DpcacheError } from 'dpcache/trust';
import * as worker from 'dpcache/worker';
import { serving, skip } from './serving.mjs';
import { canonical, expected, runVector } from './vector_runner.mjs';

const folder = new URL('../vectors/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
const guards = [
  'number', 'negation', 'antonym', 'identifier', 'entity', 'replaced', 'order', 'scope',
];

for (const name of names) {
  test(`vector ${name}: without trust the same bits as ever`, async () => {
    const script = JSON.parse(readFileSync(new URL(name, folder)));
    // Decisions say more here; what they say beside is that nothing was uncertain or guarded.
    class Plain {
      static async create(...given) {
        return plain(await Cache.create(...given));
      }
      static async load(...given) {
        return plain(await Cache.load(...given));
      }
    }
    const { answers, stateHash, snapshot } = await runVector(Plain, script, { batches: true });
    const wanted = expected(script.answers, name);
    answers.forEach((answer, i) => assert.equal(canonical(answer), canonical(wanted[i]), `step ${i}`));
    if (script.state_hash) assert.equal(stateHash, script.state_hash);
    if (script.snapshot_hash) assert.equal(await xxhash3(snapshot), script.snapshot_hash);
  });
}

function plain(cache) {
  const less = ({ uncertain, verdict, guarded, ...decision }) => {
    assert.deepEqual([uncertain, verdict, guarded], [false, null, []]);
    return decision;
  };
  return new Proxy(cache, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name === 'observe') return (item) => less(target.observe(item));
      if (name === 'observeBatch') return (items) => target.observeBatch(items).map(less);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

// As OneHistory of tests/native/trust_test.cc, by any cache that has these calls.
const settingsOf = (settings) => ({
  dimension: 4, tauMerge: 0.125, audit: 'full', guards, keyUpdate: 'centroid',
  valueDimension: 1, valueUpdate: 'mean', ...settings,
});

async function oneHistory(cache) {
  const texts = [
    '', 'turn on dark mode', 'turn off dark mode', 'please turn on dark mode', 'open port 22',
    'open port 80',
  ];
  const scopes = ['', 'tenant a', 'tenant b'];
  let state = 1;
  const next = (n) => {
    state = Number((BigInt(state) * 1103515245n + 12345n) & 0x7fffffffn);
    return Math.floor(state / 65536) % n;
  };
  for (let i = 0; i < 60; i++) {
    const key = Array.from({ length: 4 }, () => next(5) - 1.75);
    const value = [next(7)];
    const guardText = texts[next(6)];
    await cache.observe({ key, value, time: i, id: `id ${i}`, guardText, scope: scopes[next(3)] });
    if (i % 9 !== 8) continue;
    const [review] = await cache.reviews();
    if (review) {
      const verdict = ['same', 'different', 'unknown'][next(3)];
      await cache.review(review.slot, review.other, verdict, { time: i });
    }
    for (const { id } of await cache.slots()) {
      const members = await cache.members(id);
      if (members.length < 2) continue;
      const opened = await cache.split(id, members[1].member, { time: i });
      if (next(2) === 0) await cache.mustMerge(id, opened, { time: i });
      break;
    }
  }
  await cache.mustNotMerge(1, (await cache.slots()).at(-1).id, { time: 60 });
}

async function replayedHistory(config) {
  const cache = await Cache.create(config);
  const replayed = await Cache.create(config);
  cache.onEvent((event) => replayed.apply(event.bytes));
  await oneHistory(cache);
  assert.deepEqual(replayed.save(), cache.save());
  assert.deepEqual((await Cache.load(cache.save())).save(), cache.save());
  assert.deepEqual((await Cache.load(cache.save())).reviews(), cache.reviews());
  return cache;
}

test('one history has the same bits as native code', async () => {
  const cache = await replayedHistory(settingsOf({ tau: 0.5 }));
  assert.equal(cache.stats().stateHash, 'ebef76d2cd68b823');
  assert.equal(await xxhash3(cache.save()), '8e66584ebc9e4ea3');
});

const learning = { gate: { a: 7, b: 0.5 }, correctionRate: 0.1 };
const learned = { a: 6.2111197, b: 0.21520406 };
const learnedHash = 'b3502ffe3f37ab59';

test('a gate that learns comes to the same bits as in native code', async () => {
  const cache = await replayedHistory(settingsOf(learning));
  assert.deepEqual(cache.config.gate, learned);
  assert.equal(cache.stats().stateHash, learnedHash);
  assert.equal(await xxhash3(cache.save()), '24093f31237d8f2d');
});

test('in a worker it is the same history, and the same answers', async () => {
  const here = await Cache.create(settingsOf(learning));
  const there = await worker.TrustCache.create(settingsOf(learning));
  await oneHistory(there);
  await oneHistory(here);
  assert.deepEqual((await there.config()).gate, learned);
  assert.deepEqual(await there.save(), here.save());
  await compare(there, here);
  const again = await worker.TrustCache.load(await there.save(), { transfer: true });
  assert.deepEqual(await again.reviews(), here.reviews());
  await Promise.all([there.dispose(), again.dispose()]);
});

test('on a server it is the same history, and the same answers', { skip }, async () => {
  const server = await serving();
  try {
    const here = await Cache.create(settingsOf(learning));
    const options = { url: server.url, name: 'history' };
    const there = await remote.TrustCache.openOrCreate(settingsOf(learning), options);
    await oneHistory(there);
    await oneHistory(here);
    assert.equal((await there.stats()).stateHash, learnedHash);
    assert.deepEqual((await there.config()).gate, learned);
    await compare(there, here);
    assert.ok((await remote.TrustCache.open(options)) instanceof remote.TrustCache);
    // Which of two slots stays is said by the caller.
    const before = await there.slots();
    const [old, young] = [before[0].id, before.at(-1).id];
    await there.mustMerge(young, old);
    const ids = (slots) => slots.map(({ id }) => id);
    assert.deepEqual(ids(await there.slots()), ids(before.slice(1)));
    await there.dispose();
  } finally {
    await server.close();
  }
});

/** Everything that can be asked; a server tells no keys and values of members. */
async function compare(there, here) {
  const told = (members) => members.map((one) => ({ ...one, key: null, value: null }));
  assert.deepEqual(await there.reviews(), here.reviews());
  assert.deepEqual(await there.apart(), here.apart());
  for (const { id } of here.slots()) {
    assert.deepEqual(told(await there.members(id)), told(here.members(id)));
  }
  for (const query of [[1, 0, 0, 0], [1, 1, 1, 1], { key: [-1, 2, 0, 1] }]) {
    for (const options of [
      {}, { guardText: 'open port 22', time: 7 }, { scope: 'tenant a', time: null },
    ]) {
      assert.deepEqual(await there.lookup(query, options), here.lookup(query, options));
    }
  }
  const items = [
    { key: [1, 2, 3, 4], value: [1], id: 'a', time: 90 },
    { key: [4, 3, 2, 1], value: [1], guardText: 'open port 80', scope: 'tenant b', time: 91 },
  ];
  assert.deepEqual(await there.observeBatch(items), here.observeBatch(items));
  const plain = [{ key: [1, 2, 3, 4], value: [1] }];
  assert.equal((await there.observeBatch(plain))[0].guarded.length, 0);
  for (const [call, code, pointer] of [
    [(cache) => cache.members(1e6), 'not_found'],
    [(cache) => cache.split(1, 1e6), 'not_found'],
    [(cache) => cache.split(1.5, 1), 'bad_request', '/slot'],
    [(cache) => cache.mustMerge(1, 1), 'bad_request', '/other'],
    [(cache) => cache.mustNotMerge(1, 1e6), 'not_found', '/other'],
    [(cache) => cache.review(1, 1e6, 'same'), 'not_found'],
    [(cache) => cache.review(1, 2, 'maybe'), 'bad_request', '/verdict'],
    [(cache) => cache.observe({ key: [1, 0, 0, 0], value: [1], id: 7 }), 'bad_request', '/id'],
    [(cache) => cache.observe({ text: 'a', guardText: 'b' }), 'bad_request', '/guardText'],
    [(cache) => cache.lookup([0, 0, 0, 0]), 'zero_norm'],
    [(cache) => cache.lookup([1, 0, 0, 0], { scope: 7 }), 'bad_request', '/scope'],
  ]) {
    for (const cache of [there, here]) {
      await assert.rejects(async () => call(cache), (error) => {
        assert.ok(error instanceof DpcacheError, String(error));
        assert.equal(error.code, code);
        if (pointer) assert.equal(error.errors[0].pointer, pointer);
        return true;
      });
    }
  }
}

test('with audit ids, the item is brought once more, wherever the cache is', { skip }, async () => {
  const server = await serving();
  try {
    const config = { text: {}, tau: 0.9, audit: 'ids', valueUpdate: 'first' };
    const item = { text: 'turn off dark mode', id: 'off', payload: { z: 1, a: 2 } };
    for (const cache of [
      await Cache.create(config),
      await worker.TrustCache.create(config),
      await remote.TrustCache.create(config, { url: server.url, name: 'ids' }),
    ]) {
      await cache.observe({ text: 'turn on dark mode', payload: 'on' });
      await cache.observe(item);
      const wrong = (await cache.members(1))[1];
      assert.equal(wrong.kept, false);
      await assert.rejects(async () => cache.split(1, wrong.member), { code: 'bad_config' });
      const opened = await cache.split(1, wrong.member, { item });
      assert.deepEqual((await cache.slot(opened)).payload, item.payload);
      await cache.dispose();
    }
  } finally {
    await server.close();
  }
});

test('the worker loads the WebAssembly of trust only if it is asked to', async () => {
  const wasm = new URL('file:///there/is/no/such.wasm');
  const plain = await worker.Cache.create({ dimension: 2 });
  await assert.rejects(worker.TrustCache.create({ dimension: 2, audit: 'ids' }, { wasm }), {
    code: 'unavailable',
  });
  assert.equal(await plain.size(), 0);
  await assert.rejects(worker.Cache.create({ dimension: 2, audit: 'ids' }), { code: 'bad_config' });
  await plain.dispose();
});

test('a wrong merge is found, explained, undone and not repeated', async () => {
  const cache = await Cache.create({ text: {}, tau: 0.9, audit: 'full', keepSums: true });
  cache.observe({ text: 'turn on dark mode', id: 'on', payload: 1, time: 0 });
  const wrong = cache.observe({ text: 'turn off dark mode', id: 'off', payload: 2, time: 1 });
  assert.equal(wrong.action, 'merge');
  const members = cache.members(1);
  assert.deepEqual(members.map(({ id }) => id), ['on', 'off']);
  assert.deepEqual(members.map(({ text }) => text), ['turn on dark mode', 'turn off dark mode']);
  assert.equal(members[1].similarity, wrong.similarity);
  assert.equal(members[1].payload, 2);
  const opened = cache.split(1, members[1].member, { time: 2 });
  assert.equal(cache.lookup({ text: 'turn off dark mode' }).slot.slot, opened);
  assert.equal(cache.observe({ text: 'turn off dark mode', time: 3 }).slot, opened);
  assert.deepEqual(cache.consolidate({ similarity: 0 }), []);
  assert.deepEqual(cache.apart(), [{ slot: 1, other: opened }]);
});

test('guards do not merge it in the first place', async () => {
  const cache = await Cache.create({ text: {}, tau: 0.9, guards });
  cache.observe({ text: 'turn on dark mode' });
  const found = cache.lookup({ text: 'turn off dark mode' });
  assert.deepEqual([found.found, found.guarded, found.reasons], ['miss', ['antonym'], ['guarded']]);
  assert.deepEqual(cache.observe({ text: 'turn off dark mode' }).guarded, ['antonym']);
  assert.equal(cache.lookup({ text: 'please turn off dark mode' }).found, 'hit');
  assert.equal(cache.lookup({ text: 'turn on dark mode' }, { scope: 'another' }).found, 'miss');
});

test('what is uncertain is flagged, listed and answered', async () => {
  const cache = await Cache.create({ dimension: 2, tau: 0.5, tauMerge: 0.1, audit: 'ids' });
  cache.observe({ key: [1, 0], time: 0 });
  assert.equal(cache.lookup([2, 1]).found, 'uncertain');
  assert.equal(cache.observe({ key: [2, 1], time: 1 }).uncertain, true);
  assert.equal(cache.lookup([2, 1]).found, 'hit');
  assert.equal(cache.reviews().length, 1);
  assert.equal(cache.reviews()[0].slot, 2);
  cache.review(2, 1, 'same');
  assert.deepEqual(cache.reviews(), []);
  assert.equal(cache.members(1).length, 2);
});

const doubtful = (more) =>
  Cache.create({ text: {}, tau: 0.9, tauMerge: 0.05, audit: 'full', ...more });

test('a judge that answers at once is asked what it needs, and what it says holds', async () => {
  const cache = await doubtful();
  const asked = [];
  cache.onUncertain((question) => {
    asked.push(question);
    assert.equal(cache.reviews().length, 1); // it may ask the cache
    return question.item.text.includes('off') ? 'different' : 'same';
  });
  cache.observe({ text: 'turn on dark mode', payload: 1, time: 0 });
  const off = cache.observe({ text: 'turn off dark mode', payload: { x: 2 }, time: 1 });
  const { action, uncertain, verdict, folded } = off;
  assert.deepEqual([action, uncertain, verdict, folded], ['allocate', true, 'different', []]);
  assert.deepEqual(asked, [{
    item: { slot: 2, text: 'turn off dark mode', payload: { x: 2 } },
    other: { slot: 1, text: 'turn on dark mode', payload: 1 },
    similarity: off.similarity, tauMerge: 0.05, threshold: off.threshold,
  }]);
  assert.deepEqual(cache.apart(), [{ slot: 1, other: 2 }]);
  const please = cache.observe({ text: 'please turn on dark mode', time: 2 });
  assert.equal(please.verdict, 'same');
  assert.deepEqual(please.folded, [{ slot: please.slot, into: 1 }]);
  assert.deepEqual(cache.reviews(), []);
  assert.equal(cache.slot(1).count, 2);
  cache.onUncertain(null);
  assert.equal(cache.observe({ text: 'turn dark mode on now', time: 3 }).verdict, null);
  assert.equal(cache.reviews().length, 1);
});

test('a judge may answer later, and a few at once', async () => {
  const cache = await doubtful();
  let underWay = 0;
  let most = 0;
  cache.onUncertain(
    async ({ item }) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 5));
      --underWay;
      return item.text.includes('off') ? 'different' : 'same';
    },
    { atOnce: 2 },
  );
  cache.observe({ text: 'turn on dark mode' });
  const words = ['off', 'on please', 'off now', 'on at once', 'off again'];
  const decisions = cache.observeBatch(words.map((word) => ({ text: `turn ${word} dark mode` })));
  assert.ok(decisions.filter(({ uncertain }) => uncertain).length >= 4);
  assert.ok(decisions.every(({ verdict }) => verdict === null));
  await cache.judged();
  assert.equal(most, 2);
  assert.deepEqual(cache.reviews(), []);
  const replayed = await Cache.load(cache.save());
  assert.deepEqual(replayed.apart(), cache.apart());
});

test('of a batch all pairs are judged, also where an answer has folded their slots', async () => {
  const cache = await Cache.create({ dimension: 2, tau: 0.5, tauMerge: 0.01 });
  const asked = [];
  cache.onUncertain(({ item, other }) => (asked.push([item.slot, other.slot]), 'same'));
  // Each is uncertain about the one before, which has been folded by then.
  cache.observeBatch([[1, 0], [4, 1], [4, 3], [3, 4]].map((key) => ({ key })));
  assert.deepEqual(asked, [[2, 1], [3, 1], [4, 1]]);
  assert.deepEqual([cache.size, cache.reviews()], [1, []]);
});

test('a judge that fails, or does not know, leaves the pair listed', async () => {
  for (const judge of [
    () => { throw new Error('no'); },
    async () => { throw new Error('no'); },
    () => 'perhaps',
    async () => undefined,
  ]) {
    const cache = await doubtful();
    const failed = [];
    cache.onUncertain(judge, { onError: (error, { item }) => failed.push([error, item.slot]) });
    cache.observe({ text: 'turn on dark mode' });
    assert.equal(cache.observe({ text: 'turn off dark mode' }).verdict, null);
    await cache.judged();
    assert.equal(failed.length, 1);
    assert.ok(failed[0][0] instanceof Error);
    assert.equal(failed[0][1], 2);
    assert.equal(cache.reviews().length, 1);
  }
  const cache = await doubtful();
  cache.onUncertain(() => 'unknown');
  cache.observe({ text: 'turn on dark mode' });
  assert.equal(cache.observe({ text: 'turn off dark mode' }).verdict, 'unknown');
  assert.equal(cache.reviews().length, 1);
  refusal(() => cache.onUncertain('same'), 'bad_request', '');
  refusal(() => cache.onUncertain(() => 'same', { atOnce: 0 }), 'bad_request', '/atOnce');
});

test('an answer that comes too late is dropped', async () => {
  for (const meanwhile of [
    (cache) => cache.review(2, 1, 'different'),
    (cache) => cache.erase(2),
    (cache) => cache.dispose(),
  ]) {
    const cache = await doubtful();
    const failed = [];
    let answer;
    cache.onUncertain(() => new Promise((resolve) => (answer = resolve)), {
      onError: (error) => failed.push(error),
    });
    cache.observe({ text: 'turn on dark mode' });
    cache.observe({ text: 'turn off dark mode' });
    meanwhile(cache);
    answer('same');
    await cache.judged();
    assert.deepEqual(failed, []);
  }
});

test('a gate that has learned goes on from there when it is opened again', async () => {
  const config = { dimension: 2, gate: { a: 10, b: 0.5 }, correctionRate: 0.1 };
  const cache = await Cache.create(config);
  cache.observe({ key: [1, 0] });
  cache.observe({ key: [1, 2] });
  cache.mustNotMerge(1, 2);
  const { gate } = cache.config;
  assert.notDeepEqual(gate, config.gate);
  const store = { read: async () => cache.save() };
  assert.deepEqual((await loadOrCreate(Cache, store, config)).config.gate, gate);
  const { correctionRate, ...fixed } = config;
  assert.deepEqual((await loadOrCreate(Cache, store, fixed)).config.gate, config.gate);
});

const refusal = (call, code, pointer) => {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof DpcacheError, String(error));
    assert.deepEqual([error.code, error.errors[0].pointer], [code, pointer]);
    return;
  }
  assert.fail('nothing was refused');
};

test('what cannot be done is refused and changes nothing', async () => {
  const cache = await Cache.create({ dimension: 2, audit: 'full' });
  cache.observe({ key: [1, 0] });
  const before = cache.save();
  refusal(() => cache.split(1, 1), 'bad_request', '/member');
  refusal(() => cache.split(1, 7), 'not_found', '/member');
  refusal(() => cache.split(7, 1), 'not_found', '/slot');
  refusal(() => cache.split(1.5, 1), 'bad_request', '/slot');
  refusal(() => cache.split(1, 1, { item: { key: [0, 0] } }), 'zero_norm', '/item/key');
  refusal(() => cache.members(7), 'not_found', '/slot');
  refusal(() => cache.mustMerge(1, 1), 'bad_request', '/other');
  refusal(() => cache.mustNotMerge(1, 7), 'not_found', '/other');
  refusal(() => cache.review(1, 7, 'same'), 'not_found', '/other');
  refusal(() => cache.review(1, 7, 'maybe'), 'bad_request', '/verdict');
  refusal(() => cache.observe({ key: [1, 0], id: 'x'.repeat(1025) }), 'bad_request', '/id');
  refusal(() => cache.observe({ text: 'a', guardText: 'b' }), 'bad_request', '/guardText');
  refusal(() => cache.observe({ key: [1, 0], scope: 7 }), 'bad_request', '/scope');
  refusal(() => cache.observe({ key: [1, 0], other: 7 }), 'bad_request', '/other');
  refusal(() => cache.lookup([0, 0]), 'zero_norm', '/key');
  refusal(() => cache.lookup([1, 0], { time: 'now' }), 'bad_request', '/time');
  assert.deepEqual(cache.save(), before);
  const none = await Cache.create({ dimension: 2 });
  none.observe({ key: [1, 0] });
  refusal(() => none.members(1), 'bad_config', '/audit');
  for (const [config, pointer] of [
    [{ tauMerge: 0.5 }, '/tauMerge'],
    [{ audit: 'some' }, '/audit'],
    [{ auditMembers: 1 }, '/auditMembers'],
    [{ guards: ['numbers'] }, '/guards'],
    [{ guards: [7] }, '/guards/0'],
    [{ correctionRate: 0.1 }, '/correctionRate'],
    [{ correctionRate: 2, gate: { a: 10, b: 0.4 } }, '/correctionRate'],
  ]) {
    await assert.rejects(Cache.create({ dimension: 2, ...config }), (error) => {
      assert.equal(error.errors[0].pointer, pointer);
      return error instanceof DpcacheError;
    });
  }
});

test('the cache of dpcache says where these settings belong', async () => {
  for (const setting of [
    { tauMerge: 0.1 }, { audit: 'ids' }, { guards }, { auditMembers: 7 }, { correctionRate: 0.1 },
  ]) {
    await assert.rejects(PlainCache.create({ dimension: 2, ...setting }), (error) => {
      assert.equal(error.code, 'bad_config');
      assert.equal(error.errors[0].pointer, `/${Object.keys(setting)[0]}`);
      return error.message.includes('dpcache/trust');
    });
  }
  const cache = await Cache.create({ dimension: 2, audit: 'full' });
  cache.observe({ key: [1, 0] });
  await assert.rejects(PlainCache.load(cache.save()), { code: 'bad_snapshot' });
});

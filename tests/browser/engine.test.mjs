// The engine behind the page, without a browser: what the page shows of any moment is what the cache
// held then, and what is saved or asked at a moment is of that moment.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cache } from 'dpcache';
import { Cache as TrustCache } from 'dpcache/trust';
import { bundle } from './bundle.mjs';

const { Engine } = await bundle('engine/engine.ts', 'engine');
const { Moment } = await bundle('state/moment.ts', 'moment');
const { Results } = await bundle('state/results.ts', 'results');
const { kindsInWindow } = await bundle('state/window.ts', 'window');
const { defaultsFor } = await bundle('settings.ts', 'engine-settings');

/** An engine, and what it says by request; `results` are those of the latest replay. */
function started() {
  const stage = { results: undefined, told: [] };
  const waiting = new Map();
  let ids = 0;
  const engine = new Engine((reply) => {
    stage.told.push(reply);
    if (reply.type === 'begin') stage.results = new Results(reply.begin);
    else if (reply.type === 'chunk') stage.results.add(reply.chunk);
    else if (reply.type === 'failed') waiting.get(reply.id)?.reject(new Error(reply.message));
    else waiting.get(reply.type === 'done' ? reply.done.run : reply.id)?.resolve(reply);
  });
  stage.send = (request) => {
    const id = ++ids;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      engine.receive({ id, ...request });
    });
  };
  stage.replay = (knobs, corrections) =>
    stage.send({ type: 'replay', knobs: { ...defaultsFor('log'), ...knobs }, corrections });
  stage.trust = async (at, slot = 0) => {
    const { run } = stage.results.begin;
    return (await stage.send({ type: 'trust', run, at, slot })).trust;
  };
  stage.save = async (at) => {
    const { run } = stage.results.begin;
    // It reads what the plain one writes, too.
    return TrustCache.load((await stage.send({ type: 'save', run, at })).bytes);
  };
  return stage;
}

const close = (a, b) => assert.ok(Math.abs(a - b) <= 1e-4 * Math.abs(b) + 1e-6, `${a} is not ${b}`);

/** Compares each of these moments with the cache of that moment, in this order. */
async function compare(stage, moments) {
  const shown = new Moment(stage.results);
  for (const at of moments) {
    shown.moveTo(at);
    const cache = await stage.save(at);
    const slots = cache.slots();
    const live = [...shown.slots.values()].filter(({ goneItem }) => goneItem < 0);
    assert.deepEqual(live.map(({ id }) => id), slots.map(({ id }) => id), `slots at ${at}`);
    assert.deepEqual(live.map(({ count }) => count), slots.map(({ count }) => count));
    for (const [i, slot] of slots.entries()) close(shown.usageOf(live[i]), slot.usage);
    assert.equal(shown.live, cache.size);
    assert.equal(stage.results.slotsAt(at), cache.size);
    const { evictions, folds, merges, allocations } = cache.stats();
    const sum = (bins) => bins.reduce((total, n) => total + n, 0);
    const splits = stage.results.edits.filter((one) => one.kind === 'split' && one.at <= at).length;
    assert.deepEqual(
      [shown.evicted, shown.folded, sum(shown.merged), sum(shown.allocated) + splits],
      [evictions, folds, merges, allocations],
    );
    cache.dispose();
  }
}

const lines = (count) =>
  Array.from({ length: count }, (_, i) => `${'alpha beta gamma delta'.split(' ')[i % 4]} ${'xyz'.repeat((i * 7) % 11)} ${i % 13}`);
const fileOf = (name, text) => new File([text], name);
const moments = [0, 1, 7, 60, 300, 299, 3, 300];

for (const [what, knobs] of [
  ['plain', {}],
  ['decaying', { decay: 0.9 }],
  ['fixed', { budget: 'fixed', m0: 6, decay: 0.95 }],
  ['adaptive', { budget: 'adaptive', m0: 2, beta: 30 }],
  ['ghost', { budget: 'ghost', m0: 5, tau: 0.05 }],
  ['all of their own', { tau: 0, masks: [], key: 'centroid', value: 'last' }],
]) {
  test(`any moment is what the cache held then: ${what}`, async () => {
    const stage = started();
    await stage.send({ type: 'file', file: fileOf('a.log', lines(300).join('\n')) });
    await stage.replay(knobs);
    await compare(stage, moments);
  });
}

test('any moment is what the cache held then: an opened memory that folds', async () => {
  const cache = await Cache.create({
    text: {},
    tau: 0.05,
    budget: 'fixed',
    m0: 6,
    shrink: 'merge',
    usageDecay: 0.9,
  });
  const bytes = cache.save();
  const stage = started();
  await stage.send({ type: 'file', file: fileOf('a.log', lines(300).join('\n')) });
  await stage.send({ type: 'file', file: fileOf('m.dpc', bytes) });
  await stage.replay({ tau: 0.05, budget: 'fixed', m0: 6, decay: 0.9 });
  const folds = stage.results.gone.filter(({ into }) => into > 0).length;
  assert.ok(folds > 10, `${folds} folds`);
  await compare(stage, moments);
});

// Settings in which each correction has something to do.
const corrected = { tau: 0.4, merge: 0.1, audit: 'full', decay: 0.97 };

for (const [what, knobs] of [
  ['by all that is kept', {}],
  ['by the items once more', { audit: 'ids' }],
  ['with centroids and guards', { key: 'centroid', value: 'last', guards: ['negation', 'order'] }],
]) {
  test(`any moment is what the cache held then, also after corrections: ${what}`, async () => {
    const stage = started();
    await stage.send({ type: 'file', file: fileOf('a.log', lines(300).join('\n')) });
    const settings = { ...corrected, ...knobs };
    const made = [];
    const make = async (correction) => {
      made.push(correction);
      const { done } = await stage.replay(settings, made);
      assert.deepEqual(done.refused, []);
    };
    await stage.replay(settings);
    for (const at of [60, 61, 130, 300]) {
      const shown = new Moment(stage.results);
      shown.moveTo(at);
      const largest = [...shown.slots.values()].sort((a, b) => b.count - a.count)[0];
      const { members } = await stage.trust(at, largest.id);
      assert.equal(members.length, largest.count);
      const { item } = members[members.length >> 1];
      await make({ at, kind: 'split', member: { item } });
      const { opened, slot } = stage.results.edits.find((one) => one.item === item);
      assert.deepEqual([slot, (await stage.trust(at, opened)).members[0].item], [largest.id, item]);
      // The pair is listed, and what comes later leaves it apart.
      for (const later of [at, 300]) {
        const { apart } = await stage.trust(later);
        assert.ok(apart.some((one) => one.slot === slot && one.other === opened), `${later}`);
      }
      const { reviews } = await stage.trust(at);
      const ref = (id) => ({ item: shown.slots.get(id)?.firstItem ?? item });
      const [first, second] = reviews;
      if (first) await make({ at, kind: 'verdict', slot: ref(first.slot), other: ref(first.other), verdict: 'same' });
      if (second) await make({ at, kind: 'verdict', slot: ref(second.slot), other: ref(second.other), verdict: 'different' });
      assert.ok((await stage.trust(at)).reviews.length < Math.max(1, reviews.length));
    }
    assert.ok(stage.results.edits.some(({ kind }) => kind === 'fold'), 'nothing was folded by hand');
    await compare(stage, moments);
  });
}

test('what was split off and then called the same is one again', async () => {
  const stage = started();
  await stage.send({ type: 'file', file: fileOf('a.log', lines(300).join('\n')) });
  await stage.replay(corrected);
  const before = (await stage.save(300)).slots().map(({ id, count }) => [id, count]);
  const { members } = await stage.trust(300, before[0][0]);
  const [first, second] = members.map(({ item }) => ({ item }));
  const split = { at: 300, kind: 'split', member: second };
  await stage.replay(corrected, [split]);
  assert.equal((await stage.save(300)).size, before.length + 1);
  const same = { at: 300, kind: 'verdict', slot: first, other: second, verdict: 'same' };
  await stage.replay(corrected, [split, same]);
  assert.deepEqual((await stage.save(300)).slots().map(({ id, count }) => [id, count]), before);
  await compare(stage, [300, 150, 300]);
});

test('a correction that has no place is refused by its number, and the others are made', async () => {
  const stage = started();
  await stage.send({ type: 'file', file: fileOf('a.log', 'one\none\ntwo words\n') });
  const split = (item, at = 3) => ({ at, kind: 'split', member: { item } });
  const { done } = await stage.replay({ audit: 'full' }, [split(1), split(2), split(7)]);
  assert.deepEqual(done.refused.map(({ correction }) => correction), [1, 2]);
  assert.match(done.refused[0].message, /only member/);
  assert.match(done.refused[1].message, /not come yet/);
  assert.equal((await stage.save(3)).size, 3);
});

test('a memory with an audit is opened with it, and corrected before its first item', async () => {
  const cache = await TrustCache.create({ text: {}, tau: 0.9, audit: 'full', guards: ['number', 'scope'] });
  cache.observe({ text: 'turn on dark mode', id: 'on', payload: { text: 'turn on dark mode' } });
  cache.observe({ text: 'turn off dark mode', id: 'off', payload: { text: 'turn off dark mode' } });
  const stage = started();
  await stage.send({ type: 'file', file: fileOf('a.log', 'turn off dark mode\nturn off dark mode, 7\n') });
  const { opened } = await stage.send({ type: 'file', file: fileOf('m.dpc', cache.save()) });
  assert.deepEqual([opened.memory.config.audit, opened.memory.config.guards], ['full', ['number', 'scope']]);
  const settings = { tau: 0.9, audit: 'full', guards: ['number'] };
  await stage.replay(settings);
  assert.deepEqual(stage.results.begin.config.guards, ['number', 'scope']);
  assert.deepEqual([...stage.results.opened], [0, 1]);
  assert.deepEqual([...stage.results.guarded], [0, 1]); // the number
  const { members } = await stage.trust(0, 1);
  assert.deepEqual(members.map(({ item, name, text }) => [item, name, text]), [
    [-1, 'on', 'turn on dark mode'],
    [-1, 'off', 'turn off dark mode'],
  ]);
  await stage.replay(settings, [{ at: 0, kind: 'split', member: { slot: 1, seq: members[1].seq } }]);
  assert.deepEqual(stage.results.begin.slots.map(({ id, example }) => [id, example]), [
    [1, 'turn on dark mode'],
    [2, 'turn off dark mode'],
  ]);
  assert.equal(stage.results.slot[0], 2);
  const shown = new Moment(stage.results);
  shown.moveTo(2);
  const now = (await stage.save(2)).slots().map(({ id, count }) => [id, count]);
  assert.deepEqual([...shown.slots.values()].map(({ id, count }) => [id, count]), now);
});

test('a memory with a gate keeps it, whatever the threshold’s knob says', async () => {
  const gate = { a: 20, b: 0.25 };
  const cache = await Cache.create({ text: {}, gate });
  const stage = started();
  await stage.send({ type: 'file', file: fileOf('a.log', lines(50).join('\n')) });
  await stage.send({ type: 'file', file: fileOf('m.dpc', cache.save()) });
  await stage.replay({ tau: 0.9 });
  assert.equal(stage.results.begin.config.tau, undefined);
  assert.equal(stage.results.begin.config.gate.a, 20);
  assert.equal(stage.results.computed, 50);
});

for (const [what, line, kept] of [
  ['bytes', 'a'.repeat(5000), 'a'.repeat(4096)],
  ['two bytes each', 'é'.repeat(5000), 'é'.repeat(2048)],
  ['pairs, and not half of one', `a${'😀'.repeat(2000)}`, `a${'😀'.repeat(1023)}`],
  ['a line that fits', `${'é'.repeat(2047)}ab`, `${'é'.repeat(2047)}ab`],
]) {
  test(`what is kept of a line is cut where the command line cuts it: ${what}`, async () => {
    const stage = started();
    await stage.send({ type: 'file', file: fileOf('a.log', line) });
    await stage.replay({});
    const cache = await stage.save(1);
    const cut = kept === line ? {} : { bytes: Buffer.byteLength(line) };
    assert.deepEqual(cache.slot(1).payload, { text: kept, file: 'a.log', line: 1, ...cut });
  });
}

test('a newer replay ends the one that runs', async () => {
  const stage = started();
  await stage.send({ type: 'sample', sample: 'log', size: 10_000 });
  void stage.replay({ tau: 0, masks: [] });
  while (!stage.results) await new Promise((later) => setTimeout(later, 1));
  const old = stage.results.begin.run;
  await stage.replay({ tau: 0.5 });
  assert.equal(stage.results.begin.config.tau, 0.5);
  assert.equal(stage.results.computed, 10_000);
  assert.deepEqual(stage.told.filter(({ done }) => done?.run === old), [], 'it went to its end');
});

test('what is asked of a stream that is gone is refused', async () => {
  const stage = started();
  await stage.send({ type: 'sample', sample: 'log', size: 500 });
  await stage.replay({});
  const { run } = stage.results.begin;
  const ask = () => stage.send({ type: 'ask', run, at: 500, question: { text: 'a' } });
  assert.equal((await ask()).type, 'answer');
  for (const change of [
    { type: 'sample', sample: 'support', size: 500 },
    { type: 'file', file: fileOf('m.dpc', (await Cache.create({ text: {} })).save()) },
    { type: 'forget' },
  ]) {
    await stage.send(change);
    await assert.rejects(ask(), /just changed/);
    await assert.rejects(stage.send({ type: 'save', run, at: 1 }), /just changed/);
  }
});

test('a window holds as many kinds as are in it', () => {
  const slots = Float64Array.from({ length: 200 }, (_, i) => (i * i) % 17);
  for (const size of [1, 2, 5, 50, 200, 500]) {
    const kinds = kindsInWindow(slots, 150, size);
    assert.equal(kinds.length, 150);
    for (const [i, found] of kinds.entries()) {
      assert.equal(found, new Set(slots.subarray(Math.max(0, i + 1 - size), i + 1)).size);
    }
  }
});

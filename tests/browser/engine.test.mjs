// The engine behind the page, without a browser: what the page shows of any moment is what the cache
// held then, and what is saved or asked at a moment is of that moment.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cache } from 'dpcache';
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
  stage.replay = (knobs) =>
    stage.send({ type: 'replay', knobs: { ...defaultsFor('log'), ...knobs } });
  stage.save = async (at) => {
    const { run } = stage.results.begin;
    return Cache.load((await stage.send({ type: 'save', run, at })).bytes);
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
    assert.deepEqual(
      [shown.evicted, shown.folded, sum(shown.merged), sum(shown.allocated)],
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

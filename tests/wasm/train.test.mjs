// dpcache/train in Node.js: the same bits as native code, and every argument that is refused.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Cache, Encoder } from 'dpcache';
import * as api from 'dpcache/train';
import { expectedTraining, runTraining } from './train_runner.mjs';
import { canonical } from './vector_runner.mjs';

const { calibrate, calibrateItems, DpcacheError, novelties, OnlineGate, train, trainOnTask } = api;
const folder = new URL('../vectors/train/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
const read = (name) => JSON.parse(readFileSync(new URL(name, folder)));

test('there are training vectors', () => assert.ok(names.length >= 3));

for (const name of names) {
  test(`training vector ${name}: the same bits as native code`, async () => {
    const script = read(name);
    const answers = await runTraining(api, script);
    const expected = expectedTraining(script.answers);
    answers.forEach((answer, i) => {
      assert.equal(canonical(answer), canonical(expected[i]), `step ${i}`);
    });
  });
}

// Pairs at evenly spread novelties; different from .5 on.
const spread = Array.from({ length: 400 }, (_, i) => ({ novelty: i / 400, same: i < 200 }));

const refusal = async (call, code, pointer, index = 0) => {
  const error = await Promise.resolve()
    .then(call)
    .then(() => assert.fail('nothing was refused'), (thrown) => thrown);
  assert.ok(error instanceof DpcacheError, String(error));
  assert.deepEqual([error.code, error.errors[0].pointer, error.errors[0].index], [code, pointer, index]);
  return error;
};

test('a learned gate is one that a cache takes', async () => {
  const { gate, same, different, separation, reason } = await train(spread);
  assert.deepEqual([same, different, separation, reason], [200, 200, 1, '']);
  assert.ok(Math.abs(gate.b - 0.5) < 0.01);
  const cache = await Cache.create({ dimension: 2, gate });
  cache.observe({ key: [1, 0] });
  assert.equal(cache.observe({ key: [1, 0.2] }).action, 'merge');
  assert.equal(cache.observe({ key: [0, 1] }).action, 'allocate');
  const strict = await train(spread.concat({ novelty: 0.1, same: false }), { falseMergeCost: 50 });
  assert.ok(strict.gate.b < gate.b);
});

test('texts are encoded by an encoder, whose masks count', async () => {
  const encoder = await Encoder.create({ masks: 'number' });
  const pairs = [
    { textA: 'request 1', textB: 'request 2', same: true },
    { textA: 'request 1', textB: 'the disk is full', same: false },
  ];
  const [near, far] = await novelties(pairs, { encoder });
  assert.equal(near, 0);
  assert.ok(far > 0.8);
  const own = { encode: () => Float32Array.of(1, 2, 3) };
  assert.deepEqual([...(await novelties(pairs, { encoder: own }))], [0, 0]);
  await refusal(() => novelties(pairs), 'bad_request', '/textA');
});

test('pairs that novelty misleads give a reason instead of a gate', async () => {
  const { gate, reason, separation } = await train(spread.map((one) => ({ ...one, same: !one.same })));
  assert.equal(gate, null);
  assert.equal(separation, 0);
  assert.match(reason, /no more novel/);
  assert.match((await train([])).reason, /both kinds/);
});

test('a bound is met, or refused with the number that it takes', async () => {
  const { tau, chosen, curve, atRisk } = await calibrate(spread, { maxFalseMerge: 0.05 });
  assert.equal(atRisk, 200);
  assert.equal(chosen.tau, tau);
  assert.ok(chosen.falseMergeBound <= 0.05);
  assert.equal(curve.length, 401);
  assert.ok(curve[Math.round(tau * 200) + 1].falseMergeBound > 0.05);
  const refused = await calibrate(spread);
  assert.deepEqual([refused.tau, refused.chosen, refused.needed], [null, null, 230]);
  assert.match(refused.reason, /at least 230 .* there are 200/);
});

test('a bound on the next ones counts them', async () => {
  const next = await calibrate(spread, { maxFalseMerge: 0.05, upcoming: 100 });
  const rate = await calibrate(spread, { maxFalseMerge: 0.05 });
  assert.ok(next.tau < rate.tau, `${next.tau} and ${rate.tau}`);
  for (const { falseMergeBound } of next.curve) {
    assert.equal(falseMergeBound, Math.round(falseMergeBound * 100) / 100);
  }
  assert.deepEqual(await calibrate(spread, { maxFalseMerge: 0.05, upcoming: 0 }), rate);
  const refused = await calibrate(spread, { upcoming: 50 });
  assert.deepEqual([refused.tau, refused.needed], [null, 450]);
  assert.match(refused.reason, /^a limit of 0 false merges among the next 50 pairs .* there are 200$/);
});

test('items are run against the slots of a reference', async () => {
  const reference = [
    { key: [1, 0], label: 'east' },
    { key: [0, 1], label: 1 },
  ];
  const items = [];
  for (let i = 0; i < 300; i++) items.push({ key: [1, i / 1000], label: i % 2 ? 'east' : 'other' });
  const { atRisk, mergeable, curve } = await calibrateItems(items, reference);
  assert.deepEqual([atRisk, mergeable], [300, 150]);
  assert.equal(curve.at(-1).falseMerges, 150);
  const number = await calibrateItems([{ key: [0, 1], label: '1' }], reference);
  assert.equal(number.curve[0].falseMerges, 1, 'the labels 1 and "1" are two');
});

test('corrections move a gate, and one that is refused does not', async () => {
  const gate = await OnlineGate.create({ a: 10, b: 0.4 });
  const before = gate.gate;
  const after = gate.correct({ novelty: 0.3, same: false });
  assert.ok(after.b < before.b && after.b >= before.b - 0.021);
  assert.ok(gate.correct({ novelty: 0.7, same: true }).b > after.b);
  const { gate: kept, steps } = gate;
  await refusal(() => gate.correct({ novelty: 3, same: true }), 'bad_request', '/novelty');
  await refusal(() => gate.correct({ novelty: NaN, same: true }), 'not_finite', '/novelty');
  await refusal(() => gate.correct({ a: [1, 2], b: [1], same: true }), 'bad_shape', '/b');
  await refusal(() => gate.correct({ a: [1, 2], b: [0, 0], same: true }), 'zero_norm', '/b');
  assert.deepEqual([gate.gate, gate.steps], [kept, steps]);
  gate.dispose();
  gate.dispose();
  await refusal(() => gate.correct({ novelty: 0.3, same: true }), 'disposed', '');
});

test('a gate is learned from the answers alone, and lets others run', async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const losses = [];
  const { gate, steps } = await trainOnTask({
    practice: { least: 8, most: 24 },
    steps: 400,
    onStep: (_, loss) => losses.push(loss),
  });
  clearInterval(timer);
  assert.ok(gate.b > 0.2 && gate.b < 0.6, JSON.stringify(gate));
  assert.deepEqual([steps, losses.length], [400, 400]);
  assert.ok(losses.slice(-50).reduce((a, b) => a + b) < losses.slice(0, 50).reduce((a, b) => a + b));
  assert.ok(ticks > 0);
});

test('episodes of one’s own teach as well', async () => {
  // Two things, three times each: the second and third time are worth no slot.
  const things = [
    [1, 0, 0],
    [0, 1, 0],
  ];
  const episode = {
    keys: [0, 1, 0, 1, 0, 1].map((i) => things[i]),
    keyClasses: [0, 1, 0, 1, 0, 1],
    queries: things,
    queryClasses: [0, 1],
    classes: 2,
  };
  const { gate } = await trainOnTask({ episodes: [episode], lambda: 0.2 });
  assert.ok(gate.b > 0 && gate.b < 1, JSON.stringify(gate));
  const at = (change) => trainOnTask({ episodes: [episode, { ...episode, ...change }], steps: 2 });
  await refusal(() => at({ keyClasses: [0, 1, 0, 1, 0, 2] }), 'bad_request', '/keyClasses', 5);
  await refusal(() => at({ keyClasses: [0] }), 'bad_shape', '/keys');
  await refusal(() => at({ keys: [[1, 0, 0], [1]] }), 'bad_shape', '/episodes/1/keys/1');
  await refusal(() => at({ classes: 1.5 }), 'bad_request', '/episodes/1/classes');
  await refusal(() => at({ queries: 'x' }), 'bad_request', '/episodes/1/queries');
});

test('training can be given up', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const promise = trainOnTask({
    practice: {},
    steps: 1e6,
    signal: controller.signal,
    onStep: (step) => step === 5 && controller.abort(reason),
  });
  await assert.rejects(promise, (error) => error === reason);
  const thrown = new Error('from a listener');
  const onStep = () => {
    throw thrown;
  };
  await assert.rejects(trainOnTask({ practice: {}, onStep }), (error) => error === thrown);
});

test('bad arguments are named', async () => {
  await refusal(() => train('x'), 'bad_request', '');
  await refusal(() => train([null]), 'bad_request', '');
  await refusal(() => train([spread[0], { novelty: 0.1 }]), 'bad_request', '/same', 1);
  await refusal(() => train([{ novelty: 0.1, a: [1], same: true }]), 'bad_request', '');
  await refusal(() => train([{ same: true }]), 'bad_request', '');
  await refusal(() => train([{ a: [1], same: true }]), 'bad_request', '/b');
  await refusal(() => train([spread[0], { a: [1], b: [NaN], same: true }]), 'not_finite', '/b/0', 1);
  await refusal(() => train([{ novelty: '1', same: true }]), 'bad_request', '/novelty');
  await refusal(() => train(spread, { falseMergeCost: 0 }), 'bad_config', '/falseMergeCost');
  await refusal(() => train(spread, null), 'bad_request', '');
  await refusal(() => calibrate(spread, { maxFalseMerge: 1 }), 'bad_config', '/maxFalseMerge');
  await refusal(() => calibrate(spread, { confidence: '0.9' }), 'bad_request', '/confidence');
  await refusal(() => calibrate(spread, { upcoming: 1.5 }), 'bad_request', '/upcoming');
  await refusal(() => calibrate(spread, { upcoming: '5' }), 'bad_request', '/upcoming');
  await refusal(() => calibrate(spread, { upcoming: 2 ** 53 }), 'bad_request', '/upcoming');
  await refusal(() => calibrate(spread, { upcoming: -1 }), 'bad_config', '/upcoming');
  const both = await refusal(
    () => novelties([{ a: [], b: [], same: true }, { a: [1], b: [0], same: true }]),
    'bad_shape',
    '/a',
  );
  assert.deepEqual(both.errors.map(({ index }) => index), [0, 1]);
  const item = { key: [1], label: 1 };
  await refusal(() => calibrateItems([item, { key: [1] }], [item]), 'bad_request', '/items/label', 1);
  await refusal(() => calibrateItems([item], [item], { upcoming: NaN }), 'bad_request', '/upcoming');
  await refusal(() => calibrateItems([item], [{ label: 1 }]), 'bad_request', '/reference');
  await refusal(() => calibrateItems([{ key: [1, 2], label: 1 }], [item]), 'bad_shape', '/items/key');
  await refusal(() => calibrateItems([{ key: [0], label: 1 }], [item]), 'zero_norm', '/items/keys');
  await refusal(() => OnlineGate.create({ a: 0.1, b: 0 }), 'bad_config', '/a');
  await refusal(() => OnlineGate.create({ a: 10, b: 3 }), 'bad_config', '/b');
  await refusal(() => OnlineGate.create({ a: 10, b: 0.4 }, { rate: 2 }), 'bad_config', '/rate');
  await refusal(() => OnlineGate.create(null), 'bad_request', '');
  await refusal(() => trainOnTask({}), 'bad_request', '/episodes');
  await refusal(() => trainOnTask({ practice: {}, episodes: [] }), 'bad_request', '/episodes');
  await refusal(() => trainOnTask({ episodes: [] }), 'bad_request', '/episodes');
  await refusal(() => trainOnTask({ practice: { noise: 11 } }), 'bad_config', '/practice/noise');
  await refusal(() => trainOnTask({ practice: { most: 2 ** 40 } }), 'bad_config', '/practice/most');
  await refusal(() => trainOnTask({ practice: { seed: 0.5 } }), 'bad_request', '/practice/seed');
  await refusal(() => trainOnTask({ practice: {}, steps: 0 }), 'bad_config', '/steps');
  await refusal(() => trainOnTask({ practice: {}, lambda: -1 }), 'bad_config', '/lambda');
  await refusal(
    () => trainOnTask({ practice: {}, nullSimilarity: 2, steps: 1 }),
    'bad_config',
    '/nullSimilarity',
  );
});

test('the WebAssembly can be given, and one that is none is named', async () => {
  const bytes = readFileSync(new URL('../../wasm/dist/train.wasm', import.meta.url));
  const { gate } = await train(spread, { wasm: bytes });
  assert.deepEqual(gate, (await train(spread)).gate);
  await assert.rejects(train(spread, { wasm: new Uint8Array(8) }), { code: 'unavailable' });
});

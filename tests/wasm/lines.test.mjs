// dpcache/lines in Node.js: round trips, the pieces that text comes in, and every line that is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cache } from 'dpcache';
import { DpcacheError, fromLine, takeLines, toLine, toLines } from 'dpcache/lines';

const text = async (cache, options) => {
  let all = '';
  for await (const line of toLines(cache, options)) all += line;
  return all;
};

test('slots go out and come in again as they were', async () => {
  const from = await Cache.create({ dimension: 3, valueDimension: 2, tau: 0.1, valueUpdate: 'last' });
  for (let i = 0; i < 600; i++) {
    from.observe({
      key: [Math.sin(i), Math.cos(i * 1.7), Math.sin(i * 2.3)],
      value: [i, -i / 3],
      payload: i % 3 === 0 ? undefined : { text: `line ${i}\n`, n: i },
      ...(i % 5 === 0 ? { exactKey: `k${i}` } : {}),
      time: i,
      ...(i % 7 === 0 ? { ttlMs: 1e9 } : {}),
    });
  }
  assert.ok(from.stats().slots > 20);
  for (const keys of ['decimal', 'base64']) {
    const to = await Cache.create({ dimension: 3, valueDimension: 2, tau: 0.1, valueUpdate: 'last' });
    const report = await takeLines(to, await text(from, { keys }), { batch: 7 });
    assert.equal(report.taken, from.stats().slots);
    assert.equal(report.opened, from.stats().slots);
    const kept = (cache) =>
      cache.slots().map(({ key, value, payload, exactKeys, firstTime, expires }) =>
        ({ key, value, payload, exactKeys, firstTime, expires }));
    assert.deepEqual(kept(to), kept(from));
  }
});

test('a line is the shortest that gives the same float32', async () => {
  const cache = await Cache.create({ dimension: 2 });
  cache.observe({ key: [3, 4], time: 1 });
  assert.match(toLine(cache.slot(1)), /^\{"id":1,"key":\[0\.6,0\.8\],"usage":1,"count":1,"first_time":1,"last_time":1\}$/);
  assert.match(toLine(cache.slot(1), { keys: 'none', encoder: 'e' }), /^\{"id":1,"usage":.*"encoder":"e"\}$/);
});

test('text comes in any pieces, and empty lines are passed over', async () => {
  const lines = '{"key":[1,0],"payload":"é"}\r\n\n{"key":[0,1]}\n  \n{"key":[-1,0]}';
  const bytes = new TextEncoder().encode(lines);
  const pieces = Array.from({ length: bytes.length }, (_, i) => bytes.subarray(i, i + 1));
  for (const source of [lines, [lines.slice(0, 9), lines.slice(9)], new Blob([bytes]).stream(),
    (async function* () { yield* pieces; })()]) {
    const cache = await Cache.create({ dimension: 2 });
    const { lines: count, taken, opened, bad } = await takeLines(cache, source);
    assert.deepEqual([count, taken, opened, bad], [5, 3, 3, []]);
    assert.equal(cache.slot(1).payload, 'é');
  }
});

const kBad = [
  ['x', /is not JSON/], ['[1]', /no.*object/], ['{"key":[1,"a"]}', /\/key\/1: must be a number/],
  ['{"key":[1]}', /\/key: /], ['{"key":[0,0]}', /\/key: /], ['{"key":"?"}', /\/key: is not base64/],
  ['{"payload":1}', /\/key: a key or a text is needed/], ['{"key":[1,0],"x":1}', /\/x: rows have no such field/],
  ['{"key":[1,0],"time":1.5}', /\/time: must be an integer/], ['{"key":[1,0],"exact_keys":[1]}', /\/exact_keys\/0/],
  ['{"key":[1,0],"payload_base64":"?"}', /\/payload_base64/], ['{"key":[1,0],"ttl_ms":-1}', /\/ttlMs|\/ttl_ms/],
  ['{"key":[1,0],"expires":5}', /\/expires: needs a time/],
];

test('bad lines are left out if asked to, and all are named', async () => {
  const source = ['{"key":[1,0]}', ...kBad.map(([line]) => line), '{"key":[0,1]}'].join('\n');
  for (const batch of [1, 5, 1000]) {
    const cache = await Cache.create({ dimension: 2 });
    const { taken, bad } = await takeLines(cache, source, { skipBad: true, batch });
    assert.equal(taken, 2);
    assert.deepEqual(bad.map(({ line }) => line), kBad.map((_, i) => i + 2));
    bad.forEach(({ reason }, i) => assert.match(reason, kBad[i][1]));
    assert.equal(cache.stats().items, 2);
  }
});

test('else the batch that has one is refused, with its lines', async () => {
  for (const [line, reason] of kBad) {
    const cache = await Cache.create({ dimension: 2 });
    await assert.rejects(takeLines(cache, `{"key":[1,0]}\n${line}\n`), (error) => {
      assert.ok(error instanceof DpcacheError);
      assert.equal(error.errors[0].index, 1);
      assert.match(error.errors[0].detail, /^line 2: /);
      assert.match(error.errors[0].detail, reason);
      return true;
    });
    assert.equal(cache.stats().items, 0);
  }
  await assert.rejects(takeLines(await Cache.create({ dimension: 2 }), '', { batch: 0 }), /batch/);
});

test('it can be ended between two batches', async () => {
  const cache = await Cache.create({ dimension: 2, tau: 2 });
  const seen = [];
  const report = await takeLines(cache, '{"key":[1,0]}\n'.repeat(100), {
    batch: 10,
    onProgress: (lines) => { seen.push(lines); return lines < 30; },
  });
  assert.deepEqual(seen, [10, 20, 30]);
  assert.deepEqual([report.taken, cache.stats().items], [30, 30]);
});

test('a slot with several exact keys is an item for each', () => {
  assert.deepEqual(fromLine('{"text":"a","exact_keys":["x","y"],"time":3}'), [
    { text: 'a', time: 3, exactKey: 'x' },
    { text: 'a', time: 3, exactKey: 'y' },
  ]);
});

// dpcache/guards in Node.js: the answers of the native library, facts that are kept, tables of
// words, and every argument that is refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DpcacheError, guardNames, Guards } from 'dpcache/guards';

const { pairs } = JSON.parse(
  readFileSync(new URL('../vectors/guards/pairs.json', import.meta.url), 'utf8'),
);

const refusal = async (call, code, pointer) => {
  const error = await Promise.resolve()
    .then(call)
    .then(() => assert.fail('nothing was refused'), (thrown) => thrown);
  assert.ok(error instanceof DpcacheError, String(error));
  assert.deepEqual([error.code, error.errors[0]?.pointer], [code, pointer]);
};

const hex = (bytes) =>
  [...new BigUint64Array(bytes.slice().buffer)].map((cell) => cell.toString(16).padStart(16, '0')).join('');

test('guards and facts are those of the native library, bit for bit', async () => {
  const guards = await Guards.create();
  assert.ok(pairs.length > 10);
  for (const { a, b, guards: names, facts_a: factsA, facts_b: factsB } of pairs) {
    const spoken = names === 'none' ? [] : names.split(',');
    assert.deepEqual(guards.between(a, b), spoken, `${a} / ${b}`);
    assert.deepEqual(guards.between(guards.facts(b), a), spoken, `${b} / ${a}`);
    assert.deepEqual([hex(guards.facts(a)), hex(guards.facts(b))], [factsA, factsB]);
    assert.deepEqual([...new Set(guards.explain(a, b).map(({ guard }) => guard))].sort(), spoken.sort());
  }
  guards.dispose();
});

test('what was found is told', async () => {
  const guards = await Guards.create();
  assert.deepEqual(guards.explain('run 5 km', 'run 5 miles'), [{ guard: 'number', a: '5 km', b: '5 miles' }]);
});

test('each guard is on or off', async () => {
  const [a, b] = ['There are 37 snapshots', 'There are 15 snapshots'];
  const others = await Guards.create({ on: guardNames.filter((name) => name !== 'number') });
  assert.deepEqual(others.between(a, b), []);
  const one = await Guards.create({ on: ['number'] });
  assert.deepEqual(one.between(a, b), ['number']);
  for (const on of ['none', []]) assert.deepEqual((await Guards.create({ on })).between(a, b), []);
});

test('a table of words makes another language', async () => {
  const german = await Guards.create({ language: 'negation: nicht\nopposite: an | aus\n' });
  assert.deepEqual(german.between('das Licht ist an', 'das Licht ist aus'), ['antonym']);
  assert.deepEqual(german.between('es brennt', 'es brennt nicht'), ['negation']);
  const table = await Guards.englishTable();
  const more = await Guards.create({ language: `${table}same: bill beak\n` });
  assert.deepEqual(more.between('the bill of a bird', 'the beak of a bird'), []);
  const english = await Guards.create();
  assert.deepEqual(english.between('the bill of a bird', 'the beak of a bird'), ['replaced']);
});

test('what is no text, no guard or no facts is refused, and nothing else is broken by it', async () => {
  await refusal(() => Guards.create({ on: 'numbers' }), 'bad_config', '/guards');
  await refusal(() => Guards.create({ on: ['number', 5] }), 'bad_request', '/on/1');
  await refusal(() => Guards.create({ on: 5 }), 'bad_request', '/on');
  await refusal(() => Guards.create({ language: 'negation: not\nnonsense' }), 'bad_config', '/line/2');
  const guards = await Guards.create();
  await refusal(() => guards.between('a', new Uint8Array(9)), 'bad_snapshot', '/b');
  await refusal(() => guards.between(guards.facts('a b c').slice(0, 24), 'a'), 'bad_snapshot', '/a');
  await refusal(() => guards.explain('a'), 'bad_request', '/b');
  await refusal(() => guards.facts(5), 'bad_request', '');
  assert.deepEqual(guards.between('a', new Uint8Array()), []); // facts of nothing
  assert.deepEqual(guards.between('5', '6'), ['number']);
});

test('a megabyte is read up to a limit', async () => {
  const guards = await Guards.create();
  const long = 'not 5 open '.repeat(100000);
  assert.ok(guards.facts(long).length < 20000);
  assert.deepEqual(guards.between(long, long), []);
});

test('disposed guards say so, and make room', async () => {
  const guards = await Guards.create();
  guards.dispose();
  guards.dispose();
  await refusal(() => guards.between('a', 'b'), 'disposed', '');
});

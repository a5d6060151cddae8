// advise() of dpcache/trust: the answers of the command line, bit for bit, and what is refused.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Encoder } from 'dpcache';
import { advise, DpcacheError } from 'dpcache/trust';
import { program, skip } from './serving.mjs';

// A few kinds of line that come again and again, and some that never do.
const lines = Array.from({ length: 700 }, (_, i) => {
  const x = (i * 7919) % 701;
  return i % 9 === 0
    ? `note ${'abcdefghijk'.repeat(x % 5)} ${x ** 3} of ${x.toString(2)} things`
    : `${['open', 'close', 'read', 'write'][x % 4]} of file ${['log', 'data', 'index'][x % 3]} ${x % 50 === 0 ? 'failed' : 'done'}`;
});
const labels = lines.map((line) => line.split(' ')[0]);
const pairs = Array.from({ length: 400 }, (_, i) => {
  const [textA, textB] = [lines[i], lines[(i * 31) % lines.length]];
  return { textA, textB, same: textA === textB };
});

/** The number as the command line prints a float. */
const close = (told, found) => assert.equal(Math.fround(told), Math.fround(found));

for (const [what, options] of [
  ['alone', {}],
  ['with pairs', { pairs: true }],
  ['with labels, of a sample', { labels: true, sample: 300 }],
]) {
  test(`a stream ${what}: what the command line says`, { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dpcache-advise-'));
    try {
      const file = (name, text) => {
        writeFileSync(join(folder, name), text);
        return join(folder, name);
      };
      const given = ['advise', '--json', '--mask', 'all'];
      if (options.pairs) {
        const rows = pairs.map(({ textA, textB, same }) => `${same ? 1 : 0}\t${textA}\t${textB}\n`);
        given.push('--pairs', file('pairs.tsv', `label\ttext_a\ttext_b\n${rows.join('')}`));
      }
      if (options.labels) given.push('--labels', file('labels', `${labels.join('\n')}\n`));
      if (options.sample) given.push('--sample', String(options.sample));
      given.push(file('lines.log', `${lines.join('\n')}\n`));
      const { stdout, stderr } = spawnSync(program, given, { encoding: 'utf8', timeout: 60_000 });
      assert.ok(stdout, stderr);
      const told = JSON.parse(stdout);

      const encoder = await Encoder.create({ masks: 'all' });
      const items = lines.map((text, i) => (options.labels ? { text, label: labels[i] } : { text }));
      const found = await advise(items, {
        encoder,
        taus: [Math.fround(0.17)],
        ...(options.pairs ? { pairs } : {}),
        ...(options.sample ? { sample: options.sample } : {}),
      });
      assert.deepEqual(
        [found.seen, found.sampled, found.repeats, found.labelled, found.same, found.different],
        [told.items, told.sampled, told.repeats, told.labelled, told.pairs?.same ?? 0, told.pairs?.different ?? 0],
      );
      assert.deepEqual([found.evidence, found.reason, found.warnings], [told.evidence, told.reason, told.warnings]);
      assert.equal(found.tau === null, told.tau === null);
      if (found.tau !== null) close(told.tau, found.tau);
      if (found.wrongShare !== null) assert.equal(told.wrong_share, found.wrongShare);
      assert.equal(found.valleys.length, told.valleys.length);
      told.valleys.forEach((valley, i) => {
        for (const name of ['tau', 'low', 'high', 'nearer', 'farther']) close(valley[name], found.valleys[i][name]);
        for (const name of ['depth', 'chance', 'again']) assert.equal(valley[name], found.valleys[i][name]);
      });
      assert.equal(found.tried.length, told.tried.length);
      told.tried.forEach((at, i) => {
        const here = found.tried[i];
        close(at.tau, here.tau);
        for (const [theirs, ours] of [
          ['slots', 'slots'],
          ['merged', 'merged'],
          ['largest', 'largest'],
          ['guarded', 'guarded'],
          ['wrong', 'wrong'],
          ['wrong_bound', 'wrongBound'],
          ['different_merged', 'differentMerged'],
          ['different_guarded', 'differentGuarded'],
          ['same_apart', 'sameApart'],
          ['same_guarded', 'sameGuarded'],
        ]) {
          if (theirs in at) assert.equal(here[ours], at[theirs], `${theirs} at ${at.tau}`);
        }
      });
      assert.ok(found.tried.some(({ guarded }) => guarded > 0), 'guards had nothing to do');
      assert.deepEqual(found.histogram, told.histogram.counts);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test('vectors of two kinds have a valley between them, and guards see the texts beside them', async () => {
  const items = Array.from({ length: 300 }, (_, i) => {
    const key = new Float32Array(64);
    key[i % 3 === 0 ? i % 60 : i % 2] = 1;
    key[63] = ((i * 37) % 11) / 40;
    return { key, guardText: i % 4 < 2 ? 'it is open' : 'it is not open' };
  });
  const { tau, evidence, wrongShare, bounded, tried, withFacts } = await advise(items);
  assert.equal(evidence, 'valley');
  assert.ok(tau > 0.05 && tau < 0.95, `${tau}`);
  assert.ok(wrongShare >= 0 && wrongShare < 0.5 && !bounded);
  assert.equal(withFacts, 300);
  assert.ok(tried.at(-1).guarded > 0);
});

test('known opposites are listed, the nearest first, with a warning', async () => {
  const pairs = [0.9, 0.3, 0.2].map((novelty) => ({ novelty, same: false }));
  const { tau, opposites, warnings } = await advise([{ key: [1, 0] }, { key: [0, 1] }], { pairs });
  assert.deepEqual([tau, opposites], [null, [2, 1]]);
  assert.match(warnings[0], /^tau 0\.4 merges 2 of 3 pairs that are known to be different$/);
});

for (const [what, call, pointer, code = 'bad_request', index = 0] of [
  ['no list', () => advise('text'), '/items'],
  ['neither key nor text', () => advise([{}]), '/items'],
  ['text without an encoder', () => advise([{ text: 'a' }]), '/items/text'],
  ['another length', () => advise([{ key: [1, 0] }, { key: [1] }]), '/items/key', 'bad_shape', 1],
  [
    'a zero, far behind',
    () => advise(Array.from({ length: 1500 }, (_, i) => ({ key: [i < 1400 ? 1 : 0] }))),
    '/items/key',
    'zero_norm',
    1400,
  ],
  ['a label that is none', () => advise([{ key: [1], label: {} }]), '/items/label'],
  ['a pair of no verdict', () => advise([], { pairs: [{ novelty: 1 }] }), '/pairs/same'],
  ['a pair of two kinds', () => advise([], { pairs: [{ novelty: 1, a: [1], same: true }] }), '/pairs'],
  ['a novelty that is none', () => advise([], { pairs: [{ novelty: 3, same: true }] }), '/pairs/novelty'],
  ['a sample of one', () => advise([], { sample: 1 }), '/sample', 'bad_config'],
  ['a tau above 2', () => advise([], { taus: [3] }), '/taus', 'bad_config'],
  ['a bound of nothing', () => advise([], { maxFalseMerge: 0 }), '/maxFalseMerge', 'bad_config'],
]) {
  test(`refused: ${what}`, async () => {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof DpcacheError, error);
      const [first] = error.errors;
      assert.deepEqual([first.code, first.pointer, first.index], [code, pointer, index]);
      return true;
    });
  });
}

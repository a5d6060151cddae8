// What the page reads: files of each kind, broken ones, the samples, and settings in an address.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bundle } from './bundle.mjs';
import { root } from './harness.mjs';
import { npy } from './files.mjs';

const { parseBytes, openFile } = await bundle('parse/index.ts', 'parse');
const { serviceLog } = await bundle('samples/log.ts', 'log');
const { makeSample } = await bundle('samples/index.ts', 'samples');
const { parseHash, formatHash, defaultsFor } = await bundle('settings.ts', 'settings');

const bytes = (text) => new TextEncoder().encode(text);
const streamOf = (name, text) =>
  parseBytes(name, typeof text === 'string' ? bytes(text) : text).stream;
const refusal = (name, text) => {
  try {
    streamOf(name, text);
  } catch (error) {
    assert.equal(error.name, 'FileError');
    return error.message;
  }
  return assert.fail(`${name} was taken`);
};

test('lines of text keep empty ones and lose only the last line end', () => {
  assert.deepEqual(streamOf('a.log', 'one\r\n\ntwo\n').texts, ['one', '', 'two']);
  assert.deepEqual(streamOf('a.log', 'one').texts, ['one']);
});

test('invalid UTF-8 is read, binary files are refused', () => {
  assert.deepEqual(streamOf('a.log', Uint8Array.of(0x61, 0xff, 0x62)).texts, ['a\ufffdb']);
  assert.match(refusal('a.bin', Uint8Array.of(1, 0, 2)), /neither text/);
});

test('JSON Lines give texts, with the lines they stand in', () => {
  const stream = streamOf('a.jsonl', '{"text":"x"}\n\n{"message":"y"}\n{"msg":"z"}\n"w"\n');
  assert.deepEqual(stream.texts, ['x', 'y', 'z', 'w']);
  assert.deepEqual([...stream.lines], [1, 3, 4, 5]);
  // Found by what is in it, too.
  assert.deepEqual(streamOf('a.log', '{"text":"x"}\n').texts, ['x']);
});

test('JSON Lines give vectors, with their texts as labels', () => {
  const stream = streamOf(
    'a.jsonl',
    '{"key":[1,0],"text":"x"}\n{"vector":[0,1]}\n{"embedding":[1,1]}\n[2,1]',
  );
  assert.equal(stream.dimension, 2);
  assert.deepEqual([...stream.vectors], [1, 0, 0, 1, 1, 1, 2, 1]);
  assert.deepEqual(stream.labels, ['x', 'vector 2', 'vector 3', 'vector 4']);
});

test('JSON Lines that do not fit are refused, with the line', () => {
  assert.match(refusal('a.jsonl', '{"text":"x"}\n{"text"\n'), /Line 2 of a\.jsonl is not JSON/);
  assert.match(refusal('a.jsonl', '{"text":"x"}\n{"other":1}\n'), /Line 2 .* has no field "text"/);
  assert.match(
    refusal('a.jsonl', '{"key":[1,0]}\n{"key":[1]}\n'),
    /Line 2 .* 1 numbers, the first one has 2/,
  );
  assert.match(refusal('a.jsonl', '{"key":[1,"0"]}\n'), /Line 1 .*element 2 .* not a number/);
  assert.match(refusal('a.jsonl', '{"key":[1,0]}\n{"key":[0,0]}\n'), /Line 2 .*zero/);
  assert.match(refusal('a.jsonl', '{"key":[1e39,0]}\n'), /Line 1 .*not a finite/);
  assert.match(refusal('a.jsonl', '{"key":[]}\n'), /1 to 4096 numbers, not 0/);
  assert.match(refusal('a.jsonl', '{"key":[1,0]}\n{"text":"x"}\n'), /Line 2 .*no vector/);
  assert.match(refusal('a.jsonl', '7\n'), /Line 1 .*expected an object/);
});

test('.npy gives float32 and float64, by rows and by columns', () => {
  const rows = [
    [1, 2, 3],
    [4, 5, 6],
  ];
  for (const type of ['<f4', '<f8']) {
    for (const byColumns of [false, true]) {
      const stream = streamOf('a.npy', npy(rows, { type, byColumns }));
      assert.equal(stream.dimension, 3);
      assert.deepEqual([...stream.vectors], [1, 2, 3, 4, 5, 6], `${type} ${byColumns}`);
    }
  }
});

test('.npy that does not fit is refused', () => {
  assert.match(refusal('a.npy', npy([[1, 2]], { type: '<i4' })), /holds <i4; float32/);
  assert.match(refusal('a.npy', npy([[1, 2]], { shape: '(2,)' })), /shape \(2,\); a matrix/);
  assert.match(refusal('a.npy', npy([[1, 2]], { shape: '(1000000000, 2)' })), /but has 8 bytes/);
  assert.match(
    refusal(
      'a.npy',
      npy([
        [1, 2],
        [0, 0],
      ]),
    ),
    /Row 2 of a\.npy.*zero/,
  );
  assert.match(refusal('a.npy', npy([[1, NaN]])), /Row 1 .*number 2 .*not a finite/);
  assert.match(refusal('a.npy', npy([[1, 2]]).subarray(0, 20)), /ends within its header/);
  assert.match(refusal('a.npy', npy([[1, 2]]).subarray(0, 7)), /not a \.npy/);
});

test('gzip is unpacked, and empty and large files refused', async () => {
  const packed = gzipSync('one\ntwo\n');
  const dropped = await openFile(new File([packed], 'a.log.gz'));
  assert.deepEqual(dropped.stream.texts, ['one', 'two']);
  await assert.rejects(openFile(new File([], 'a.log')), /a\.log is empty/);
  const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, 'a'));
  await assert.rejects(openFile(new File([bomb], 'b.gz')), /unpacks to more than 64\.0 MiB/);
  const large = { name: 'c.log', size: 65 * 1024 * 1024 };
  await assert.rejects(openFile(large), /the page takes 64\.0 MiB at most/);
});

test('members of gzip follow each other, with zeros between and behind', async () => {
  const lines = Array.from({ length: 30_000 }, (_, i) => `line ${i} of ${(i * 7919) % 1013}`);
  const text = Buffer.from(lines.join('\n'));
  const zeros = Buffer.alloc(700);
  const read = async (...parts) => (await openFile(new File(parts, 'a.log.gz'))).stream.texts;
  const members = (...ends) => ends.map((end, i) => gzipSync(text.subarray(ends[i - 1] ?? 0, end)));
  // Two logs in one; empty members; an end where the room for what is unpacked ends; nothing packed.
  assert.deepEqual(await read(...members(10, text.length)), lines);
  const many = [0, 0, 5000, 5000, 256 * 1024, text.length, text.length];
  assert.deepEqual(await read(...members(...many)), lines);
  const [head, ...rest] = members(5000, text.length);
  assert.deepEqual(await read(head, zeros, ...rest, zeros), lines);
  // As bgzip writes: many members of 64 KiB at most, each with a field of its own, the last one empty.
  const field = Uint8Array.of(6, 0, 0x42, 0x43, 2, 0, 0, 0);
  const withField = (member) => {
    const flags = Uint8Array.of(4);
    return [member.subarray(0, 3), flags, member.subarray(4, 10), field, member.subarray(10)];
  };
  const ends = Array.from({ length: Math.ceil(text.length / 65_280) }, (_, i) => (i + 1) * 65_280);
  assert.deepEqual(await read(...members(...ends, text.length).flatMap(withField)), lines);
  const small = Array(20_000).fill(gzipSync('a\n'));
  assert.equal((await read(...small)).length, 20_000);
});

test('gzip that is cut, damaged, too large or followed by other bytes is refused', async () => {
  const text = Buffer.from(Array.from({ length: 500 }, (_, i) => `line ${i * i}`).join('\n'));
  const packed = gzipSync(text);
  const refused = (parts, why) => assert.rejects(openFile(new File(parts, 'a.gz')), why);
  for (const before of [[], [packed]]) {
    const ends = Array.from({ length: 9 }, (_, i) => packed.length - 9 + i);
    const lone = before.length > 0 ? [1] : []; // else it is text
    for (const size of [...lone, 2, 3, 9, 10, 11, 500, ...ends]) {
      await refused([...before, packed.subarray(0, size)], /not a whole gzip file: it was cut/);
    }
    for (let at = 10; at < packed.length; at += 97) {
      const damaged = Buffer.from(packed);
      damaged[at] ^= 16;
      await refused([...before, damaged], /a\.gz is (damaged \(gzip: [a-z]|not a whole gzip)/);
    }
    for (const at of [packed.length - 8, packed.length - 1]) {
      const damaged = Buffer.from(packed);
      damaged[at] ^= 1;
      await refused([...before, damaged], /damaged \(gzip: incorrect (data|length) check\)/);
    }
  }
  await refused([Uint8Array.of(0x1f, 0x8b, 7, 0, 0, 0)], /damaged \(gzip: unknown compression/);
  for (const behind of ['garbage', 'x', '\0\0x']) {
    await refused([packed, behind], /a\.gz has other bytes behind its gzip data/);
  }
  const half = gzipSync(Buffer.alloc(33 * 1024 * 1024, 'a'));
  await refused([half, half], /unpacks to more than 64\.0 MiB/);
});

test('more lines of JSON than the page takes are cut, blank ones not counted', () => {
  for (const [line, count] of [['"a"', 100_001], ['[1, 2]', 100_001], ['"a"\n', 100_000]]) {
    const { note, texts, labels } = streamOf('many.jsonl', `${line}\n`.repeat(count));
    assert.equal((texts ?? labels).length, 100_000);
    assert.equal(note !== undefined, count > 100_000, line);
  }
});

test('more lines than the page takes are cut, and it says so', () => {
  const stream = streamOf('a.log', 'x\n'.repeat(100_001));
  assert.equal(stream.texts.length, 100_000);
  assert.match(stream.note, /first 100,000 lines/);
});

test('the log sample is what scripts/sample-log prints', () => {
  const printed = execFileSync(join(root, 'scripts/sample-log'), ['3000'], { encoding: 'utf8' });
  assert.equal(`${serviceLog(3000).join('\n')}\n`, printed);
});

test('samples are the same each time, at each size', () => {
  for (const name of ['log', 'support', 'sensor']) {
    const short = makeSample(name, 500);
    const long = makeSample(name, 10_000);
    const list = (stream) => stream.texts ?? stream.labels;
    assert.equal(list(short).length, 500);
    assert.equal(list(long).length, 10_000);
    assert.deepEqual(list(long).slice(0, 500), list(short));
    if (short.vectors) assert.ok(long.vectors.every(Number.isFinite));
  }
});

test('settings survive the address', () => {
  const settings = {
    ...defaultsFor('sensor'),
    size: 5000,
    tau: 0.25,
    theta: 0.1,
    key: 'centroid',
    value: 'last',
    budget: 'adaptive',
    m0: 12,
    beta: 60,
    decay: 0.95,
    masks: ['number', 'ip'],
  };
  assert.deepEqual(parseHash(`#${formatHash(settings)}`), { settings, bad: [] });
  assert.equal(formatHash(defaultsFor('log')), '');
  assert.deepEqual(parseHash(''), { settings: defaultsFor('log'), bad: [] });
});

test('an address that gives a number no digits gives none', () => {
  for (const name of ['tau', 'theta', 'm0', 'beta', 'decay']) {
    for (const empty of ['', '%20', '+']) {
      const { settings, bad } = parseHash(`#${name}=${empty}`);
      assert.deepEqual(settings, defaultsFor('log'));
      assert.deepEqual(bad.length, 1, name);
    }
  }
});

test('what an address cannot mean falls back and is named', () => {
  const hash =
    '#sample=x&size=7&tau=3&theta=&key=a&value=b&budget=c&m0=0&beta=-1&decay=2&masks=d&e=f';
  const { settings, bad } = parseHash(hash);
  assert.deepEqual(settings, defaultsFor('log'));
  assert.equal(bad.length, 12);
});

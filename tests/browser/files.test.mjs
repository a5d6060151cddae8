// Files on the page: each kind dropped and chosen, broken ones refused, and memories saved, opened
// again, and exchanged with the command line.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Cache } from 'dpcache';
import { root } from './harness.mjs';
import { npy } from './files.mjs';
import { counter, drop, reads, says, shows, start } from './page.mjs';

const stage = await start();
const folder = await mkdtemp(join(tmpdir(), 'dpcache-page-'));
after(async () => {
  await stage.close();
  await rm(folder, { recursive: true });
});
const dpcache = join(root, 'build/release/dpcache');
const withoutCli = existsSync(dpcache) ? false : 'NOT TESTED: build/release/dpcache is not built';

const log = Array.from({ length: 300 }, (_, i) =>
  i === 200 ? 'ERROR the cat has unplugged the server' : `INFO request ${i} served in ${i * 7} ms`,
).join('\n');

async function saved(page, name) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
  const path = join(folder, name);
  await download.saveAs(path);
  return { path, suggested: download.suggestedFilename() };
}

test('lines of text, dropped', async () => {
  const page = await stage.open();
  await shows(page, 2000);
  await drop(page, 'app.log', Buffer.from(log));
  await shows(page, 300, 2);
  await says(page, '300 items of app.log → 2 slots');
  assert.equal(await page.inputValue('#sample'), 'file');
  await reads(
    page.locator('#slot-body tr:not([hidden]):not([aria-hidden])').nth(1),
    /cat has unplugged/,
  );
  assert.ok(await page.locator('#drop').isHidden());
  // And back to a sample.
  await page.selectOption('#sample', 'log');
  await shows(page, 2000, 19);
  await page.done();
});

test('lines of text, chosen, and as gzip', async () => {
  const page = await stage.open();
  await shows(page, 2000);
  await page.setInputFiles('#file', {
    name: 'app.log.gz',
    mimeType: 'application/gzip',
    buffer: gzipSync(log),
  });
  await shows(page, 300, 2);
  await page.done();
});

test('gzip of several members, dropped, and what unpacks it fetched only then', async () => {
  const page = await stage.open();
  await shows(page, 2000);
  const unpackers = () => stage.server.requests.filter((path) => /gunzip/.test(path)).length;
  const before = unpackers();
  await drop(page, 'one.log.gz', Buffer.concat([gzipSync(`${log}\n`), gzipSync(log)]));
  await shows(page, 600, 2);
  assert.equal(unpackers(), before + 1);
  await page.done();
});

test('where what unpacks gzip cannot be had, the page says so and goes on', async () => {
  const page = await stage.open({ block: /gunzip/ });
  await shows(page, 2000, 19);
  await drop(page, 'app.log.gz', gzipSync(log));
  await page.locator('#notice.bad', { hasText: 'could not be loaded: reload the page' }).waitFor();
  await drop(page, 'app.log', Buffer.from(log));
  await shows(page, 300, 2);
  await page.context().close();
});

test('JSON Lines with texts', async () => {
  const page = await stage.open();
  await shows(page, 2000);
  const lines = log.split('\n').map((message) => JSON.stringify({ level: 1, message }));
  await drop(page, 'app.jsonl', Buffer.from(lines.join('\n')));
  await shows(page, 300, 2);
  await page.done();
});

test('JSON Lines with vectors', async () => {
  const page = await stage.open();
  await shows(page, 2000);
  const lines = Array.from({ length: 90 }, (_, i) =>
    JSON.stringify({
      embedding: [0, 1, 2].map((d) => (i % 3 === d ? 1 : 0.01)),
      text: `kind ${i % 3}`,
    }),
  );
  await drop(page, 'vectors.jsonl', Buffer.from(lines.join('\n')));
  await shows(page, 90, 3);
  assert.equal(await page.inputValue('#tau-number'), '0.4');
  await page.fill('#question', '0.1 1 0');
  await page.click('#ask-form button');
  await page.locator('.verdict.known', { hasText: 'kind 1' }).waitFor();
  await page.done();
});

test('.npy', async () => {
  const page = await stage.open();
  await shows(page, 2000);
  const rows = Array.from({ length: 50 }, (_, i) =>
    [1, 2, 3, 4, 5].map((d) => (i % 5 === d - 1 ? 1 : 0)),
  );
  await drop(page, 'keys.npy', npy(rows, { type: '<f8' }));
  await shows(page, 50, 5);
  await page.done();
});

test('broken files are refused with their line, and the stream stays', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  const broken = [
    ['a.jsonl', '{"text":"x"}\n{"text"', /Line 2 of a\.jsonl is not JSON/],
    ['b.jsonl', '{"key":[1,0]}\n{"key":[0,0]}', /Line 2 of b\.jsonl: the vector is zero/],
    ['c.npy', npy([[1, 2]], { shape: '(9, 9)' }), /says 9 × 9 numbers/],
    ['d.log', '', /d\.log is empty/],
    ['e.gz', gzipSync('text').subarray(0, 15), /e\.gz is not a whole gzip file/],
    ['g.gz', Buffer.concat([gzipSync('a'), Buffer.from('b')]), /g\.gz has other bytes behind/],
    ['f.bin', Uint8Array.of(0, 1, 2, 3), /neither text/],
  ];
  for (const [name, content, words] of broken) {
    await drop(page, name, Buffer.from(content));
    await page.locator('#notice.bad', { hasText: words }).waitFor();
    assert.deepEqual(await counter(page), [2000, 19]);
  }
  await page.fill('#question', 'WARN storage: disk /dev/sda is 99 % full');
  await page.click('#ask-form button');
  await page.locator('.verdict.known').waitFor();
  await page.done();
});

test('a memory is saved, opened again, asked, and goes on', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  const { path, suggested } = await saved(page, 'saved.dpc');
  assert.equal(suggested, 'service-log.dpc');
  await says(page, 'Saved 19 slots as service-log.dpc');

  const other = await stage.open({ hash: '#sample=support' });
  await shows(other, 2000);
  await other.setInputFiles('#file', path);
  await says(other, 'saved.dpc: 19 slots from 2,000 items');
  await shows(other, 0, 19);
  assert.equal(await other.inputValue('#tau-number'), '0.17', "tau is the memory's");
  assert.ok(await other.isDisabled('#key'));
  await reads(
    other.locator('#slot-body tr:not([hidden]):not([aria-hidden])').first(),
    /^2\s+599\s/,
  );
  await other.fill('#question', 'WARN storage: disk /dev/sda is 99 % full');
  await other.click('#ask-form button');
  await other.locator('.verdict.known', { hasText: 'disk' }).waitFor();
  // The stream goes on into it: support questions beside the log's slots.
  await other.locator('#position').fill('100');
  await shows(other, 100);
  const [, slots] = await counter(other);
  assert.ok(slots > 30, `${slots} slots`);
  await other.click('#ask-form button');
  await other.locator('.verdict.known', { hasText: 'disk' }).waitFor();
  // Closed, the stream stands alone again.
  await other.click('#close-memory');
  await shows(other, 2000);
  assert.ok(await other.locator('#close-memory').isHidden());
  await other.done();
  await page.done();
});

test('a memory is saved as it is at the moment that is shown', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  await page.locator('#position').fill('10');
  await shows(page, 10);
  const [, slots] = await counter(page);
  const { path } = await saved(page, 'ten.dpc');
  await page.setInputFiles('#file', path);
  await says(page, `ten.dpc: ${slots} slots from 10 items`);
  await page.done();
});

test('a memory that does not fit the stream is looked at alone', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  const { path } = await saved(page, 'text.dpc');
  await page.selectOption('#sample', 'sensor');
  await says(page, 'sensor vectors →');
  await page.setInputFiles('#file', path);
  await page
    .locator('#notice.bad', { hasText: 'This memory holds text, the stream is vectors' })
    .waitFor();
  await shows(page, 0, 19);
  await page.fill('#question', 'WARN storage: disk /dev/sda is 99 % full');
  await page.click('#ask-form button');
  await page.locator('.verdict.known', { hasText: 'disk' }).waitFor();
  await page.done();
});

test('slots that have expired leave with the first item, and are said to', async () => {
  const cache = await Cache.create({ text: { masks: 'all' }, ttlMs: 1000 });
  cache.observe({
    text: 'the oldest of all lines',
    payload: { text: 'the oldest of all lines' },
    time: 0,
  });
  const path = join(folder, 'old.dpc');
  await writeFile(path, cache.save());
  cache.dispose();
  const page = await stage.open();
  await shows(page, 2000, 19);
  await page.setInputFiles('#file', path);
  await says(page, 'old.dpc: 1 slot from 1 item');
  await shows(page, 0, 1);
  await page.click('#step');
  await shows(page, 1, 1);
  await reads(page.locator('#row-list li:not([hidden])').first(), /opened slot 2.*expired slot 1/s);
  await reads(page.locator('#slots-summary'), /^1 slot, 1 expired/);
  await page.locator('#position').fill('2000');
  await shows(page, 2000, 19);
  await page.done();
});

test('a damaged memory is refused, and what was there stays', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  const { path } = await saved(page, 'whole.dpc');
  const bytes = await readFile(path);
  bytes[bytes.length - 5] ^= 1;
  await drop(page, 'damaged.dpc', bytes);
  await page.locator('#notice.bad').waitFor();
  assert.deepEqual(await counter(page), [2000, 19]);
  assert.ok(await page.locator('#close-memory').isHidden());
  await page.done();
});

test('the command line opens what the page saved', { skip: withoutCli }, async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  const { path } = await saved(page, 'page.dpc');
  execFileSync(dpcache, ['verify', path]);
  const shown = execFileSync(dpcache, ['inspect', path], { encoding: 'utf8' });
  assert.match(shown, /599.*2026-03-01T00:00:04Z INFO gateway: request/);
  const known = spawnSync(dpcache, [
    'query',
    '--memory',
    path,
    'WARN storage: disk /dev/sda is 9 % full',
  ]);
  assert.equal(known.status, 0);
  const unknown = spawnSync(dpcache, [
    'query',
    '--memory',
    path,
    'the cat has unplugged the server',
  ]);
  assert.equal(unknown.status, 1);
  const more = execFileSync(dpcache, ['distinct', '--memory', path, '--new-only'], {
    input: `${log}\n`,
    encoding: 'utf8',
  });
  assert.match(more, /the cat has unplugged/);
  await page.done();
});

test(
  'the page opens what the command line saved, and streams on into it',
  { skip: withoutCli },
  async () => {
    const path = join(folder, 'cli.dpc');
    const input = join(folder, 'app.log');
    await writeFile(input, `${log}\n`);
    execFileSync(dpcache, ['distinct', '--memory', path, input]);
    const page = await stage.open();
    await shows(page, 2000, 19);
    await page.setInputFiles('#file', path);
    await says(page, 'cli.dpc: 2 slots from 300 items');
    await reads(
      page.locator('#slot-body tr:not([hidden]):not([aria-hidden])').first(),
      /^1\s+299\s+INFO request 0 served/,
    );
    await page.fill('#question', 'ERROR the cat has unplugged the server');
    await page.click('#ask-form button');
    await page.locator('.verdict.known').waitFor();
    await page.locator('#position').fill('2000');
    await shows(page, 2000);
    // Page and command line decide alike: the same lines after the same memory.
    const { path: both } = await saved(page, 'both.dpc');
    const sample = execFileSync(join(root, 'scripts/sample-log'), { encoding: 'utf8' });
    execFileSync(dpcache, ['distinct', '--memory', path], { input: sample });
    const countsOf = (file) =>
      JSON.parse(
        execFileSync(dpcache, ['inspect', '--top', '100', '--json', file], { encoding: 'utf8' }),
      );
    const [mine, theirs] = [countsOf(both), countsOf(path)];
    for (const name of ['slots', 'items', 'allocations', 'merges', 'next_id']) {
      assert.equal(mine.stats[name], theirs.stats[name], name);
    }
    await page.done();
  },
);

test('a saved memory has the settings that the knobs show', { skip: withoutCli }, async () => {
  const page = await stage.open({
    hash: '#tau=0.1&budget=fixed&m0=5&masks=number,time&decay=0.99',
  });
  await shows(page, 2000, 5);
  const { path } = await saved(page, 'knobs.dpc');
  const { config, stats } = JSON.parse(
    execFileSync(dpcache, ['inspect', '--json', path], { encoding: 'utf8' }),
  );
  assert.equal(stats.slots, 5);
  assert.equal(config.budget, 'fixed');
  assert.equal(config.m0, 5);
  assert.equal(Math.round(config.tau * 1e6) / 1e6, 0.1);
  assert.match(config.encoder, /masks=number,time$/);
  await page.done();
});

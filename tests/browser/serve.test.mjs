// The page as `dpcache serve` serves it: its headers, its files, that it works there, and the tab that
// shows the server.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { Cache } from 'dpcache/remote';
import { serving, skip } from '../wasm/serving.mjs';
import { chromiumOptions } from './harness.mjs';
import { dist, openPage, reads, shows, start } from './page.mjs';

let server, url, browser;
before(async () => {
  if (skip) return;
  server = await serving('--page', dist);
  url = server.url;
  browser = await chromium.launch(chromiumOptions);
});
after(async () => {
  if (skip) return;
  await browser.close();
  await server.close();
});

/** What stands under a heading of the counters. */
const figure = (page, label) =>
  page.locator('#cache-figures div', { has: page.locator('dt', { hasText: label }) }).locator('dd');

test('the page works at the root of the server', { skip }, async () => {
  const page = await openPage(browser, url);
  await shows(page, 2000, 19);
  await page.done();
});

test('its files have their types and a strict policy, and no other file is there', { skip }, async () => {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  const policy = response.headers.get('content-security-policy');
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval(?<!wasm-unsafe-eval)/);
  const html = await response.text();
  const assets = [...html.matchAll(/(?:src|href)="\.?\/?(assets\/[^"]+)"/g)].map(([, path]) => path);
  assert.ok(assets.length > 0);
  for (const path of assets) {
    const asset = await fetch(url + path);
    assert.equal(asset.status, 200, path);
    assert.match(asset.headers.get('content-type'), /^text\/(javascript|css)/);
    assert.match(asset.headers.get('cache-control'), /immutable/);
  }
  for (const path of ['assets/', 'assets%2f..%2findex.html', '..%2f..%2fetc/passwd', 'etc/passwd']) {
    assert.equal((await fetch(url + path)).status, 404, path);
  }
});

test('the server tab says how to make the first cache', { skip }, async () => {
  const page = await openPage(browser, url);
  await page.click('#tab-server');
  await reads(page.locator('#server-words'), /^0 caches · 0 items/);
  await reads(page.locator('#cache-command'), /^curl -X PUT http:\S+\/v1\/caches\/mine/);
  assert.equal(await page.locator('#cache').isVisible(), false);
  await page.done();
});

test('the server tab shows caches, live counters and events', { skip }, async () => {
  const logs = await Cache.create({ text: { masks: 'all' } }, { url, name: 'logs' });
  const small = { dimension: 2, budget: 'fixed', m0: 1, tau: 0.1 };
  const budget = await Cache.create(small, { url, name: 'budget' });
  await logs.observeBatch([{ text: 'request 1' }, { text: 'request 2' }, { text: 'disk full' }]);
  const page = await openPage(browser, url);
  await page.click('#tab-server');
  await reads(page.locator('#server-words'), /^2 caches · 3 items · 2 slots · [\d.]+ KB$/);
  await reads(page.locator('#cache-body'), /^budget\s+0\s+0\s+–.*\slogs\s+3\s+2\s+67 %/s);
  await page.click('#cache-body button:text("logs")');
  await reads(page.locator('#cache-title'), /^logs$/);
  for (const [label, text] of [
    ['Items', /^3/],
    ['Slots', /^2\s+no budget/],
    ['Novelty rate', /^67 %/],
    ['Merges', /^1\s+33 %/],
    ['Allocations', /^2/],
    ['Evictions', /^0/],
    ['Largest slot', /^67 %\s+of the items/],
    ['Memory', /^[\d.]+ KB/],
  ]) {
    await reads(figure(page, label), text);
  }
  await page.locator('#tail-none').waitFor();

  await logs.observeBatch([
    { text: 'request 3', payload: '<b>request 3</b>' },
    { text: 'the printer is on fire' },
  ]);
  await logs.erase(1);
  await reads(page.locator('#tail-list li >> nth=0'), /^6\s+erased 1/);
  await reads(page.locator('#tail-list li >> nth=1'), /^5\s+opens 3\s+novelty 0\.\d\d/);
  await reads(page.locator('#tail-list li >> nth=2'), /^4\s+joins 1\s+novelty 0.*<b>request 3<\/b> ·/s);
  await reads(page.locator('#tail-words'), /^3 events/);
  await reads(figure(page, 'Items'), /^5/);

  await page.check('#tail-hold');
  await logs.observe({ text: 'request 9' });
  await reads(page.locator('#tail-words'), /^4 events/);
  assert.equal(await page.locator('#tail-list li').count(), 3);
  await page.uncheck('#tail-hold');
  await reads(page.locator('#tail-list li >> nth=0'), /^7\s/);

  await page.click('#cache-body button:text("budget")');
  await reads(figure(page, 'Slots'), /^0\s+budget 1/);
  await page.locator('#tail-none').waitFor(); // the other cache's are gone
  const many = Array.from({ length: 300 }, (_, i) => ({ key: [Math.cos(i), Math.sin(i)] }));
  await budget.observeBatch(many);
  await reads(figure(page, 'Evictions'), /^\d{2,}/);
  await reads(page.locator('#tail-words'), /^300 events/);
  assert.equal(await page.locator('#tail-list li').count(), 100);
  await reads(page.locator('#tail-list li >> nth=0'), /^300\s+opens/);
  await reads(page.locator('#tail-list li >> nth=0'), /1 slot gone/);

  // What is removed is gone from the list, and the next one is looked at.
  await budget.remove();
  await reads(page.locator('#cache-title'), /^logs$/);
  await page.click('#tab-own');
  await shows(page, 2000, 19);
  await logs.remove();
  page.problems.splice(0); // the browser tells of the answer 404
  await page.done();
});

test('the server tab goes on when the server was killed and started again', { skip }, async () => {
  const own = await serving('--page', dist);
  try {
    const cache = await Cache.create({ dimension: 2 }, { url: own.url, name: 'c' });
    await cache.observe({ key: [1, 0] });
    const page = await openPage(browser, own.url);
    await page.click('#tab-server');
    await reads(figure(page, 'Items'), /^1/);
    await own.kill();
    await reads(page.locator('#server-words'), /does not answer .* asking again/);
    await own.start();
    await cache.observe({ key: [0, 1] });
    await reads(page.locator('#server-words'), /^1 cache · 2 items/);
    await reads(page.locator('#tail-list li >> nth=0'), /^2\s+opens 2/);
    page.problems.splice(0); // connections that failed
    await page.done();
  } finally {
    await own.close();
  }
});

test('the server tab asks for a token where one is wanted, and does not keep it', { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dpcache-tokens-'));
  const file = join(folder, 'tokens');
  await writeFile(file, 'read rrrrrrrrrrrrrrrr\nadmin aaaaaaaaaaaaaaaa\n', { mode: 0o600 });
  const own = await serving('--page', dist, '--token-file', file);
  try {
    const admin = { url: own.url, name: 'secret', token: 'aaaaaaaaaaaaaaaa' };
    await (await Cache.create({ dimension: 2 }, admin)).observe({ key: [1, 0] });
    const page = await openPage(browser, own.url);
    await page.click('#tab-server');
    await page.fill('#server-token', 'wrongwrongwrongw');
    await page.keyboard.press('Enter');
    await reads(page.locator('#server-words'), /not one of this server/);
    await page.fill('#server-token', 'no token: ä');
    await page.keyboard.press('Enter');
    await reads(page.locator('#server-words'), /not one of this server/);
    await page.fill('#server-token', 'rrrrrrrrrrrrrrrr');
    await page.keyboard.press('Enter');
    await reads(figure(page, 'Items'), /^1/);
    assert.equal(await page.locator('#server-form').isVisible(), false);
    const kept = await page.evaluate(async () => [
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
      document.cookie,
      location.href,
      (await indexedDB.databases()).length,
    ]);
    assert.doesNotMatch(kept.join(), /rrrr/);
    await page.reload();
    await page.click('#tab-server');
    await page.locator('#server-token').waitFor();
    page.problems.splice(0); // the browser tells of each answer 401
    await page.done();
  } finally {
    await own.close();
    await rm(folder, { recursive: true });
  }
});

test('a plain file server is asked once, only when the tab is opened, and said to be none', async () => {
  const plain = await start();
  try {
    const page = await plain.open();
    await shows(page, 2000, 19);
    const asked = () => plain.server.requests.filter((path) => !/assets|index|icon|^\/$/.test(path));
    assert.deepEqual(asked(), []);
    await page.click('#tab-server');
    await reads(page.locator('#server-words'), /^There is no server here\.$/);
    await reads(page.locator('#server-none'), /dpcache serve/);
    await page.waitForTimeout(1500); // longer than a poll
    assert.deepEqual(asked(), ['/v1/caches']);
    await page.click('#server-again');
    // The words are there from before: the browser tells of each answer 404, some time later.
    for (let i = 0; i < 100 && page.problems.length < 2; ++i) await page.waitForTimeout(50);
    assert.equal(page.problems.length, 2);
    await reads(page.locator('#server-words'), /^There is no server here\.$/);
    page.problems.splice(0);
    await page.done();
  } finally {
    await plain.close();
  }
});

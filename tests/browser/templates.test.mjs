// The tab of templates, as a person uses it: the kinds of line in a sample and in a file of one's own.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Templates } from 'dpcache/templates';
import { npy } from './files.mjs';
import { drop, reads, shows, start } from './page.mjs';

const stage = await start();
after(() => stage.close());

const rows = (page) => page.locator('#template-list > li');
const loaded = () => stage.server.requests.filter((path) => /templates-.*\.wasm$/.test(path)).length;

test('the sample’s templates, with named parameters, counts and examples', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  assert.equal(loaded(), 0, 'fetched before somebody wanted it');
  await page.click('#tab-templates');
  await reads(page.locator('#templates-words'), /^\d+ templates of 2,000 lines of service log$/);
  assert.equal(loaded(), 1);
  const requests = rows(page).filter({ hasText: 'gateway: request' }).first();
  await reads(requests, /^599\s+<time> INFO gateway: request <uuid> served in <\w+> ms\s.*2026-03-01T.*request [0-9a-f-]{36} served in \d+ ms/s);
  const users = rows(page).filter({ hasText: 'signed in from' }).first();
  await users.locator('summary').click();
  await reads(users, /name\s+kind\s+values\s/);
  await reads(users, /user\s+text\s+.*(ada|grace|edsger|barbara|donald) × \d+/);
  await page.fill('#template-search', 'disk full');
  await page.waitForFunction(() => document.querySelectorAll('#template-list > li').length === 1);
  await reads(rows(page), /WARN storage: disk/);
  await page.fill('#template-search', 'no such words');
  await reads(page.locator('#templates-none'), /No template is like that/);
  await page.fill('#template-search', '');
  await page.selectOption('#template-order', 'rare');
  const count = async (i) => Number((await rows(page).nth(i).locator('.template-count').innerText()).replace(',', ''));
  assert.ok((await count(0)) < 50);
  await page.selectOption('#template-order', 'count');
  assert.equal(await count(0), 599);
  await page.done();
});

test('a log of one’s own, dropped on the tab: what the package says, also of status codes', async () => {
  const page = await stage.open();
  await page.click('#tab-templates');
  await reads(page.locator('#templates-words'), /of service log$/);
  const lines = Array.from({ length: 300 }, (_, i) => `GET /a/${i} took ${i * 7} ms status ${i % 3 ? 200 : 500}`);
  lines.push('<b>not bold</b> & nothing else');
  await drop(page, 'own.log.gz', gzipSync(lines.join('\n')));
  for (const codes of ['vary', 'fixed']) {
    if (codes === 'fixed') await page.check('#template-codes');
    const templates = await Templates.create({ codes });
    templates.learnAll(lines);
    const wanted = templates.list();
    await reads(page.locator('#templates-words'), new RegExp(`^${wanted.length} templates of 301 lines of own\\.log\\.gz$`));
    const shown = await page.locator('.template-text').allInnerTexts();
    assert.deepEqual(shown, wanted.map(({ text }) => text));
    templates.dispose();
  }
  assert.equal(await page.locator('#template-list b').count(), 0, 'a line is text, not markup');
  await drop(page, 'v.npy', npy([[1, 0], [0, 1]]));
  await reads(page.locator('#templates-words'), /^v\.npy: vectors have no templates$/);
  assert.equal(await rows(page).count(), 0);
  await page.done();
});

test('where the WebAssembly of templates cannot be had, the tab says so, and tries again', async () => {
  const page = await stage.open({ block: '**/templates-*.wasm' });
  await page.click('#tab-templates');
  await page.locator('#templates-words.bad', { hasText: 'WebAssembly could not be loaded' }).waitFor();
  await page.context().unroute('**/templates-*.wasm');
  await page.click('#tab-own');
  await page.click('#tab-templates');
  await reads(page.locator('#templates-words'), /^\d+ templates of/);
  await page.context().close();
});

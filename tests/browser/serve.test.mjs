// The page as `dpcache serve` serves it: its headers, its files, and that it works there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { chromiumOptions, root } from './harness.mjs';
import { dist, openPage, shows } from './page.mjs';

const program = join(root, 'build/release/dpcache');
const skip = existsSync(program) ? false : 'NOT TESTED: build/release/dpcache is not built';

let folder, server, url, browser;
before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'dpcache-serve-'));
  const options = ['--listen', '127.0.0.1:0', '--data', join(folder, 'data'), '--page', dist];
  server = spawn(program, ['serve', ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
  url = /http:\S+/.exec(line)[0];
  browser = await chromium.launch(chromiumOptions);
});
after(async () => {
  if (skip) return;
  await browser.close();
  server.kill();
  const [code] = await once(server, 'exit');
  await rm(folder, { recursive: true });
  assert.equal(code, 0);
});

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

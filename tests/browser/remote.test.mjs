// dpcache/remote in Chromium, on a page of another origin than the server's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { Cache } from 'dpcache/remote';
import { serving, skip } from '../wasm/serving.mjs';
import { chromiumOptions, serve } from './harness.mjs';

let pages, server, browser;
before(async () => {
  if (skip) return;
  const page = () => ({ type: 'text/html', body: '<!doctype html><title>a page</title>' });
  pages = await serve({ '/dpcache/': 'wasm/dist', '/page': page });
  server = await serving('--cors', pages.url);
  browser = await chromium.launch(chromiumOptions);
});
after(async () => {
  if (skip) return;
  await browser.close();
  await pages.close();
  await server.close();
});

test('a page of an origin that --cors names can do all of it', { skip }, async () => {
  const page = await browser.newPage();
  await page.goto(`${pages.url}/page`);
  const told = await page.evaluate(async (url) => {
    const { Cache } = await import('/dpcache/remote.js');
    const cache = await Cache.create({ dimension: 2, tau: 0.1 }, { url, name: 'c' });
    const heard = [];
    const off = await cache.onEvent(({ seq, kind, bytes }) => heard.push([seq, kind, bytes.length > 0]));
    await cache.observe({ key: [1, 0], payload: { a: 1 } });
    await cache.observeBatch([{ key: [0, 1] }, { key: [0, 2] }]);
    await cache.configure({ theta: 0.5 }); // needs the ETag
    await cache.erase(1);
    const { top } = await cache.read([0, 1]);
    const copy = await Cache.load(await cache.save(), { url, name: 'copy' });
    const error = await cache.read([1]).catch(({ code, status }) => [code, status]);
    while (heard.length < 5) await new Promise((resolve) => setTimeout(resolve, 10));
    off();
    return { heard, top, size: await copy.size(), error };
  }, server.url);
  assert.deepEqual(
    told.heard,
    ['observe', 'observe', 'observe', 'config', 'erase'].map((kind, i) => [i + 1, kind, true]),
  );
  assert.deepEqual([told.top[0].slot, told.size, told.error], [2, 1, ['bad_shape', 422]]);
  assert.equal(await (await Cache.open({ url: server.url, name: 'copy' })).size(), 1);
  const loaded = pages.requests.filter((path) => path.startsWith('/dpcache/'));
  assert.ok(!loaded.some((path) => path.endsWith('.wasm')), `loaded ${loaded}`);
  await page.close();
});

test('a page of another origin cannot', { skip }, async () => {
  const page = await browser.newPage();
  await page.goto(`${pages.url.replace('127.0.0.1', 'localhost')}/page`);
  const code = await page.evaluate(async (url) => {
    const { Cache } = await import('/dpcache/remote.js');
    const options = { url, name: 'copy', retries: 0 };
    return Cache.open(options).then(String, (error) => error.code);
  }, server.url);
  assert.equal(code, 'unavailable');
  await page.close();
});

// One server and one browser for a file of tests, and pages that note whatever goes wrong on them.
import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumOptions, root, serve } from './harness.mjs';

export const dist = join(root, 'web/dist');

// What a host may set, and the page must live with.
const policy = [
  `default-src 'none'`,
  `script-src 'self' 'wasm-unsafe-eval'`,
  `style-src 'self'`,
  `img-src 'self' data: blob:`,
  `connect-src 'self'`,
  `worker-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

/** Starts both; `t.after` of the caller is to call `close`. */
export async function start(base = '/') {
  await access(join(dist, 'index.html')).catch(() => {
    throw new Error('the page is not built: npm run build -w web');
  });
  const headers = { 'content-security-policy': policy, 'x-content-type-options': 'nosniff' };
  const server = await serve({ [base]: dist }, headers);
  const browser = await chromium.launch(chromiumOptions);
  return {
    server,
    browser,
    /** A fresh page. By default it holds still, so that it shows the end of the stream at once.
     * `edit` changes files on their way: {pattern of addresses: (text) => text}. */
    open: (options) => openPage(browser, `${server.url}${base}`, options),
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

/** A page that notes what goes wrong on it; `done` says so. */
export async function openPage(
  browser,
  url,
  {
    hash = '',
    width = 1280,
    height = 800,
    scheme = 'light',
    moving = false,
    init,
    block,
    edit = {},
  } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: moving ? 'no-preference' : 'reduce',
    acceptDownloads: true,
  });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.stack ?? error.message));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(url).origin && !['blob:', 'data:'].includes(protocol)) {
      problems.push(`request to ${request.url()}`);
    }
  });
  page.on('requestfailed', (request) => {
    // A reload breaks off what is on its way.
    const reason = request.failure()?.errorText;
    if (reason !== 'net::ERR_ABORTED') problems.push(`${reason}: ${request.url()}`);
  });
  page.setDefaultTimeout(20_000);
  if (init) await page.addInitScript(init);
  if (block) await context.route(block, (route) => route.abort('connectionfailed'));
  for (const [pattern, change] of Object.entries(edit)) {
    await context.route(pattern, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: change(await response.text()) });
    });
  }
  await page.goto(url + hash);
  return Object.assign(page, {
    problems,
    done: async () => {
      assert.deepEqual(problems, [], 'the page complained');
      await context.close();
    },
  });
}

const counterPattern = /^([\d,]+) items?.*?([\d,]+) slots?$/s;

/** The counter on top: [items, slots]. */
export async function counter(page) {
  const text = (await page.locator('#counter').innerText()).trim();
  const [, items, slots] = counterPattern.exec(text) ?? assert.fail(`the counter says ${text}`);
  return [items, slots].map((n) => Number(n.replaceAll(',', '')));
}

/** Waits until so many items (and slots) are shown. */
export async function shows(page, items, slots) {
  const wanted = `${items.toLocaleString('en')} item`;
  await page.waitForFunction(
    (text) => document.getElementById('counter-items').textContent.startsWith(text),
    wanted,
  );
  if (slots !== undefined) assert.deepEqual(await counter(page), [items, slots]);
}

/** Waits until the element's text is like that: the page draws once a frame. */
export async function reads(locator, pattern) {
  const until = Date.now() + 5000;
  for (;;) {
    const text = await locator.innerText();
    if (pattern.test(text)) return;
    if (Date.now() > until) assert.match(text, pattern);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until the line under the sources says something like that. */
export const says = (page, pattern) => page.locator('#notice', { hasText: pattern }).waitFor();

/** Drops a file on the page, as a hand would. */
export async function drop(page, name, bytes) {
  const transfer = await page.evaluateHandle(
    ([fileName, data]) => {
      const out = new DataTransfer();
      out.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], fileName));
      return out;
    },
    [name, Buffer.from(bytes).toString('base64')],
  );
  for (const type of ['dragenter', 'dragover', 'drop']) {
    await page.dispatchEvent('#rows', type, { dataTransfer: transfer });
  }
}

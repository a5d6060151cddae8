// What the page owes to everybody: a keyboard is enough, names and contrast are there, nothing
// jumps, it fits a small screen, it is small and fast, and it asks no other host.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { root } from './harness.mjs';
import { Cache } from 'dpcache/remote';
import { serving, skip } from '../wasm/serving.mjs';
import { dist, openPage, reads, shows, start } from './page.mjs';

const stage = await start();
const server = skip ? undefined : await serving('--page', dist);
const cache = server && (await Cache.create({ dimension: 2 }, { url: server.url, name: 'a-cache' }));
after(async () => {
  await stage.close();
  await server?.close();
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = join(root, 'build/screenshots');
await mkdir(pictures, { recursive: true });

/** Fills every panel, so that there is something to judge. */
async function fill(page) {
  await page.fill('#question', 'WARN storage: disk /dev/sdq is 99 % full');
  await page.click('#ask-form button');
  await page.locator('.verdict').waitFor();
  await page.fill('#lab-seeds', '3');
  await page.click('#lab-run');
  await page.locator('#lab-run', { hasText: 'Run' }).waitFor();
}

/** A picture of all of it, what axe-core finds, and whether it is too wide. */
async function judge(page, name) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  await page.evaluate(axe); // CSP does not hold for what a debugger runs
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  const found = violations.map(({ id, impact, nodes }) => ({
    id,
    impact,
    nodes: nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`),
  }));
  const serious = found.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  assert.deepEqual(serious, []);
  if (found.length > 0) console.log(name, 'minor findings', JSON.stringify(found, null, 1));
  const [inner, outer] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(inner <= outer, `${inner} px on a screen of ${outer}`);
}

const views = [
  { name: 'light', width: 1440, height: 900, scheme: 'light' },
  { name: 'dark', width: 1440, height: 900, scheme: 'dark' },
  { name: 'narrow', width: 360, height: 780, scheme: 'light' },
  { name: 'narrow-dark', width: 360, height: 780, scheme: 'dark' },
];

for (const { name, ...view } of views) {
  test(`axe-core finds nothing serious, and nothing scrolls sideways: ${name}`, async () => {
    const page = await stage.open({ ...view, hash: '#budget=fixed&m0=12&decay=0.98' });
    await shows(page, 2000, 12);
    await fill(page);
    await page.check('#slot-gone');
    await page.click('#curve-numbers summary');
    await judge(page, name);
    await page.done();
  });
}

for (const { name, ...view } of views) {
  test(`axe-core finds nothing serious where merges are reviewed: ${name}`, async () => {
    const page = await stage.open({ ...view, hash: '#sample=support&guards=negation,antonym&merge=0.2&audit=full' });
    await page.locator('#review-list button').first().click(); // the same
    await page.locator('#review-list button').nth(1).click(); // different
    await page.locator('#apart-list li').first().waitFor();
    await page.locator('#slot-body button').first().click();
    await page.locator('#member-body tr').first().waitFor();
    await judge(page, `trust-${name}`);
    await page.done();
  });
}

for (const { name, ...view } of views) {
  test(`axe-core finds nothing serious in the server tab: ${name}`, { skip }, async () => {
    const page = await openPage(stage.browser, server.url, view);
    await page.click('#tab-server');
    await page.locator('#cache-figures dd >> nth=7').waitFor();
    await cache.observeBatch(Array.from({ length: 30 }, (_, i) => ({ key: [1, i], payload: `item ${i}` })));
    await page.locator('#tail-list li >> nth=20').waitFor();
    await judge(page, `server-${name}`);
    await page.done();
  });
}

for (const { name, ...view } of views) {
  test(`axe-core finds nothing serious in the tab of templates: ${name}`, async () => {
    const page = await stage.open(view);
    await page.click('#tab-templates');
    await page.locator('#template-list summary').first().click();
    await judge(page, `templates-${name}`);
    await page.done();
  });
}

for (const { name, ...view } of views) {
  test(`axe-core finds nothing serious in the tab that learns: ${name}`, async () => {
    const page = await stage.open(view);
    await page.click('#tab-learn');
    await page.click('#learn-run');
    await page.locator('#learn-body tr >> nth=3').waitFor();
    await page.click('#advice-run');
    await page.locator('#advice-body tr >> nth=3').waitFor();
    const cut = await page.locator('#learn th, #advice-body').evaluateAll((cells) => {
      const isCut = (cell) => cell.getBoundingClientRect().right > cell.closest('.scroll').getBoundingClientRect().right + 1;
      return cells.filter(isCut).map((cell) => cell.textContent);
    });
    assert.deepEqual(cut, [], 'headings are cut');
    await judge(page, `learn-${name}`);
    await page.done();
  });
}

test('axe-core finds nothing serious where there is no server', async () => {
  const page = await stage.open();
  await page.click('#tab-server');
  await page.locator('#server-none').waitFor();
  await judge(page, 'no-server');
});

test('arrow keys go from tab to tab, and each shows its part', async () => {
  const page = await stage.open();
  await page.focus('#tab-own');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-templates');
  await page.locator('#template-list li').first().waitFor();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-learn');
  await page.locator('#learn-run').waitFor();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-server');
  await page.locator('#server-again').waitFor();
  assert.equal(await page.locator('#own').isVisible(), false);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'server-again');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('ArrowRight'); // round
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-own');
  await page.locator('#stream').waitFor();
  await page.keyboard.press('End');
  assert.equal(await page.getAttribute('#tab-server', 'aria-selected'), 'true');
  await page.keyboard.press('Home');
  await shows(page, 2000, 19);
});

test('a keyboard is enough: every control is reached, in order, and can be seen', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  const order = [];
  for (let i = 0; i < 90; ++i) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate(() => {
      const element = document.activeElement;
      const shown = element.id === 'file' ? element.nextElementSibling : element;
      const { outlineStyle, outlineWidth } = getComputedStyle(shown);
      const box = element.getBoundingClientRect();
      return {
        id: element.id || element.textContent.trim().slice(0, 30),
        tag: element.tagName,
        isOutlined: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1,
        isOnScreen: box.top < innerHeight && box.bottom > 0,
      };
    });
    if (focus.tag === 'BODY') break;
    assert.ok(focus.isOutlined, `the focus cannot be seen on ${focus.id}`);
    assert.ok(focus.isOnScreen, `${focus.id} is off the screen`);
    order.push(focus.id);
  }
  const wanted = [
    'sample',
    'size',
    'file',
    'save',
    'restart',
    'play',
    'step',
    'position',
    'speed',
    'rows',
    'slot-search',
    'slot-order',
    'slot-gone',
    'slot-rows',
    'tau',
    'tau-number',
    'theta',
    'theta-number',
    'key',
    'value',
    'budget',
    'decay',
    'reset',
    'merge',
    'audit',
    'review-rows',
    'apart-rows',
    'log-scale',
    'question',
    'lab-items',
    'lab-run',
  ];
  const places = wanted.map((id) => order.indexOf(id));
  assert.ok(
    !places.includes(-1),
    `not reached: ${wanted.filter((_, i) => places[i] < 0)}; reached ${order}`,
  );
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
    `out of order: ${order}`,
  );
  await page.done();
});

test('a keyboard is enough: the whole way, without a mouse', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter'); // skip to the stream
  assert.equal(new URL(page.url()).hash, '');
  await page.keyboard.press('Tab'); // back to the start
  await page.keyboard.press('Enter');
  await shows(page, 0, 0);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space'); // play
  await page.waitForFunction(() => Number(document.getElementById('position').value) > 3);
  await page.keyboard.press('Space'); // pause
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab'); // position
  await page.keyboard.press('End');
  await shows(page, 2000, 19);
  await page.focus('#rows');
  await page.keyboard.press('Home');
  await page.locator('#row-list li[aria-posinset="1"]:not([hidden])').waitFor();
  await page.focus('#slot-rows');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await reads(page.locator('#slots-summary'), /^Slot 2: 599 items/);
  await page.focus('#tau');
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => location.hash === '#tau=0.18');
  await page.focus('#question');
  await page.keyboard.type('FATAL kernel: out of cheese');
  await page.keyboard.press('Enter');
  await page.locator('.verdict.unknown').waitFor();
  await page.done();
});

test('nothing jumps, first paint is early, and all of it is small', async () => {
  const page = await stage.open({
    moving: true,
    init: () => {
      globalThis.shifts = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const sources = entry.sources.map(
            ({ node }) => node?.id || node?.className || node?.nodeName,
          );
          globalThis.shifts.push({ value: entry.value, sources });
        }
      }).observe({ type: 'layout-shift', buffered: true });
    },
  });
  await page.selectOption('#speed', '2000');
  await shows(page, 2000, 19);
  await page.waitForTimeout(300);
  const { shifts, paint } = await page.evaluate(() => ({
    shifts: globalThis.shifts,
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  }));
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  const files = [...stage.server.sent].filter(([path]) => !/study|lab/.test(path));
  const { size } = await page.evaluate(async () => {
    let total = 0;
    for (const { decodedBodySize } of performance.getEntriesByType('resource'))
      total += decodedBodySize;
    return { size: total };
  });
  if (sum > 0.001) console.log('shifts', JSON.stringify(shifts));
  console.log(`first contentful paint ${Math.round(paint)} ms, layout shift ${sum.toFixed(4)}`);
  console.log(`the page itself sees ${size} bytes`);
  assert.ok(sum < 0.01, `layout shift ${sum}: ${JSON.stringify(shifts)}`);
  assert.ok(files.length > 3);
  assert.ok(paint < 1000, `first paint after ${paint} ms`);
  await page.done();
});

test('the first visit transfers less than 300 KB', async () => {
  const first = await start();
  try {
    const page = await first.open();
    await shows(page, 2000, 19);
    await page.done();
    const files = [...first.server.sent].sort((a, b) => b[1] - a[1]);
    const total = files.reduce((sum, [, bytes]) => sum + bytes, 0);
    for (const [path, bytes] of files) console.log(`${String(bytes).padStart(8)} ${path}`);
    console.log(`${String(total).padStart(8)} in all, uncompressed`);
    assert.ok(total < 300_000, `${total} bytes`);
    const modules = files.filter(([path]) => path.endsWith('.wasm'));
    assert.equal(modules.length, 1, 'SIMD or scalar, not both');
  } finally {
    await first.close();
  }
});

test('it works below any path of a server', async () => {
  const below = await start('/some/where/');
  try {
    const page = await below.open();
    await shows(page, 2000, 19);
    await page.click('#lab-run');
    await page.locator('#lab-run', { hasText: 'Run' }).waitFor();
    await reads(page.locator('#lab-body'), /dpcache\s+1\.000/);
    await page.done();
  } finally {
    await below.close();
  }
});

test('how many frames a second ten thousand items play with (printed, not judged)', async () => {
  const page = await stage.open({ moving: true, hash: '#sample=support&size=10000' });
  await page.selectOption('#speed', '2000');
  await page.waitForFunction(() => Number(document.getElementById('position').value) > 200);
  const frames = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const times = [];
        const tick = (now) => {
          times.push(now);
          if (now - times[0] < 3000) requestAnimationFrame(tick);
          else resolve(times);
        };
        requestAnimationFrame(tick);
      }),
  );
  const gaps = frames
    .slice(1)
    .map((now, i) => now - frames[i])
    .sort((a, b) => a - b);
  const rate = (1000 * gaps.length) / (frames.at(-1) - frames[0]);
  console.log(
    `${rate.toFixed(1)} frames a second; a frame takes ${gaps[gaps.length >> 1].toFixed(1)} ms in the middle, ` +
      `${gaps[Math.floor(gaps.length * 0.99)].toFixed(1)} ms at the 99th of 100 (software drawing)`,
  );
  await page.done();
});

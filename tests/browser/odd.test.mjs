// The page under odd but legal hands: foreign memories, haste, addresses that change at run time.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Cache } from 'dpcache';
import { counter, drop, reads, says, shows, start } from './page.mjs';

const stage = await start();
after(stage.close);

async function memoryOf(config, texts = ['the disk is full', 'all is well']) {
  const cache = await Cache.create(config);
  for (const text of texts) {
    const what = cache.config.dimension > 2 ? { text } : { key: [text.length, 1] };
    cache.observe({ ...what, payload: { text } });
  }
  return cache.save();
}

const id = (rest) => `dpcache-text/${rest}`;
for (const [what, config, why] of [
  ['masks of its own', { text: { ownMasks: [{ name: 'x', pattern: /q/ }] } }, /other masks/],
  ['a later version', { dimension: 2, encoder: id('9 dimension=2') }, /version '9'/],
  ['another dimension', { dimension: 2, encoder: id('1 dimension=256 seed=0 masks=none') }, /dimension/],
]) {
  test(`a memory whose text encoder has ${what} is looked at, and says why no more`, async () => {
    const page = await stage.open();
    await shows(page, 2000, 19);
    const bytes = await memoryOf(config);
    const { size } = await Cache.load(bytes);
    await drop(page, 'other.dpc', bytes);
    await says(page, /looked at only/);
    await reads(page.locator('#notice'), why);
    await shows(page, 0, size);
    await page.fill('#question', 'the disk is full');
    await page.click('#ask-form button');
    await reads(page.locator('#answer'), why);
    await page.click('#play');
    assert.equal(await page.locator('#play').getAttribute('aria-label'), 'Play', 'there is nothing');
    await page.click('#close-memory');
    await shows(page, 2000, 19);
    await page.done();
  });
}

test('what is saved in the same breath as another stream is chosen is not a mixture of both', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  let downloads = 0;
  page.on('download', () => downloads++);
  await page.evaluate(() => {
    const sample = document.getElementById('sample');
    sample.value = 'support';
    sample.dispatchEvent(new Event('change', { bubbles: true }));
    document.getElementById('save').click();
  });
  await says(page, /of support questions/i);
  assert.equal(downloads, 0);
  const saved = page.waitForEvent('download');
  await page.click('#save');
  assert.match((await saved).suggestedFilename(), /\.dpc$/);
  await page.done();
});

test('an address that changes while a memory is open leaves the memory’s settings alone', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  await drop(page, 'own.dpc', await memoryOf({ text: {}, keyUpdate: 'centroid', tau: 0.3 }));
  await says(page, /own\.dpc/);
  await page.evaluate(() => (location.hash = '#sample=support&size=500&key=frozen&tau=0.9'));
  await says(page, /of support questions/i);
  assert.equal(await page.locator('#key').inputValue(), 'centroid');
  assert.equal(await page.locator('#tau-number').inputValue(), '0.3');
  assert.equal(await page.locator('#sample').inputValue(), 'support');
  await page.goBack();
  await says(page, /of service log/i);
  assert.equal(await page.locator('#tau-number').inputValue(), '0.3');
  await page.done();
});

test('a memory is saved under a name that says where it is from, and is not packed', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  for (const [name, bytes, wanted] of [
    ['日志.log', Buffer.from('a\nb\n'), '日志-log.dpc'],
    ['...', Buffer.from('a\nb\n'), 'memory.dpc'],
    ['kept.dpc.gz', gzipSync(await memoryOf({ text: {} })), 'kept.dpc'],
  ]) {
    await drop(page, name, bytes);
    await says(page, name.slice(0, 3));
    await page.waitForFunction(() => !/Reading/.test(document.getElementById('notice').textContent));
    const saved = page.waitForEvent('download');
    await page.click('#save');
    assert.equal((await saved).suggestedFilename(), wanted);
  }
  await page.done();
});

test('where nothing can be replayed there is nothing to play', async () => {
  const page = await stage.open({ block: '**/*.wasm' });
  await says(page, /could not be loaded/);
  await page.click('#play');
  assert.equal(await page.locator('#play').getAttribute('aria-label'), 'Play');
  assert.deepEqual(await counter(page), [0, 0]);
  await page.context().close();
});

test('everything pressed at once, and again, ends at what was chosen last', async () => {
  const page = await stage.open({ moving: true });
  await page.evaluate(async () => {
    const one = (id) => document.getElementById(id);
    const choose = (id, value) => {
      one(id).value = value;
      one(id).dispatchEvent(new Event('input', { bubbles: true }));
      one(id).dispatchEvent(new Event('change', { bubbles: true }));
    };
    for (let i = 0; i < 40; ++i) {
      choose('sample', ['log', 'support', 'sensor'][i % 3]);
      choose('size', ['500', '2000', '5000'][i % 3]);
      choose('budget', ['none', 'fixed', 'adaptive', 'ghost'][i % 4]);
      choose('tau-number', String((i % 10) / 10));
      choose('position', String(i * 13));
      for (const id of ['play', 'step', 'restart', 'save', 'reset', 'lab-run']) one(id).click();
      one('question').value = String(i);
      one('ask-form').requestSubmit();
      if (i % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 30));
    }
    choose('sample', 'log');
    choose('size', '500');
    one('reset').click();
    choose('position', '0');
  });
  await says(page, /500 items of service log → \d+ slots/i);
  await page.locator('#position').fill('500');
  await shows(page, 500);
  const [, slots] = await counter(page);
  assert.match(await page.locator('#notice').innerText(), new RegExp(`→ ${slots} slots`));
  await page.done();
});

for (const [what, options] of [
  ['320 pixels wide', { width: 320, height: 640 }],
  ['200 % larger', { width: 640, height: 400 }],
]) {
  test(`${what}, resized and turned dark while it plays: nothing scrolls sideways`, async () => {
    const page = await stage.open({ ...options, moving: true });
    await reads(page.locator('#counter'), /[1-9]\d* items?/);
    for (const [width, scheme] of [[900, 'dark'], [options.width, 'light'], [options.width, 'dark']]) {
      await page.setViewportSize({ width, height: options.height });
      await page.emulateMedia({ colorScheme: scheme });
      await page.waitForTimeout(60);
      const [inner, whole] = await page.evaluate(() => [
        document.documentElement.clientWidth,
        document.documentElement.scrollWidth,
      ]);
      assert.ok(whole <= inner, `${whole} > ${inner} at ${width}`);
    }
    await page.done();
  });
}

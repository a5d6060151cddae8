// The page as a person uses it, panel by panel, in Chromium. It is long because the page has many
// panels; each test opens a page of its own, and fails if the page complained about anything.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { counter, reads, says, shows, start } from './page.mjs';

const stage = await start();
after(() => stage.close());

const rows = (page) => page.locator('#row-list li:not([hidden])');
const tableRow = (page, i) => page.locator('#slot-body tr:not([hidden]):not([aria-hidden])').nth(i);

test('the page begins with the log, playing by itself, and ends at 19 slots', async () => {
  const page = await stage.open({ moving: true });
  await page.locator('#play[aria-label="Pause"]').waitFor();
  await page.selectOption('#speed', '2000');
  await shows(page, 2000, 19);
  await page.locator('#play[aria-label="Play"]').waitFor();
  assert.match(await page.locator('#decision-words').innerText(), /joins slot \d+/);
  await page.done();
});

test('who prefers stillness sees the end at once', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  assert.equal(await page.getAttribute('#play', 'aria-label'), 'Play');
  await page.done();
});

test('Stream: back to the start, step, play, pause, position', async () => {
  const page = await stage.open();
  await shows(page, 2000);
  await page.click('#restart');
  await shows(page, 0, 0);
  await page.locator('#rows-empty').waitFor();
  await page.click('#step');
  await shows(page, 1, 1);
  await reads(rows(page).first(), /^1\s.*\nopened slot 1\s*novelty 1\.00 > 0\.17/s);
  await page.click('#step');
  await shows(page, 2);
  await reads(rows(page).nth(1), /nearest miss slot 1, 0\.\d\d alike/);
  await page.selectOption('#speed', '100');
  await page.click('#play');
  await page.waitForFunction(() => Number(document.getElementById('position').value) > 10);
  await page.click('#play');
  const [at] = await counter(page);
  await page.waitForTimeout(200);
  assert.equal((await counter(page))[0], at, 'it went on after a pause');
  await page.locator('#position').fill('1000');
  await shows(page, 1000, 19);
  // Played again from the end, it begins anew.
  await page.locator('#position').fill('2000');
  await page.click('#play');
  await page.waitForFunction(() => Number(document.getElementById('position').value) < 100);
  await page.done();
});

test('Stream: ten thousand items need few rows, and any of them can be scrolled to', async () => {
  const page = await stage.open({ hash: '#size=10000' });
  await shows(page, 10_000, 19);
  assert.ok((await page.locator('#row-list li').count()) < 40);
  assert.match(await rows(page).last().innerText(), /^(9,9|10,)/);
  await page.locator('#rows').evaluate((list) => (list.scrollTop = 0));
  await page.locator('#row-list li[aria-posinset="1"]:not([hidden])').waitFor();
  await page.locator('#rows').evaluate((list) => (list.scrollTop = 4000 * 46));
  const row = page.locator('#row-list li[aria-posinset="4001"]:not([hidden])');
  await reads(row, /^4,001/);
  assert.ok((await page.locator('#row-list li').count()) < 40);
  await page.done();
});

test('Slots: the table is searched, sorted, and a slot looked at', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  await reads(tableRow(page, 0), /^2\s+599\s+.*request/s);
  await page.selectOption('#slot-order', 'id');
  await reads(tableRow(page, 0), /^1\s/);
  await page.selectOption('#slot-order', 'new');
  await reads(tableRow(page, 0), /^19\s/);
  await page.fill('#slot-search', 'disk full');
  await page.waitForFunction(
    () => document.getElementById('slot-table').getAttribute('aria-rowcount') === '2',
  );
  assert.match(await tableRow(page, 0).innerText(), /disk \/dev\/sd/);
  await tableRow(page, 0).locator('button').click();
  await reads(page.locator('#slots-summary'), /^Slot \d+: \d+ items, the latest “/);
  await page.done();
});

test('Slots: a click in the picture looks at the slot that is there', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  const box = await page.locator('#slots-picture').boundingBox();
  let found = false;
  for (let i = 1; i < 30 && !found; ++i) {
    await page.mouse.click(box.x + (box.width * i) / 30, box.y + box.height / 2);
    found = /^Slot \d+:/.test(await page.locator('#slots-summary').innerText());
  }
  assert.ok(found, 'no slot was hit on a line through the middle');
  await page.done();
});

test('Slots: evictions are seen in the stream, the summary and the table', async () => {
  const page = await stage.open({ hash: '#sample=sensor&budget=fixed&m0=8&decay=0.95' });
  await shows(page, 2000, 8);
  assert.match(await page.locator('#slots-summary').innerText(), /^8 slots, \d+ evicted/);
  await page.selectOption('#slot-order', 'id');
  await page.check('#slot-gone');
  await page.locator('#slot-body tr.gone:not([hidden])').first().waitFor();
  const words = await page
    .locator('#slot-body tr.gone:not([hidden]) td[data-gone]')
    .first()
    .getAttribute('data-gone');
  assert.match(words, /^evicted at item [\d,]+/);
  const item = Number(/item ([\d,]+)/.exec(words)[1].replace(',', ''));
  await page.locator('#rows').evaluate((list, top) => (list.scrollTop = top), (item - 3) * 46);
  const row = page.locator(`#row-list li[aria-posinset="${item}"]:not([hidden])`);
  await reads(row, /evicted slot \d+/);
  await page.done();
});

test('Curves: pictures are drawn, and say in words and as a table what they show', async () => {
  const page = await stage.open({
    hash: '#sample=sensor&budget=adaptive&m0=12&beta=60&decay=0.98',
  });
  await shows(page, 2000);
  for (const id of ['chart-kept', 'chart-novelty', 'chart-budget', 'slots-picture']) {
    const inked = await page.locator(`#${id}`).evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let colours = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ++colours;
      return colours;
    });
    assert.ok(inked > 500, `${id} has ${inked} pixels`);
  }
  assert.match(
    await page.locator('#kept-words').innerText(),
    /keep every item \(attention\): 2,000.*dpcache: \d+.*a window of \d+ items: \d+ kinds/s,
  );
  assert.match(
    await page.locator('#novelty-words').innerText(),
    /joined: [\d,]+.*opened a slot: \d+.*τ = 0\.30/s,
  );
  assert.match(
    await page.locator('#budget-words').innerText(),
    /T: 0\.\d\d.*slots: \d+.*M: \d+\.\d/s,
  );
  await page.click('#curve-numbers summary');
  await page.locator('#curve-body tr').first().waitFor();
  assert.equal(await page.locator('#curve-body tr').count(), 10);
  assert.match(await page.locator('#curve-body tr').last().innerText(), /^2,000\s+2,000\s+\d+/);
  await page.check('#log-scale');
  await page.done();
});

test('Curves: tau can be dragged in the histogram', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  await page.locator('#chart-novelty').scrollIntoViewIfNeeded();
  const box = await page.locator('#chart-novelty').boundingBox();
  await page.mouse.move(box.x + 100, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 10, box.y + 50, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() =>
    ['1 slot', '2 slots'].includes(document.getElementById('counter-slots').textContent),
  );
  assert.match(page.url(), /#tau=(1|0\.99)$/);
  await page.done();
});

test('Ask: known, unknown, and at the moment that is shown', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  await page.fill('#question', '2027-01-01T00:00:00Z WARN storage: disk /dev/sdq is 99 % full');
  await page.press('#question', 'Enter');
  await page.locator('.verdict.known').waitFor();
  const answer = await page.locator('#answer').innerText();
  assert.match(answer, /^Known: .*disk \/dev\/sd[abc]/);
  assert.match(answer, /It would join slot 7: novelty 0\.00 ≤ 0\.17/);
  assert.match(answer, /7\s+1\.00\s+100 %/);
  assert.match(answer, /11 other slots/);
  await page.locator('#ask-examples button').last().click();
  await page.locator('.verdict.unknown').waitFor();
  assert.match(
    await page.locator('#answer').innerText(),
    /^Unknown: .*novelty 0\.\d\d > 0\.17\. The nearest is slot/s,
  );
  // After one item the memory has not seen a disk yet.
  await page.click('#restart');
  await page.click('#step');
  await shows(page, 1, 1);
  await page.fill('#question', 'WARN storage: disk /dev/sdq is 99 % full');
  await page.click('#ask-form button');
  await page.locator('.verdict.unknown').waitFor();
  await page.click('#restart');
  await shows(page, 0, 0);
  await page.click('#ask-form button');
  await page.locator('.verdict', { hasText: 'the memory is empty' }).waitFor();
  await page.fill('#question', '  ');
  await page.click('#ask-form button');
  await page.locator('.verdict', { hasText: 'Type something' }).waitFor();
  await page.done();
});

test('Ask: vectors, by number and spelled out', async () => {
  const page = await stage.open({ hash: '#sample=sensor' });
  await shows(page, 2000);
  await page.fill('#question', '1500');
  await page.click('#ask-form button');
  await page.locator('.verdict.known').waitFor();
  await page.fill('#question', `[${Array.from({ length: 32 }, (_, i) => (i % 3) - 1).join(', ')}]`);
  await page.click('#ask-form button');
  await page.locator('.verdict.unknown').waitFor();
  await page.fill('#question', '1, 2, 3');
  await page.click('#ask-form button');
  await page.locator('.verdict', { hasText: 'have 32 numbers, this one has 3' }).waitFor();
  await page.fill('#question', '2001');
  await page.click('#ask-form button');
  await page.locator('.verdict', { hasText: 'the items 1 to 2000' }).waitFor();
  await page.done();
});

test('Knobs: each replays the stream, stands in the address, and survives a reload', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  await page.fill('#tau-number', '0.05');
  await page.press('#tau-number', 'Enter');
  await page.waitForFunction(
    () => document.getElementById('counter-slots').textContent !== '19 slots',
  );
  const [, strict] = await counter(page);
  assert.ok(strict > 19, `${strict} slots at tau .05`);
  assert.match(page.url(), /#tau=0\.05$/);
  await page.uncheck('#masks input >> nth=0'); // number
  await page.waitForFunction(
    (n) => Number(document.getElementById('counter-slots').textContent.replace(/\D/g, '')) > n,
    strict + 10,
  );
  await page.selectOption('#key', 'centroid');
  await page.selectOption('#value', 'last');
  await page.selectOption('#budget', 'fixed');
  await page.fill('#m0', '12');
  await page.press('#m0', 'Tab');
  await page.waitForFunction(
    () => document.getElementById('counter-slots').textContent === '12 slots',
  );
  await page.fill('#theta-number', '0.1');
  await page.press('#theta-number', 'Tab');
  const hash = decodeURIComponent(new URL(page.url()).hash);
  assert.equal(
    hash,
    '#tau=0.05&theta=0.1&key=centroid&value=last&budget=fixed&m0=12&masks=hex,ip,uuid,time,path',
  );
  await page.reload();
  await shows(page, 2000, 12);
  assert.equal(await page.inputValue('#tau-number'), '0.05');
  assert.equal(await page.inputValue('#tau'), '0.05');
  assert.equal(await page.inputValue('#key'), 'centroid');
  assert.equal(await page.inputValue('#m0'), '12');
  assert.equal(await page.isChecked('#masks input >> nth=0'), false);
  await page.click('#reset');
  await page.waitForFunction(
    () => document.getElementById('counter-slots').textContent === '19 slots',
  );
  assert.equal(new URL(page.url()).hash, '');
  await page.done();
});

test('Knobs: a change overtakes the replay that runs', async () => {
  const page = await stage.open({ hash: '#size=10000' });
  await shows(page, 10_000, 19);
  for (const tau of ['0.01', '0.05', '0.3', '0.99', '0.17']) {
    await page.fill('#tau-number', tau);
    await page.dispatchEvent('#tau-number', 'change');
  }
  await page.waitForTimeout(100);
  await says(page, '10,000 items of service log → 19 slots.');
  await shows(page, 10_000, 19);
  await page.fill('#question', 'WARN storage: disk /dev/sda is 9 % full');
  await page.click('#ask-form button');
  await page.locator('.verdict.known').waitFor();
  await page.done();
});

test('Knobs: what is out of range is named and changes nothing', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  for (const [id, value, words] of [
    ['tau-number', '3', /0 to 2/],
    ['decay', '0', /above 0/],
    ['tau-number', '', /0 to 2/],
  ]) {
    await page.fill(`#${id}`, value);
    await page.press(`#${id}`, 'Tab');
    await page.locator('#notice.bad', { hasText: words }).waitFor();
    assert.equal(await page.getAttribute(`#${id}`, 'aria-invalid'), 'true');
  }
  assert.deepEqual(await counter(page), [2000, 19]);
  assert.equal(new URL(page.url()).hash, '');
  await page.done();
});

test('an address with nonsense falls back, and says so', async () => {
  const page = await stage.open({ hash: '#sample=moon&tau=9&size=500' });
  await shows(page, 500);
  await page.locator('#notice.bad', { hasText: 'sample=moon, tau=9' }).waitFor();
  assert.equal(await page.inputValue('#tau-number'), '0.17');
  // A good address in the same tab takes effect.
  await page.evaluate(() => (location.hash = '#sample=support&size=500'));
  await page.waitForFunction(() => document.getElementById('sample').value === 'support');
  await page.waitForFunction(() =>
    /support questions/.test(document.getElementById('notice').textContent),
  );
  await page.done();
});

test('samples and sizes are chosen; each has its threshold', async () => {
  const page = await stage.open();
  await shows(page, 2000, 19);
  await page.selectOption('#sample', 'sensor');
  await page.waitForFunction(() =>
    document.getElementById('ask-label').textContent.includes('32 numbers'),
  );
  assert.equal(await page.inputValue('#tau-number'), '0.3');
  assert.ok(await page.isDisabled('#masks input >> nth=0'), 'vectors have no masks');
  await page.selectOption('#sample', 'support');
  await page.selectOption('#size', '5000');
  await shows(page, 5000);
  assert.equal(new URL(page.url()).hash, '#sample=support&size=5000');
  await page.done();
});

test('Recall lab: table 1, drawn while it runs; then stopped', async () => {
  const page = await stage.open();
  await shows(page, 2000);
  await page.click('#lab-run');
  await page.locator('#lab-run', { hasText: 'Stop' }).waitFor();
  await page.locator('#lab-run', { hasText: 'Run' }).waitFor();
  const figures = await page.locator('#lab-body tr').allInnerTexts();
  assert.match(figures[0], /^dpcache\s+1\.000 ± 0\.000\s+64\s+5,184$/);
  assert.match(figures[1], /^keep-all.*\s1\.000 ± 0\.000\s+256\s+20,480$/);
  assert.match(figures[2], /^recency.*\s0\.(69|70|71|72)\d ± /);
  assert.match(figures[3], /^H2O.*\s0\.8[3-9]\d ± /);
  assert.match(await page.locator('#lab-status').innerText(), /^Recall: dpcache 1\.000/);
  for (const [id, value] of [
    ['items', 256],
    ['repeats', 16],
    ['noise', 0.5],
    ['seeds', 20],
  ]) {
    await page.fill(`#lab-${id}`, String(value));
  }
  await page.click('#lab-run');
  await page.waitForFunction(() => document.getElementById('lab-progress').value > 0);
  await page.click('#lab-run');
  await page.locator('#lab-status', { hasText: 'Stopped' }).waitFor({ state: 'attached' });
  // A number out of range does not start.
  await page.fill('#lab-items', '1');
  await page.click('#lab-run');
  assert.equal(await page.locator('#lab-run').innerText(), 'Run');
  await page.done();
});

test('where there is no SIMD, the page runs the scalar build', async () => {
  // The worker's engine is made to refuse the v128 type.
  const withoutSimd = `{
    const { validate } = WebAssembly;
    WebAssembly.validate = (bytes) => !new Uint8Array(bytes).includes(123) && validate(bytes);
  }\n`;
  const before = stage.server.requests.length;
  const page = await stage.open({ edit: { '**/worker-*.js': (text) => withoutSimd + text } });
  await shows(page, 2000, 19);
  const modules = stage.server.requests.slice(before).filter((path) => path.endsWith('.wasm'));
  assert.equal(modules.length, 1, `${modules}`);
  assert.match(modules[0], /dpcache-scalar-/);
  await page.done();
});

test('where WebAssembly cannot be had, the page says so', async () => {
  const page = await stage.open({ block: '**/*.wasm' });
  await page.locator('#notice.bad', { hasText: 'WebAssembly could not be loaded' }).waitFor();
  assert.ok(page.problems.length > 0, 'nothing was blocked');
  await page.context().close();
});

// Trust on the page, as a person uses it: what guards stop says why, a wrong merge is found and undone
// and not made again, and what is uncertain is asked. Its WebAssembly comes when it is wanted.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Cache } from 'dpcache/trust';
import { counter, drop, reads, says, shows, start } from './page.mjs';

const stage = await start();
after(() => stage.close());

const guard = (page, name) => page.locator('#guards label', { hasText: name }).locator('input');
const slotRow = (page, id) => page.locator('#slot-body tr:not([hidden])', { has: page.locator(`button:text-is("${id}")`) });
const members = (page) => page.locator('#member-body tr');
const pairs = (page, list) => page.locator(`#${list}-list li`);

/** Until the page shows another number of slots than that. */
async function slotsAfter(page, before) {
  await page.waitForFunction(
    (n) => Number(document.getElementById('counter-slots').textContent.replace(/\D/g, '')) !== n,
    before,
  );
  return (await counter(page))[1];
}

/** Scrolls the stream until a row says that. */
async function scrollTo(page, hasText) {
  const row = page.locator('#row-list li:not([hidden])', { hasText }).first();
  for (let item = 0; item < 2000; item += 8) {
    await page.locator('#rows').evaluate((list, top) => (list.scrollTop = top), item * 46);
    await page.locator(`#row-list li[aria-posinset="${item + 1}"]:not([hidden])`).waitFor();
    if (await row.isVisible()) return row;
  }
  return assert.fail(`no row says ${hasText}`);
}

/** Looks at a slot by the button in the table. */
async function lookAt(page, id) {
  await page.selectOption('#slot-order', 'id');
  await page.fill('#slot-search', String(id));
  // Rows are used again for other slots when the next frame is drawn.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await slotRow(page, id).locator('button').click();
  await reads(page.locator('#members-title'), new RegExp(`^Members of slot ${id}$`));
}

test('guards: a merge that they stop says why; their WebAssembly comes with the first of them', async () => {
  const loaded = () => stage.server.requests.filter((path) => /trust-.*\.wasm$/.test(path)).length;
  const page = await stage.open({ hash: '#sample=support' });
  await shows(page, 2000);
  const [, before] = await counter(page);
  assert.equal(loaded(), 0);
  await guard(page, 'antonym').check();
  const more = await slotsAfter(page, before);
  assert.ok(more > before, `${more} slots`);
  assert.equal(loaded(), 1);
  assert.match(page.url(), /#sample=support&guards=antonym$/);
  await reads(page.locator('#trust-words'), /^\d+ guarded$/);
  await guard(page, 'number').check();
  await slotsAfter(page, more);
  assert.match(decodeURIComponent(page.url()), /guards=number,antonym$/);
  // In the list, item by item, with the novelty that would have been near enough.
  const row = await scrollTo(page, 'guarded: number');
  assert.match(await row.innerText(), /guarded: number\s*novelty 0\.\d\d ≤ 0\.30/);
  assert.ok(await row.evaluate((one) => one.classList.contains('opened')));
  // A question is judged as an item is.
  await page.fill('#question', 'Where is my order 1234567?');
  await page.click('#ask-form button');
  await reads(page.locator('#answer'), /^Unknown.*novelty 0\.\d\d ≤ 0\.30, guarded: number\./s);
  assert.equal(loaded(), 1);
  // It stands in the address; without guards all is as before.
  await page.reload();
  await shows(page, 2000);
  assert.ok(await guard(page, 'number').isChecked());
  await page.click('#reset');
  await page.waitForFunction((n) => document.getElementById('counter-slots').textContent === `${n} slots`, before);
  await reads(page.locator('#trust-words'), /^$/);
  await page.done();
});

test('a wrong merge is found, undone with one click, and not made again', async () => {
  const page = await stage.open({ hash: '#sample=support' });
  await shows(page, 2000);
  const [, before] = await counter(page);
  await page.selectOption('#audit', 'full');
  await lookAt(page, 4);
  assert.equal(await page.locator('#slots-picture').isVisible(), false);
  await reads(members(page).first(), /^\d+ Hi there, How do I turn dark mode off\?\s+opened\s+0\.30\s+\d\d:\d\d:\d\d\s+Split off$/);
  await page.fill('#member-search', 'mode on');
  await page.waitForFunction(() => document.querySelectorAll('#member-body tr').length === 4);
  const wrong = members(page).first();
  await reads(wrong, /dark mode on.*\s0\.\d\d\s+0\.30/is);
  const item = (await wrong.innerText()).split(' ')[0];
  await wrong.locator('button').click();
  assert.equal(await slotsAfter(page, before), before + 1);
  await page.waitForFunction(() => document.querySelectorAll('#member-body tr').length === 3);
  await reads(pairs(page, 'apart'), /^4 Hi there, How do I turn dark mode off\?\s+\d+ .*mode on/i);
  await reads(page.locator('#trust-words'), /^1 pair kept apart$/);
  // It opened a slot of its own, and its old one has lost it.
  const opened = /\n+(\d+) /.exec(await pairs(page, 'apart').innerText())[1];
  await lookAt(page, opened);
  await reads(members(page), new RegExp(`^${item} .*Split off$`, 's'));
  assert.equal(await members(page).count(), 1);
  assert.ok(await members(page).locator('button').isDisabled(), 'its only member');
  await page.click('#members-close');
  await page.locator('#slots-picture').waitFor();
  // Whatever is replayed, at an earlier moment it has not been said yet, and later it holds.
  await page.fill('#tau-number', '0.31');
  await page.press('#tau-number', 'Tab');
  await says(page, /2,000 items/);
  await reads(pairs(page, 'apart'), /dark mode off/);
  await page.locator('#position').fill('1500');
  await page.locator('#apart-none').waitFor();
  await page.locator('#position').fill('2000');
  await reads(pairs(page, 'apart'), /dark mode off/);
  // And back.
  await pairs(page, 'apart').locator('button').click();
  await page.locator('#apart-none').waitFor();
  await page.done();
});

test('in the middle of the stream: what comes later joins the slot that was split off', async () => {
  const page = await stage.open({ hash: '#sample=support&audit=full' });
  await shows(page, 2000);
  await page.locator('#position').fill('1000');
  await shows(page, 1000);
  await lookAt(page, 4);
  await page.fill('#member-search', 'how do i turn dark mode on?');
  await members(page).first().locator('button').click();
  await reads(pairs(page, 'apart'), /dark mode off.*dark mode on/is);
  assert.equal((await counter(page))[0], 1000);
  const opened = /\n+(\d+) /.exec(await pairs(page, 'apart').innerText())[1];
  await page.locator('#position').fill('2000');
  await shows(page, 2000);
  await lookAt(page, opened);
  await page.waitForFunction(() => document.querySelectorAll('#member-body tr').length > 1);
  await page.done();
});

test('uncertain items are asked about, by keyboard too, and the verdict holds', async () => {
  const page = await stage.open({ hash: '#sample=support' });
  await shows(page, 2000);
  await page.fill('#merge', '0.2');
  await page.press('#merge', 'Enter');
  await pairs(page, 'review').first().waitFor();
  assert.match(page.url(), /merge=0\.2$/);
  const [, before] = await counter(page);
  const listed = async () => Number(/(\d+) to review/.exec(await page.innerText('#trust-words'))[1]);
  const count = await listed();
  await reads(await scrollTo(page, 'uncertain'), /uncertain\s*0\.20 < novelty 0\.2\d ≤ 0\.30/);
  await reads(pairs(page, 'review').first(), /^\d+ .+\s+\d+ .+\s+0\.7\d alike\s*same\s*different$/);
  await pairs(page, 'review').first().locator('button').nth(1).focus();
  await page.keyboard.press('Enter'); // different
  await reads(page.locator('#trust-words'), /1 pair kept apart/);
  assert.equal((await counter(page))[1], before);
  assert.equal(await listed(), count - 1);
  // The focus is at the like of the next pair.
  const focus = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  assert.match(await focus(), /^different: slots \d+ and \d+$/);
  await page.keyboard.press('Shift+Tab');
  assert.match(await focus(), /^same: slots \d+ and \d+$/);
  await page.keyboard.press('Space');
  assert.equal(await slotsAfter(page, before), before - 1);
  await page.waitForFunction((n) => document.getElementById('trust-words').textContent.includes(`${n} to review`), count - 2);
  assert.match(await focus(), /^same: /);
  // A question between the thresholds is answered so.
  await page.fill('#question', 'please help how could one turn dark mode off');
  await page.click('#ask-form button');
  await reads(page.locator('#answer'), /^(Uncertain: perhaps|Known|Unknown).*novelty 0\.\d\d/s);
  // Nothing: as τ.
  await page.fill('#merge', '');
  await page.press('#merge', 'Enter');
  await page.locator('#review-none').waitFor();
  await page.done();
});

test('what cannot be is named, and changes nothing', async () => {
  const page = await stage.open({ hash: '#guards=number,magic&audit=some&merge=-1' });
  await page.locator('#notice.bad', { hasText: 'guards=number,magic, audit=some, merge=-1' }).waitFor();
  await shows(page, 2000, 19);
  await page.fill('#merge', '3');
  await page.press('#merge', 'Tab');
  await page.locator('#notice.bad', { hasText: 'τ merge is a number from 0 to 2' }).waitFor();
  assert.equal(await page.getAttribute('#merge', 'aria-invalid'), 'true');
  assert.equal(new URL(page.url()).hash, '#guards=number,magic&audit=some&merge=-1');
  // Above τ there is no room for doubt.
  await page.fill('#merge', '0.5');
  await page.press('#merge', 'Tab');
  await says(page, /^2,000 items of service log → 19 slots\.$/);
  // Of names alone a centroid cannot be taken back.
  await page.selectOption('#key', 'centroid');
  await says(page, /→ 18 slots/);
  await page.selectOption('#audit', 'ids');
  await lookAt(page, 2);
  await members(page).nth(1).locator('button').click();
  await page.locator('#notice.bad', { hasText: /^That cannot be done: only audit full can undo this merge/ }).waitFor();
  assert.deepEqual(await counter(page), [2000, 18]);
  // Vectors have no text to guard.
  await page.selectOption('#sample', 'sensor');
  await page.waitForFunction(() => document.querySelector('#guards input').disabled);
  await page.done();
});

test('where the WebAssembly of trust cannot be had, the page says so, and works on without', async () => {
  const page = await stage.open({ block: '**/trust-*.wasm' });
  await shows(page, 2000, 19);
  await page.selectOption('#audit', 'full');
  await page.locator('#notice.bad', { hasText: 'WebAssembly could not be loaded' }).waitFor();
  await page.selectOption('#audit', 'none');
  await says(page, /→ 19 slots/);
  await page.context().close();
});

test('a memory with an audit: opened, its members listed, one split off, and saved so', async () => {
  const made = await Cache.create({ text: {}, tau: 0.9, audit: 'full', guards: ['number'] });
  made.observe({ text: 'turn on dark mode', id: 'a:1', payload: { text: 'turn on dark mode' }, time: 1e12 });
  made.observe({ text: 'turn off dark mode', id: 'a:2', payload: { text: 'turn off dark mode' }, time: 1e12 });
  const page = await stage.open();
  await shows(page, 2000, 19);
  await drop(page, 'm.dpc', made.save());
  await says(page, /^m\.dpc: 1 slot from 2 items\./);
  assert.equal(await page.inputValue('#audit'), 'full');
  assert.ok(await guard(page, 'number').isChecked());
  await lookAt(page, 1);
  await reads(members(page).nth(1), /^a:2 turn off dark mode\s+0\.\d\d\s+0\.90\s+2001-09-\d\d\s+Split off$/);
  await members(page).nth(1).locator('button').click();
  await reads(pairs(page, 'apart'), /^1 turn on dark mode\s+2 turn off dark mode/);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  const saved = await Cache.load(new Uint8Array(Buffer.concat(chunks)));
  assert.deepEqual(saved.apart(), [{ slot: 1, other: 2 }]);
  assert.deepEqual(saved.slots().map(({ payload }) => payload.text), ['turn on dark mode', 'turn off dark mode']);
  await page.done();
});

// The tab that learns: from pairs to a threshold in the stream, and what it refuses.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Encoder } from 'dpcache';
import { calibrate } from 'dpcache/train';
import { reads, shows, start } from './page.mjs';

const stage = await start();
after(() => stage.close());

async function openTab(options) {
  const page = await stage.open(options);
  await page.click('#tab-learn');
  await page.locator('#learn-run').waitFor();
  await page.waitForFunction(() => document.getElementById('learn-pairs').value !== '');
  return page;
}

const table = (rows) => `label\ttext_a\ttext_b\n${rows.map((row) => `${row.join('\t')}\n`).join('')}`;

test('the sample’s pairs give a threshold, which the stream takes', async () => {
  const page = await openTab({ hash: '#sample=support' });
  assert.equal(await page.isEnabled('#learn-use'), false);
  await page.click('#learn-run');
  await reads(page.locator('#learn-words'), /^τ = 0\.\d+: at most 5 % of different pairs merge/);
  // The page says what the package says.
  const text = await page.inputValue('#learn-pairs');
  const pairs = text
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.split('\t'))
    .map(([label, textA, textB]) => ({ textA, textB, same: label === '1' }));
  assert.equal(pairs.length, 240);
  const encoder = await Encoder.create({ masks: 'all' });
  const { tau, chosen } = await calibrate(pairs, { encoder, maxFalseMerge: 0.05 });
  const shown = Math.floor(tau * 100 + 1e-4) / 100;
  await reads(page.locator('#learn-words'), new RegExp(`^τ = ${shown}: .* ${chosen.missedMerges} of 120 `));
  await reads(page.locator('#learn-body tr.selected'), new RegExp(`^${tau.toFixed(3)}\\s+${chosen.falseMerges} · `));
  await reads(page.locator('#learn-legend'), /false merges of 120 different pairs/);

  await page.click('#learn-use');
  await page.locator('#tau-number').waitFor();
  assert.equal(await page.inputValue('#tau-number'), String(shown));
  await shows(page, 2000);
  assert.match(page.url(), new RegExp(`tau=${shown}`));
  await page.done();
});

test('a stricter limit gives a smaller threshold, or none with the number that it takes', async () => {
  const page = await openTab();
  const tauAt = async (most) => {
    await page.fill('#learn-most', most);
    await page.click('#learn-run');
    await reads(page.locator('#learn-words'), new RegExp(`^τ = .*at most ${most} %`));
    return Number((await page.innerText('#learn-words')).match(/^τ = ([\d.]+)/)[1]);
  };
  assert.ok((await tauAt('20')) > (await tauAt('3')));
  await page.fill('#learn-most', '1');
  await page.click('#learn-run');
  await reads(page.locator('#learn-words'), /^No τ: .* needs at least 230 .* there are 120/);
  assert.equal(await page.isEnabled('#learn-use'), false);
  await page.done();
});

test('a table from a file, packed or not, and tables that are none', async () => {
  const page = await openTab();
  const good = table(Array.from({ length: 60 }, (_, i) => (i % 2 ? ['0', `red ${i}`, 'blue sky'] : ['1', 'a b c', 'a b c'])));
  await page.setInputFiles('#learn-file', { name: 'p.tsv.gz', mimeType: '', buffer: gzipSync(good) });
  await reads(page.locator('#learn-legend'), /of 30 different pairs/);
  for (const [text, words] of [
    ['', /There are no pairs/],
    ['1\ta\tb\n', /Line 1 has no column “label”/],
    [table([['1', 'a']]), /Line 2 has 2 fields, the first line has 3/],
    [table([['1', 'a', 'b'], ['yes', 'a', 'b']]), /Line 3 has the label “yes”/],
    [table([['1', 'a', 'b']]), /^No τ: .* There is no gate: a gate needs pairs of both kinds/],
  ]) {
    await page.fill('#learn-pairs', text);
    await page.click('#learn-run');
    await reads(page.locator('#learn-words'), words);
    assert.equal(await page.isEnabled('#learn-use'), false);
  }
  await page.done();
});

test('what may vary in the stream may vary in the pairs', async () => {
  const page = await openTab({ hash: '#masks=none' });
  const rows = Array.from({ length: 100 }, (_, i) => (i % 2 ? ['0', `red ${i}`, 'blue sky'] : ['1', `order ${i}`, `order ${999 - i}`]));
  await page.fill('#learn-pairs', table(rows));
  await page.click('#learn-run');
  await reads(page.locator('#learn-body tr >> nth=0'), /^0\.000\s.*\s50 · 100\.0 %/s);
  await page.goto(page.url().replace(/#.*/, '#masks=all'));
  await page.reload();
  await page.click('#tab-learn');
  await page.waitForFunction(() => document.getElementById('learn-pairs').value !== '');
  await page.fill('#learn-pairs', table(rows));
  await page.click('#learn-run');
  await reads(page.locator('#learn-body tr >> nth=0'), /^0\.000\s.*\s0 · 0\.0 %/s);
  await page.done();
});

test('the stream itself gives advice: what the package says, and the stream takes its τ', async () => {
  const page = await openTab({ hash: '#sample=sensor' });
  await page.fill('#learn-most', '1');
  await page.click('#advice-run');
  await reads(page.locator('#advice-words'), /^τ = 0\.52 \(0\.48 alike\): the labelled items bound its false merges; at most 0\.5 % merge wrongly, with confidence 90\.0 %\.$/);
  await reads(page.locator('#advice-legend'), /2,000 items, \d+ of them exact repeats\s*the valley: τ from 0\.2\d to 0\.28/);
  await reads(page.locator('#advice-body tr.selected'), /^0\.52\s+54\s+\d+\.\d %\s+0 of 1,946\s+–$/);
  const inked = await page.locator('#advice-chart').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((x, i) => i % 4 === 3 && x > 0).length;
  });
  assert.ok(inked > 500, `${inked} pixels`);
  await page.click('#advice-use');
  await page.waitForFunction(() => location.hash.includes('tau=0.52'));
  await page.done();
});

test('without a valley there is no τ; known opposites are warned of, guards counted, and bad pairs named', async () => {
  const page = await openTab({ hash: '#sample=support' });
  await page.click('#advice-run');
  await reads(page.locator('#advice-words'), /^No τ: the novelties have no valley/);
  assert.equal(await page.isEnabled('#advice-use'), false);
  await reads(page.locator('#advice-body tr >> nth=7'), /^0\.30\s+172\s.*\s204 of 1,828\s+–$/s);
  await page.fill('#learn-most', '1');
  await page.check('#advice-pairs');
  await page.click('#advice-run');
  await reads(page.locator('#advice-warnings'), /^Beware: tau 0\.4 merges 43 of 120 pairs that are known to be different\.$/);
  await reads(page.locator('#advice-body tr >> nth=-1'), /116 of 120$/);
  await page.fill('#learn-most', '5'); // fewer pairs do for that
  await page.click('#advice-run');
  await reads(page.locator('#advice-words'), /^τ = 0\.09 \(0\.91 alike\): the labelled pairs bound its false merges; at most \d\.\d % merge wrongly/);
  await page.fill('#learn-pairs', 'nothing');
  await page.click('#advice-run');
  await page.locator('#advice-words.bad', { hasText: 'no column “label”' }).waitFor();
  await page.done();
});

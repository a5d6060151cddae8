// What was asked for, met or missed, and what was lost: found in the figures, not written by hand.
import { median, number, percent, rate, table, us } from './format.mjs';
import { loadPeer, wasmPeers } from './peers/index.mjs';
import { kFlat } from './sections.mjs';

export async function askedSection({ scans, calls, streams }) {
  const rows = [];
  const say = (what, measured, met) => rows.push([what, measured, met ? 'met' : '**missed**']);
  const stream = streams.find((stream) => stream.asked);
  for (const place of stream?.places ?? []) {
    const mine = stream.rows.find((row) => row.place === place && row.peer === 'dpcache');
    const others = stream.rows.filter(
      (row) => row.place === place && wasmPeers.includes(row.peer) && row.figures,
    );
    if (!mine?.figures || others.length === 0) continue;
    const best = others.reduce((a, b) => (rate(b.figures) > rate(a.figures) ? b : a));
    const factor = rate(mine.figures) / rate(best.figures);
    say(
      `${stream.title}, ${place}: at least 6 times the best WebAssembly peer`,
      `${number(rate(mine.figures))} items/s, ${number(factor, 1)} times ${(await loadPeer(best.peer)).name}`,
      factor >= 6,
    );
    say(
      `${stream.title}, ${place}: no duplicate slot`,
      `${mine.verdict.duplicates} duplicate, ${mine.verdict.missed} missed`,
      mine.verdict.duplicates === 0 && mine.verdict.missed === 0,
    );
  }
  const scan = scans.find((scan) => scan.asked);
  for (const name of ['Node.js', 'Chromium']) {
    if (!scan?.rows[name]) continue;
    const ratio = median(scan.rows[name].flat()) / median(scan.rows[kFlat].flat());
    say(
      `Search of ${number(scan.slots)} × ${scan.dimension}, ${name}: within 1.15 times a flat scan by native SSE4`,
      `${number(ratio, 2)} times`,
      ratio <= 1.15,
    );
  }
  const observes = calls.filter((call) => call.what === 'observe');
  if (observes.length > 0) {
    const most = Math.max(...observes.map((call) => call.node.median - call.inside.median));
    say(
      '`observe` from JavaScript: at most 1 µs over the call inside',
      `at most ${us(most)} µs`,
      most <= 1,
    );
  }
  return `## What was asked for\n\n${table(['', 'measured', ''], rows)}\n`;
}

export async function lostSection({ slots, streams, bundles }) {
  const lines = [];
  for (const row of slots) {
    const mine = slots.find(
      (other) => other.place === row.place && other.slots === row.slots && other.peer === 'dpcache',
    );
    if (row.peer.startsWith('dpcache') || !row.figures?.nearestUs || !mine?.figures) continue;
    const [a, b] = [median(row.figures.nearestUs), median(mine.figures.nearestUs)];
    if (a < b) {
      const found = row.figures.found < 1 ? `, which finds ${percent(row.figures.found)}` : '';
      lines.push(
        `- Nearest of ${number(row.slots)}, ${row.place}: ${us(b)} µs, ${(await loadPeer(row.peer)).name} ${us(a)} µs${found}.`,
      );
    }
  }
  for (const stream of streams) {
    for (const row of stream.rows) {
      const mine = stream.rows.find(
        (other) => other.place === row.place && other.peer === 'dpcache',
      );
      if (row.peer.startsWith('dpcache') || !row.figures || !mine?.figures) continue;
      const [a, b] = [rate(row.figures), rate(mine.figures)];
      if (a > b) {
        const part = row.figures.items < row.figures.of ? ', on a part of the stream,' : '';
        lines.push(
          `- ${stream.title}, ${row.place}: ${number(b)} items/s, ${(await loadPeer(row.peer)).name} ${number(a)}${part} ` +
            `with ${number(row.verdict.duplicates)} duplicate slots.`,
        );
      }
    }
  }
  const mine = bundles.find((row) => row.all);
  for (const row of bundles) {
    if (mine && row.all && !row.name.startsWith('dpcache') && row.all.brotli < mine.all.brotli) {
      lines.push(
        `- What a page loads: ${number(mine.all.brotli / 1000)} kB, ${row.name} ${number(row.all.brotli / 1000)} kB.`,
      );
    }
  }
  return `## What was lost

Wherever another was faster or smaller than dpcache with SIMD. A graph need not read every slot, so with enough
slots it searches faster; it pays when it inserts, and it may overlook a slot.

${lines.length > 0 ? lines.join('\n') : '- Nothing in this run.'}
`;
}

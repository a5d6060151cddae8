// Measures the npm module beside other packages, in Node.js and in Chromium, and writes bench/js.md.
//
//   node bench/js/bench.mjs [--quick] [--node-only] [--only PART,...] [--prepare] [--out FILE]
//                           [--minutes N]
//
// --quick: a smoke run with few slots and short rounds, written to build/bench-js/quick.md.
// --only: some of bundles, scans, calls, short, slots, topics, long; needs --out.
// --prepare: builds and computes what a run needs and keeps in build/bench-js, then ends. A run does
//   it too, where it is not there yet; the exact decisions of the long stream take a minute or two.
// --minutes: what has not begun by then is left out, and named as such (default 11).
// scripts/setup and scripts/build-npm must have run, and `npm ci` here.
//
// Longer than most files, for it is one list: what is measured, in which order and with what limits.
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { measureBundles } from './bundles.mjs';
import { makeStream } from './data.mjs';
import { exactDecisions, judge } from './exact.mjs';
import { median, rate } from './format.mjs';
import { describe } from './machine.mjs';
import { ids, nativePeers } from './peers/index.mjs';
import { chromiumPlace, nodePlace } from './places.mjs';
import { build, buildPrograms, data, memoryFile, scan } from './prepare.mjs';
import { report } from './report.mjs';
import { kFlat } from './sections.mjs';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    'node-only': { type: 'boolean', default: false },
    only: { type: 'string', default: 'bundles,scans,calls,short,slots,topics,long' },
    prepare: { type: 'boolean', default: false },
    out: { type: 'string' },
    minutes: { type: 'string', default: '11' },
  },
});
const { quick } = options;
const out =
  options.out ?? (quick ? new URL('quick.md', build) : new URL('../js.md', import.meta.url));
const command = ['node bench/js/bench.mjs', ...process.argv.slice(2)].join(' ');

const parts = new Set(options.only.split(','));

const dimension = 384;
const sizes = quick ? [1_000] : [1_000, 10_000, 100_000];
const rounds = quick ? { rounds: 3, roundMs: 5 } : { rounds: 7, roundMs: 40 };
// Calls, and scans, are short and compared with each other: many short rounds, in turns.
const callRounds = quick ? { rounds: 5, roundMs: 10 } : { rounds: 11, roundMs: 10 };
const turns = quick ? 1 : 4;
const insertLimitMs = quick ? 5_000 : 20_000;
const graphs = ['edgevec', 'hnswlib-wasm', 'usearch', 'hnswlib-node'];
const everywhere = ids.filter((id) => !nativePeers.includes(id));

const shapes = {
  short: { distinct: quick ? 300 : 2_000, repeats: 4, dimension, topics: 0, seed: 3 },
  topics: { distinct: quick ? 300 : 2_000, repeats: 4, dimension, topics: 50, seed: 4 },
  long: { distinct: 10_000, repeats: 4, dimension, topics: 0, seed: 5 },
};

const began = performance.now();
const minutes = () => (performance.now() - began) / 60e3;
const say = (text) => process.stderr.write(`${minutes().toFixed(1).padStart(5)} min  ${text}\n`);
const load = os.loadavg()[0];

// --- What a run needs

say('building');
await buildPrograms();
const memories = new Map();
const callShapes = [1, 100].flatMap((slots) => [16, dimension].map((d) => [slots, d]));
for (const [slots, d] of [
  ...callShapes,
  ...[1_000, 10_000, ...sizes].map((size) => [size, dimension]),
]) {
  const name = `${slots}x${d}`;
  if (!memories.has(name)) memories.set(name, await memoryFile(slots, d, true));
}
const nodeJs = nodePlace(data);
const exact = new Map();
for (const [name, shape] of Object.entries(shapes)) {
  if (!quick || name !== 'long') exact.set(shape, await exactDecisions(nodeJs, shape, say));
}
if (options.prepare) process.exit(0);

const chromium = options['node-only'] ? null : await chromiumPlace(data);
const places = chromium ? [nodeJs, chromium] : [nodeJs];
const results = { ids, sizes, queries: 64, places: places.map((place) => place.name) };

// One task; a crash, a refusal or want of time is a row too.
async function attempt(place, task, timeoutMs) {
  const row = { place: place.name, peer: task.peer };
  if (minutes() > Number(options.minutes)) return { ...row, left: 'the run had come to its end' };
  return { ...row, ...(await place.run(task, timeoutMs)) };
}

// --- The measurements, what was asked for first

say('bundles');
results.bundles = parts.has('bundles') ? await measureBundles() : [];

results.scans = [];
for (const slots of parts.has('scans') ? [10_000, 1_000] : []) {
  say(`scans of ${slots} × ${dimension}`);
  const files = memories.get(`${slots}x${dimension}`);
  const rows = {};
  const add = (name, list) => (rows[name] ??= []).push(list);
  for (let turn = 0; turn < turns; ++turn) {
    add(kFlat, (await scan(files, callRounds.rounds, 'flat:SSE4')).nearestUs);
    add('native SSE4', (await scan(files, callRounds.rounds, 'SSE4')).nearestUs);
    const best = await scan(files, callRounds.rounds);
    add(`native ${best.target}`, best.nearestUs);
    for (const place of places) {
      const { figures, failed } = await place.run(
        { kind: 'calls', ...files, dimension, ...callRounds },
        60e3,
      );
      if (failed) throw new Error(`dpcache in ${place.name}: ${failed}`);
      add(place.name, figures.nearestUs);
    }
  }
  results.scans.push({ slots, dimension, rows, asked: slots === 10_000 });
}

results.calls = [];
for (const [slots, d] of parts.has('calls') ? callShapes : []) {
  say(`calls with ${slots} × ${d}`);
  const files = memories.get(`${slots}x${d}`);
  const seen = { inside: [], 'Node.js': [], Chromium: [] };
  for (let turn = 0; turn < Math.min(turns, 3); ++turn) {
    seen.inside.push(await scan(files, callRounds.rounds, 'wasm'));
    for (const place of places) {
      const { figures, failed } = await place.run(
        { kind: 'calls', ...files, dimension: d, ...callRounds },
        60e3,
      );
      if (failed) throw new Error(`dpcache in ${place.name}: ${failed}`);
      seen[place.name].push(figures);
    }
  }
  for (const what of ['observe', 'nearest']) {
    const middle = (list) => {
      const all = list.flatMap((one) => one[`${what}Us`]);
      return all.length > 0 ? { median: median(all), least: Math.min(...all) } : null;
    };
    results.calls.push({
      slots,
      dimension: d,
      what,
      inside: middle(seen.inside),
      node: middle(seen['Node.js']),
      chromium: middle(seen.Chromium),
    });
  }
}
results.calls.sort((a, b) => (a.what === b.what ? 0 : a.what === 'observe' ? -1 : 1));

// Peers take turns, so that what else the machine does meets all alike; the slow have one turn.
results.streams = [];
async function measureStream(part, title, words, plan, turns = 1) {
  if (!parts.has(part)) return;
  const shape = shapes[part];
  const { original } = makeStream(shape);
  const stream = { title, words, rows: [], places: [], asked: part === 'short' };
  for (const [place, peers, limitMs] of plan) {
    if (!place) continue;
    stream.places.push(place.name);
    const rows = new Map();
    for (let turn = 0; turn < turns; ++turn) {
      for (const peer of peers) {
        const before = rows.get(peer);
        if (before && !(before.figures?.ms[0] < 6_000)) continue;
        const task = { kind: 'stream', peer, ...shape, limitMs: limitMs(peer) };
        const row = await attempt(place, task, task.limitMs + 60e3);
        const { figures } = row;
        if (figures) {
          row.verdict = judge(figures, original, exact.get(shape));
          delete figures.opener;
          if (before) figures.ms.push(...before.figures.ms);
        }
        if (figures || !before) rows.set(peer, row);
        const what = figures
          ? `${rate(figures).toFixed(0)} items/s, ${figures.slots} slots`
          : (row.failed ?? row.left);
        say(`${title}, ${place.name}, ${peer}: ${what}`);
      }
    }
    stream.rows.push(...rows.values());
  }
  results.streams.push(stream);
}

const patient = () => 60e3;
const n = (x) => x.toLocaleString('en-US');
await measureStream(
  'short',
  `K = ${n(shapes.short.distinct)}`,
  `${n(shapes.short.distinct)} random directions, each 4 times with a little noise (a cosine of ` +
    '.96), shuffled.',
  [
    [nodeJs, ids, patient],
    [chromium, everywhere, patient],
  ],
  quick ? 1 : 3,
);

// Graphs take minutes to hours for 100,000; how long is told by what 10,000 took.
results.slots = [];
for (const place of parts.has('slots') ? places : []) {
  for (const peer of place === nodeJs ? ids : everywhere) {
    if (peer === 'hnswlib-wasm-own') continue; // the streams have it; it would build for minutes
    for (const slots of sizes) {
      const before = results.slots.find(
        (row) => row.place === place.name && row.peer === peer && row.slots === slots / 10,
      );
      let row;
      if (graphs.includes(peer) && slots === 100_000) {
        const { figures } = before ?? {};
        const eachUs =
          figures?.insertUs ??
          (figures?.inserted ? (figures.limitMs * 1e3) / figures.inserted : null);
        const left = eachUs
          ? `at ${eachUs.toFixed(0)} µs each, as with 10,000, inserting takes ` +
            `${((eachUs * slots) / 60e6).toFixed(1)} minutes, and more as it grows`
          : 'it did not come to 10,000';
        row = { place: place.name, peer, left };
      } else if (peer === 'voy' && slots === 100_000 && place === chromium) {
        row = { place: place.name, peer, left: 'for want of time; see Node.js' };
      } else {
        const task = { kind: 'slots', peer, slots, dimension, limitMs: insertLimitMs, ...rounds };
        if (slots === 100_000) Object.assign(task, { rounds: 3 });
        row = await attempt(place, task, insertLimitMs + 60e3);
      }
      results.slots.push({ ...row, slots });
      const what = row.figures?.nearestUs
        ? `${median(row.figures.nearestUs).toFixed(1)} µs`
        : (row.failed ?? row.left ?? 'given up');
      say(`nearest of ${slots}, ${place.name}, ${peer}: ${what}`);
    }
  }
}

await measureStream(
  'topics',
  `K = ${n(shapes.topics.distinct)} in topics`,
  'The same, but the originals of a topic (there are 50) have a cosine of .3 to each other: a ' +
    'graph finds its way more easily.',
  [[nodeJs, ['dpcache', 'loop', ...graphs, 'voy'], () => 30e3]],
);

if (!quick) {
  // Those that end within a minute and a half may, so that all their slots are counted.
  const whole = ['dpcache', 'usearch', 'hnswlib-node'];
  const limited = (peer) => (whole.includes(peer) ? 90e3 : 10e3);
  const others = ids.filter(
    (id) => !['dpcache-scalar', 'loop-four', 'hnswlib-wasm-own'].includes(id),
  );
  await measureStream(
    'long',
    `K = ${n(shapes.long.distinct)}`,
    `${n(shapes.long.distinct)} random directions, each 4 times, as above. One run, stopped after ` +
      '10 s where a whole one would take minutes.',
    [
      [nodeJs, others, limited],
      [chromium, ['dpcache', 'hnswlib-wasm'], limited],
    ],
  );
}

const about = describe({ command, chromium: chromium?.version, load, minutes: minutes() });
await chromium?.close();
await writeFile(out, await report(results, about));
say(`written to ${out instanceof URL ? out.pathname.split('/').slice(-3).join('/') : out}`);
process.exit(0);

// The tables of the page, one function a section.
import { median, number, percent, rate, table, us } from './format.mjs';
import { loadPeer } from './peers/index.mjs';

export async function slotsSection({ slots, sizes, places, queries }) {
  const lines = [];
  for (const place of places) {
    const ids = [...new Set(slots.filter((row) => row.place === place).map((row) => row.peer))];
    const rows = [];
    for (const peer of ids) {
      const cells = [(await loadPeer(peer)).name];
      for (const size of sizes) {
        const row = slots.find(
          (row) => row.place === place && row.peer === peer && row.slots === size,
        );
        const figures = row?.figures;
        if (!figures?.nearestUs) {
          cells.push('', '', '');
          continue;
        }
        cells.push(
          figures.insertUs === null ? '' : us(figures.insertUs),
          us(median(figures.nearestUs)) + (figures.found < 1 ? ` (${percent(figures.found)})` : ''),
          us(median(figures.observeUs)),
        );
      }
      rows.push(cells);
    }
    const head = [
      '',
      ...sizes.flatMap((size) => [`${number(size)}: insert`, 'nearest', 'observe']),
    ];
    lines.push(`**${place}**, µs\n`, table(head, rows), '');
  }
  const absent = [];
  for (const { place, peer, slots: size, figures, failed, left } of slots) {
    const name = (await loadPeer(peer)).name;
    if (left) absent.push(`- ${name}, ${number(size)} slots, ${place}: left out: ${left}`);
    else if (failed) absent.push(`- ${name}, ${number(size)} slots, ${place}: failed: ${failed}`);
    else if (!figures.nearestUs) {
      absent.push(
        `- ${name}, ${number(size)} slots, ${place}: given up: ${number(figures.inserted)} were inserted in ` +
          `${number(figures.limitMs / 1e3)} s`,
      );
    }
  }
  return `## Search and observe

Time of a call with 1,000 to 100,000 slots of 384 floats: \`nearest\`, and \`observe\` of an item that
merges, for the others a search and a comparison with tau. Median of rounds, over ${queries} queries with a cosine
of .96 to a slot; in brackets the share of queries whose slot was found, where it is not all. \`insert\`: the mean
time to insert one, from none to all; dpcache opens a memory file here, and makes the codes
that it is searched by with the first calls, some at each: 100,000 slots are scanned for most of them.

${lines.join('\n')}
${absent.length > 0 ? `Not in the tables:\n\n${absent.join('\n')}\n` : ''}`;
}

export async function streamSection(streams) {
  const parts = [];
  for (const stream of streams) {
    const rows = [];
    const notes = [];
    for (const peer of [...new Set(stream.rows.map((row) => row.peer))]) {
      const name = (await loadPeer(peer)).name;
      const cells = [name];
      let verdict;
      for (const place of stream.places) {
        const row = stream.rows.find((row) => row.peer === peer && row.place === place);
        if (row?.failed || row?.left) notes.push(`- ${name}, ${place}: ${row.failed ?? row.left}`);
        if (!row?.figures) {
          cells.push('');
          continue;
        }
        const { figures } = row;
        const part = figures.items < figures.of;
        const rates = figures.ms.map((ms) => (figures.items * 1e3) / ms);
        const range = `${number(Math.min(...rates))}–${number(Math.max(...rates))}`;
        cells.push(number(rate(figures)) + (part ? ' *' : rates.length > 1 ? ` (${range})` : ''));
        if (part) {
          notes.push(
            `- \\* ${name}, ${place}: ended after ${number(median(figures.ms) / 1e3)} s at item ` +
              `${number(figures.items)} of ${number(figures.of)}; the rate is that of a part with fewer slots`,
          );
        }
        verdict ??= { ...row.verdict, slots: figures.slots, part };
      }
      if (verdict) {
        cells.push(
          number(verdict.slots) + (verdict.part ? ' *' : ''),
          number(verdict.duplicates),
          number(verdict.missed),
          percent(verdict.equal),
        );
      } else cells.push('', '', '', '');
      rows.push(cells);
    }
    const head = [
      '',
      ...stream.places.map((place) => `${place}, items/s`),
      'slots',
      'duplicate slots',
      'missed',
      'decisions as exact',
    ];
    parts.push(
      `### ${stream.title}\n\n${stream.words}\n\n${table(head, rows)}\n${notes.length ? `\n${notes.join('\n')}\n` : ''}`,
    );
  }
  return `## Streams: insert if novel

Each item is searched; if its novelty is above tau = .4 it is inserted, else nothing is done. dpcache does it in one
call, the others by a search and an insert. Duplicate slots: more than one for an original. Missed: originals
without a slot of their own. Decisions as exact: items that ended in the slot of the same first item as with the
straightforward loop, which compares every slot. Vectors are brought to the type that a package takes outside the
clock. Median of three runs in turns, and their range, or one run where a run takes over 6 s; slots and decisions are
those of the first place with an answer.

${parts.join('\n')}`;
}

/** What the searches are compared with: all keys read, by the instructions that WebAssembly has too. */
export const kFlat = 'native SSE4, a flat scan';

export function scanSection(scans) {
  const rows = scans.flatMap(({ slots, dimension, rows }) => {
    const native = median(rows[kFlat].flat());
    return Object.entries(rows).map(([name, list]) => {
      const time = median(list.flat());
      return [
        `${number(slots)} × ${dimension}, ${name}`,
        us(time),
        number((slots * dimension * 4) / time / 1e3, 1),
        number(time / native, 2),
        `${number(Math.min(...list.map((l, i) => median(l) / median(rows[kFlat][i]))), 2)}–${number(
          Math.max(...list.map((l, i) => median(l) / median(rows[kFlat][i]))),
          2,
        )}`,
      ];
    });
  });
  return `## One search: WebAssembly beside native

\`nearest\` on one memory file, in turns; WebAssembly from JavaScript, with the call. All but the flat scan search by
codes: of eight bits in WebAssembly, of four natively. GB/s: of keys, as if they had been read.

${table(['', 'µs', 'GB/s', 'to the flat scan', 'in each turn'], rows)}
`;
}

export function callSection(calls) {
  const rows = calls.map(({ slots, dimension, what, inside, node, chromium }) => [
    `${what}, ${number(slots)} × ${dimension}`,
    us(inside.median),
    us(node.median),
    us(node.median - inside.median),
    us(node.least - inside.least),
    chromium ? us(chromium.median) : '',
  ]);
  const head = [
    '',
    'inside, µs',
    'Node.js, µs',
    'the call, µs',
    'of the quickest rounds',
    'Chromium, µs',
  ];
  return `## What a call from JavaScript costs

The same calls on the same memory file and queries, from C++ inside WebAssembly (bench/scan.cc) and from JavaScript.
\`observe\` is of an item that merges. Medians of many short rounds, in turns; beside the difference of the medians
that of the quickest rounds, which no other program disturbed.

${table(head, rows)}
`;
}

export function bundleSection(bundles) {
  const kb = (bytes) => number(bytes / 1000, 1);
  const rows = bundles.map(({ name, js, wasm, all, failed }) =>
    failed
      ? [name, `failed: ${failed}`, '', '', '', '', '']
      : [
          name,
          kb(js.raw),
          kb(js.brotli),
          wasm.raw ? kb(wasm.raw) : 'in the JavaScript',
          wasm.raw ? kb(wasm.brotli) : '',
          kb(all.gzip),
          kb(all.brotli),
        ],
  );
  return `## What a page loads

JavaScript bundled and minified by Rolldown, and the WebAssembly file, in kB (1,000 bytes); gzip -9 and brotli -11
of each file. dpcache loads one of its two modules; this is the one with SIMD.

${table(['', 'JS', 'JS brotli', 'wasm', 'wasm brotli', 'all gzip', 'all brotli'], rows)}
`;
}

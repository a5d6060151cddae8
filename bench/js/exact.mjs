// The exact decisions on a stream, made by the straightforward loop, and what others' are worth.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { data } from './prepare.mjs';

// For each item the item that had opened the slot where it ended. Kept for the next run, as long as
// what makes them is the same.
export async function exactDecisions(node, shape, say) {
  const sources = ['data.mjs', 'peers/loop.mjs', 'peers/insert-if-novel.mjs'];
  const key = createHash('sha256').update(JSON.stringify(shape));
  for (const file of sources) key.update(readFileSync(new URL(file, import.meta.url)));
  const kept = new URL(`exact-${key.digest('hex').slice(0, 16)}.json`, data);
  try {
    return JSON.parse(await readFile(kept, 'utf8'));
  } catch {
    say(`exact decisions on a stream of ${shape.distinct} × ${shape.repeats}`);
    const task = { kind: 'stream', peer: 'loop', limitMs: 1e9, ...shape };
    const { figures, failed } = await node.run(task, 1e9);
    if (failed) throw new Error(`the exact decisions: ${failed}`);
    await writeFile(kept, JSON.stringify(figures.opener));
    return figures.opener;
  }
}

// Against the originals and the exact decisions: what a stream's answer is worth.
export function judge(figures, original, exact) {
  const seen = new Set(original.slice(0, figures.items));
  const opened = new Set();
  let equal = 0;
  figures.opener.forEach((opener, i) => {
    if (opener === i) opened.add(original[i]);
    if (opener === exact[i]) ++equal;
  });
  const missed = seen.size - opened.size;
  return { duplicates: figures.slots - opened.size, missed, equal: equal / figures.items };
}

// The recall lab's mechanisms against the paper's table 1 and the simulations of docs/method.md.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle } from './bundle.mjs';

const { points } = await bundle('lab/study.ts', 'lab');
const tableOne = { items: 64, repeats: 4, noise: 0, tau: 0.5, recent: 16, seeds: 10 };

/** Mean recall and entries at the end of the streams, for each mechanism. */
async function ends(setup) {
  const sums = new Map();
  let last = 0;
  for await (const point of points(setup)) {
    last = Math.max(last, point.checkpoint);
    if (point.checkpoint !== 16) continue;
    const sum = sums.get(point.mechanism) ?? { recall: 0, entries: 0 };
    sum.recall += point.recall;
    sum.entries += point.entries;
    sums.set(point.mechanism, sum);
  }
  for (const sum of sums.values()) {
    sum.recall /= setup.seeds;
    sum.entries /= setup.seeds;
  }
  assert.equal(last, 16);
  return Object.fromEntries(sums);
}

const near = (actual, expected, within, what) =>
  assert.ok(
    Math.abs(actual - expected) <= within,
    `${what}: ${actual}, expected ${expected} ± ${within}`,
  );

test('table 1: the DP cache recalls all with 64 slots, keep-all with 256', async () => {
  const figures = await ends(tableOne);
  console.log('table 1', figures);
  near(figures.dpcache.recall, 1, 1e-9, 'dpcache');
  assert.equal(figures.dpcache.entries, 64);
  near(figures['keep-all'].recall, 1, 1e-9, 'keep-all');
  assert.equal(figures['keep-all'].entries, 256);
  // Simulated: .705 ± .010 and .862; ten seeds of 64 queries have a standard error of about .01.
  near(figures.recency.recall, 0.705, 0.03, 'recency');
  near(figures.h2o.recall, 0.862, 0.03, 'H2O with 16 recent');
  assert.equal(figures.recency.entries, 64);
  assert.equal(figures.h2o.entries, 64);
});

test('table 1: H2O does better the less it holds for recency', async () => {
  const eight = await ends({ ...tableOne, recent: 8 });
  const none = await ends({ ...tableOne, recent: 0 });
  console.log('H2O', eight.h2o.recall, none.h2o.recall);
  near(eight.h2o.recall, 0.907, 0.03, 'H2O with 8 recent');
  near(none.h2o.recall, 0.965, 0.03, 'H2O with none');
});

test('noise at a threshold that suits it costs the DP cache nothing', async () => {
  const figures = await ends({ ...tableOne, noise: 0.3, tau: 0.4, seeds: 5 });
  console.log('noise .3', figures);
  near(figures.dpcache.recall, 1, 0.01, 'dpcache');
  near(figures.dpcache.entries, 64, 0.5, 'slots');
  assert.ok(figures.recency.recall < 0.8);
});

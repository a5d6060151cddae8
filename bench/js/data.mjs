// The vectors of all measurements, the same in Node.js and in a page: no randomness but the seeds.

// mulberry32: uniform in [0, 1).
export function random(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function normalise(v) {
  let squares = 0;
  for (let i = 0; i < v.length; ++i) squares += v[i] * v[i];
  const length = Math.sqrt(squares);
  for (let i = 0; i < v.length; ++i) v[i] /= length;
  return v;
}

// A random direction, of unit length. A sum of four uniform numbers is near enough to a Gaussian.
function direction(next, dimension) {
  const v = new Float32Array(dimension);
  for (let i = 0; i < dimension; ++i) v[i] = next() + next() + next() + next() - 2;
  return normalise(v);
}

function mix(a, b, weight) {
  const v = new Float32Array(a.length);
  for (let i = 0; i < v.length; ++i) v[i] = a[i] + weight * b[i];
  return normalise(v);
}

// Directions in one array, row after row.
export function makeKeys(count, dimension, seed = 1) {
  const next = random(seed);
  const keys = new Float32Array(count * dimension);
  for (let i = 0; i < count; ++i) keys.set(direction(next, dimension), i * dimension);
  return keys;
}

// A cosine of .96 to the original.
const noise = Math.sqrt(1 / 0.96 ** 2 - 1);

// `count` vectors near rows of `keys`, and which: {vectors, near}.
export function makeQueries(keys, dimension, count, seed = 2) {
  const next = random(seed);
  const rows = keys.length / dimension;
  const near = Array.from({ length: count }, () => Math.floor(next() * rows));
  const vectors = near.map((row) =>
    mix(keys.subarray(row * dimension, (row + 1) * dimension), direction(next, dimension), noise),
  );
  return { vectors, near };
}

// `distinct` originals, each `repeats` times with a little noise, shuffled. Two originals are about
// orthogonal, as random directions are; with `topics` they share a part with those of their topic
// (a cosine of .3), as texts on one matter do, and a graph has ways to walk on. {vectors, original}:
// the number of the original that each item repeats.
export function makeStream({ distinct, repeats, dimension, topics = 0, seed = 3 }) {
  const next = random(seed);
  const centres = Array.from({ length: topics }, () => direction(next, dimension));
  const originals = Array.from({ length: distinct }, (_, i) => {
    const own = direction(next, dimension);
    return topics > 0 ? mix(own, centres[i % topics], Math.sqrt(0.3 / 0.7)) : own;
  });
  const order = Uint32Array.from({ length: distinct * repeats }, (_, i) => i % distinct);
  for (let i = order.length - 1; i > 0; --i) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const vectors = Array.from(order, (i) => mix(originals[i], direction(next, dimension), noise));
  return { vectors, original: order };
}

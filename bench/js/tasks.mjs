// One measurement, in Node.js or in a page: a task goes in, figures come out. Both are plain JSON.
//
// `files` reads what the place offers: readPackage(name, path) and readData(name), as Uint8Arrays.
import { makeKeys, makeQueries, makeStream } from './data.mjs';
import { loadPeer } from './peers/index.mjs';

const now = () => performance.now();

// Microseconds a call: one figure a round, each of at least `roundMs`. Before that the engine gets
// time to compile what it runs.
const warmMs = 200;

function timeRounds(call, { rounds, roundMs }) {
  const time = (calls) => {
    const start = now();
    for (let i = 0; i < calls; ++i) call(i);
    return now() - start;
  };
  let calls = 4;
  for (let warm = time(calls), last = warm; warm < warmMs || last < roundMs; warm += last) {
    if (last < roundMs) calls *= 2;
    last = time(calls);
  }
  return Array.from({ length: rounds }, () => (time(calls) * 1e3) / calls);
}

const floats = (bytes) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);

const rowsOf = (all, dimension) =>
  Array.from({ length: all.length / dimension }, (_, i) =>
    all.slice(i * dimension, (i + 1) * dimension),
  );

// nearest, and observe of an item that merges, with a number of slots. dpcache opens a memory file
// of them; the others insert them one by one, as far as `limitMs` goes.
async function slots({ peer: id, slots: count, dimension, limitMs, ...how }, files) {
  const peer = await loadPeer(id);
  const keys = makeKeys(count, dimension);
  const { vectors, near } = makeQueries(keys, dimension, 64);
  const memory = id.startsWith('dpcache')
    ? await files.readData(`${count}x${dimension}.dpcache`)
    : null;
  const index = await peer.open({ dimension, capacity: count, memory }, files);
  let insertUs = null;
  if (!memory) {
    const start = now();
    for (let i = 0; i < count; ++i) {
      index.insert(index.prepare(keys.slice(i * dimension, (i + 1) * dimension)));
      if (i % 64 === 63 && now() - start > limitMs) return { inserted: i + 1, limitMs };
    }
    insertUs = ((now() - start) * 1e3) / count;
  }
  const queries = vectors.map(index.prepare);
  const found =
    queries.filter((query, i) => index.nearest(query) === near[i]).length / queries.length;
  const query = (i) => queries[i % queries.length];
  const nearestUs = timeRounds((i) => index.nearest(query(i)), how);
  const observeUs = timeRounds((i) => index.observe(query(i)), how);
  return { insertUs, found, nearestUs, observeUs, size: index.size() };
}

// A stream, item by item, as far as `limitMs` goes. `opener`: for each item the item that had opened
// the slot where it ended. The code is warmed up by a part of it, with an index of its own.
async function stream({ peer: id, limitMs, ...shape }, files) {
  const peer = await loadPeer(id);
  const { vectors } = makeStream(shape);
  const open = () =>
    peer.open(
      { dimension: shape.dimension, capacity: vectors.length, distinct: shape.distinct },
      files,
    );
  const warm = await open();
  const warmUntil = now() + warmMs;
  for (let i = 0; i < vectors.length && now() < warmUntil; ++i)
    warm.observe(warm.prepare(vectors[i]));
  const index = await open();
  const items = vectors.map(index.prepare);
  const openers = [];
  const opener = [];
  const start = now();
  for (let i = 0; i < items.length; ++i) {
    const slot = index.observe(items[i]);
    if (slot < 0) openers.push(i);
    opener.push(slot < 0 ? i : openers[slot]);
    if (i % 64 === 63 && now() - start > limitMs) break;
  }
  const ms = [now() - start];
  return { ms, items: opener.length, of: vectors.length, slots: openers.length, opener };
}

// The same calls that bench/scan.cc makes, from JavaScript.
async function calls({ memory, queries, dimension, ...how }, files) {
  const { Cache } = await import('dpcache');
  const wasm = await files.readPackage('dpcache', 'dist/dpcache.wasm');
  const cache = await Cache.load(await files.readData(memory), { wasm });
  const rows = rowsOf(floats(await files.readData(queries)), dimension);
  const row = (i) => rows[i % rows.length];
  const nearestUs = timeRounds((i) => cache.nearest(row(i)), how);
  const observeUs = timeRounds((i) => {
    if (cache.observe({ key: row(i) }).action !== 'merge') throw new Error('an item did not merge');
  }, how);
  return { nearestUs, observeUs };
}

const kinds = { slots, stream, calls };

export const runTask = (task, files) => kinds[task.kind](task, files);

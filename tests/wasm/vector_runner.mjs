// Runs the script of a test vector on a cache through the package's public API, and writes down
// what it answers in the form of tests/vectors/*.json. Runs in Node.js and in browsers.

const mask64 = (1n << 64n) - 1n;

export function randomBits(seed, position) {
  let x = ((BigInt(seed) << 32n) + BigInt(position) + 0x9e3779b97f4a7c15n) & mask64;
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & mask64;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & mask64;
  return x ^ (x >> 31n);
}

function randomFloat(seed, position) {
  const high = Number(BigInt.asIntN(32, randomBits(seed, position) >> 32n));
  return Math.fround(high * 2 ** -31);
}

export function streamKey({ seed, dimension, distinct, noise }, t) {
  const source = Number(randomBits(seed + 1, t) % BigInt(distinct));
  return Float32Array.from({ length: dimension }, (_, i) => {
    const blur = Math.fround(Math.fround(noise) * randomFloat(seed + 2, t * dimension + i));
    return Math.fround(randomFloat(seed, source * dimension + i) + blur);
  });
}

function streamValue({ seed }, valueDimension, t) {
  return Float32Array.from({ length: valueDimension }, (_, i) =>
    randomFloat(seed + 3, t * valueDimension + i),
  );
}

const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const camelKeys = (object) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [camel(name), value]));
const pairs = (matches) => matches.map(({ slot, similarity }) => [slot, similarity]);
const folds = (list) => list.map(({ slot, into }) => [slot, into]);

function writeDecision(decision) {
  const { action, slot, novelty, threshold, gate, similarity, surprise } = decision;
  const json = { action, slot, novelty, threshold, gate, similarity, surprise };
  if (decision.nearest) json.nearest = [decision.nearest.slot, decision.nearest.similarity];
  if (decision.evicted.length > 0) json.evicted = decision.evicted;
  if (decision.folded.length > 0) json.folded = folds(decision.folded);
  if (decision.budget !== null) json.budget = decision.budget;
  return json;
}

function writeReading({ empty, value, nullWeight, top }) {
  return {
    empty,
    value: [...(value ?? [])],
    null_weight: nullWeight,
    top: top.map(({ slot, similarity, weight }) => [slot, similarity, weight]),
  };
}

function writeSlot(slot) {
  const json = {
    slot: slot.id,
    usage: slot.usage,
    count: slot.count,
    times: [slot.firstTime, slot.lastTime],
    payload: slot.payload ?? '',
    exact_keys: slot.exactKeys,
    value: [...(slot.value ?? [])],
    key: [...slot.key],
  };
  if (slot.expires !== null) json.expires = slot.expires;
  return json;
}

const text = new TextEncoder();

function itemOf(step, script, valueDimension, t, offset) {
  const item = {
    key: step.key ?? streamKey(script.stream, t),
    time: (step.time ?? 0) + offset * (step.every ?? 1),
  };
  if (valueDimension > 0) {
    item.value = step.value ?? streamValue(script.stream, valueDimension, t);
  }
  // The vectors' payloads are plain text, which stays as it is when it goes in as bytes.
  if (step.payload) item.payload = text.encode(step.payload + (step.key ? '' : t));
  if (step.exact_key !== undefined) item.exactKey = step.exact_key;
  if (step.ttl_ms !== undefined) item.ttlMs = step.ttl_ms;
  return item;
}

/**
 * Runs the script: {answers, stateHash, snapshot}. `Cache` is that of the main entry, or one whose
 * methods give promises. `batches`: items go in by observeBatch, which must decide as observe does.
 * What else there is goes to Cache.create().
 */
export async function runVector(Cache, script, { batches = false, ...options } = {}) {
  const cache = await Cache.create(camelKeys(script.config), options);
  const answers = [];
  for (const step of script.steps) answers.push(await runStep(cache, script, step, batches));
  const { stateHash } = await cache.stats();
  const snapshot = await cache.save();
  await cache.dispose();
  return { answers, stateHash, snapshot };
}

async function runStep(cache, script, step, batches) {
  const options = { k: step.k ?? 3, time: step.time ?? null };
  const time = step.time ?? 0;
  switch (step.op) {
    case 'erase':
      await cache.erase(step.slot, { time });
      return 'erased';
    case 'consolidate':
      return folds(await cache.consolidate({ similarity: step.similarity, time }));
    case 'configure':
      await cache.configure(camelKeys(step.config), { time });
      return 'configured';
    case 'slots':
      return (await cache.slots()).map(writeSlot);
  }
  const from = step.from ?? 0;
  const to = step.key ? from + 1 : step.to;
  const range = Array.from({ length: to - from }, (_, i) => i);
  if (step.op === 'observe') {
    const valueDimension = script.config.value_dimension ?? 0;
    const items = range.map((i) => itemOf(step, script, valueDimension, from + i, i));
    const decisions = batches
      ? await cache.observeBatch(items)
      : await eachOf(items, (item) => cache.observe(item));
    return decisions.map(writeDecision);
  }
  const keys = range.map((i) => step.key ?? streamKey(script.stream, from + i));
  if (step.op === 'read') {
    return eachOf(keys, async (key) => writeReading(await cache.read(key, options)));
  }
  if (step.op === 'score') return (await cache.score(keys, options)).map(pairs);
  return eachOf(keys, async (key) => {
    const match = await cache.nearest(key, options);
    return match ? pairs([match]) : [];
  });
}

async function eachOf(list, call) {
  const answers = [];
  for (const one of list) answers.push(await call(one));
  return answers;
}

// Which numbers of an answer are doubles that stand with 17 digits; all others are float32s (or
// integers, of which float32 holds those of the vectors).
const doubles = new Set(['usage', 'slot', 'count', 'times', 'expires']);

/** The answers of a vector file with its decimals as the float32s that they stand for. */
export function expected(answers, name = '') {
  if (typeof answers === 'number') return doubles.has(name) ? answers : Math.fround(answers);
  if (Array.isArray(answers)) return answers.map((one) => expected(one, name));
  if (typeof answers !== 'object' || answers === null) return answers;
  return Object.fromEntries(
    Object.entries(answers).map(([key, value]) => [key, expected(value, key)]),
  );
}

/** One text for equal answers: sorted names, every number as it is. -0 and 0 differ. */
export function canonical(answers) {
  return JSON.stringify(answers, (_, value) => {
    if (Object.is(value, -0)) return '-0';
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

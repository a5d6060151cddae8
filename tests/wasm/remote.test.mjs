// dpcache/remote against a real server, and against a small one that fails as the test likes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Cache as Local } from 'dpcache';
import { Cache, DpcacheError, listCaches } from 'dpcache/remote';
import * as worker from 'dpcache/worker';
import { serving, skip } from './serving.mjs';

let number = 0;
const newName = () => `cache-${++number}`;
const newKey = () => Array.from({ length: 8 }, () => Math.random() - 0.5);

/** What a call is refused with. */
async function refusal(call) {
  try {
    await (typeof call === 'function' ? call() : call);
  } catch (error) {
    assert.ok(error instanceof DpcacheError, error.stack);
    return error;
  }
  return assert.fail('it was not refused');
}

/** Waits until it holds. */
async function until(holds, what) {
  for (const end = Date.now() + 10_000; !(await holds()); await pause(5)) {
    if (Date.now() > end) assert.fail(`not in time: ${what}`);
  }
}

test('it has every method that the worker has', () => {
  const methods = (type) => Object.getOwnPropertyNames(type.prototype);
  const own = methods(Cache);
  for (const name of methods(Object.getPrototypeOf(worker.Cache))) {
    if (name !== 'heard') assert.ok(own.includes(name), name);
  }
});

describe('with a server', { skip }, () => {
  let server;
  before(async () => {
    server = await serving();
  });
  after(() => server.close());

  const create = (config, more = {}) =>
    Cache.create(config, { url: server.url, name: newName(), ...more });

  test('caches are made, opened, listed and removed', async () => {
    const cache = await create({ dimension: 2, tau: 0.2 }, { durability: 'relaxed' });
    const options = { url: server.url, name: cache.name };
    assert.equal((await refusal(Cache.create({ dimension: 2 }, options))).code, 'precondition_failed');
    await cache.observe({ key: [1, 0] });
    const again = await Cache.open(options);
    assert.equal(await again.size(), 1);
    assert.equal((await again.config()).durability, 'relaxed');
    assert.equal(await (await Cache.openOrCreate({ dimension: 3 }, options)).size(), 1);
    const line = (await listCaches({ url: server.url })).find(({ name }) => name === cache.name);
    assert.deepEqual([line.dimension, line.slots, line.items], [2, 1, 1]);
    await again.remove();
    const error = await refusal(Cache.open(options));
    assert.deepEqual([error.code, error.status], ['not_found', 404]);
    const opening = Array.from({ length: 8 }, () => Cache.openOrCreate({ dimension: 3 }, options));
    const [made] = await Promise.all(opening); // one makes it, whoever is first
    assert.equal((await made.config()).dimension, 3);
    await made.remove();
  });

  test('it answers and decides as the local cache, payloads and texts too', async () => {
    const config = { text: { masks: 'all', dimension: 64 }, valueDimension: 2, ttlMs: 1000 };
    const local = await Local.create(config);
    const far = await create(config);
    const items = [
      { text: 'request 1 took 5 ms', value: [1, 2], payload: { big: 1e20, text: 'ä\u2028"' }, time: 1 },
      { text: 'request 2 took 7 ms', value: [3, 4], exactKey: 'ä', time: 2 },
      { text: 'half a pair \ud800', value: [5, 6], payload: 1e-7, time: 3, ttlMs: 5 },
      { text: '', value: [7, 8], payload: new Uint8Array([104, 105]), time: 4 },
    ];
    assert.deepEqual(await far.observeBatch(items), local.observeBatch(items));
    for (const time of [5, 8, 2000, null]) {
      const options = { k: 3, time };
      const query = { text: 'request 3 took 9 ms' };
      assert.deepEqual(await far.read(query, options), local.read(query, options));
      assert.deepEqual(await far.nearest(query, options), local.nearest(query, options));
      assert.deepEqual(await far.score([query, query], options), local.score([query, query], options));
    }
    assert.deepEqual(await far.slots(), local.slots());
    assert.deepEqual(await far.slots({ after: 1, limit: 1 }), local.slots({ after: 1, limit: 1 }));
    assert.deepEqual(await far.slot(2), local.slot(2));
    const { bytes, ...stats } = local.stats();
    const { bytes: farBytes, ...farStats } = await far.stats();
    assert.deepEqual(farStats, stats);
    assert.ok(bytes > 0 && farBytes > 0);
    const { durability, ...its } = await far.config();
    assert.deepEqual(its, local.config);
    assert.equal(durability, 'sync');
    assert.equal(await far.warning(), local.warning());
    assert.deepEqual(await far.save(), local.save());
  });

  test('plain vectors go as plain floats, whatever holds them', async () => {
    const sent = [];
    const spy = (url, init) => {
      sent.push([String(url), init]);
      return fetch(url, init);
    };
    const cache = await create({ dimension: 2, valueDimension: 1 }, { fetch: spy });
    const key = Float32Array.of(9, 3, 4, 9).subarray(1, 3);
    const observed = cache.observeBatch([{ key, value: [1] }, { key: [0, 1], value: [2] }]);
    key.fill(0); // it was written down at the call
    assert.equal((await observed)[0].slot, 1);
    const [url, init] = sent.at(-1);
    assert.match(url, /observe\?count=2$/);
    assert.equal(init.headers['content-type'], 'application/octet-stream');
    assert.deepEqual([...new Float32Array(init.body.buffer)], [3, 4, 1, 0, 1, 2]);
    assert.deepEqual((await cache.slot(1)).key, Float32Array.of(0.6, 0.8));
    await cache.observe({ key: 'AACAPwAAAAA=', value: [1], time: 7 });
    assert.equal(sent.at(-1)[1].headers['content-type'], 'application/json');
  });

  test('floats are not taken in other rows when the cache was replaced meanwhile', async () => {
    const cache = await create({ dimension: 4 });
    const other = await Local.create({ dimension: 2 });
    await Cache.load(other.save(), { url: server.url, name: cache.name });
    const error = await refusal(cache.observe({ key: [1, 2, 3, 4] }));
    assert.deepEqual([error.code, error.status], ['bad_shape', 422]);
    assert.equal(await cache.size(), 0);
  });

  test('errors are those of the local cache, with the status', async () => {
    const config = { dimension: 2, valueDimension: 1 };
    const local = await Local.create(config);
    const far = await create(config);
    const items = [
      { key: [1, 0], value: [1] },
      { key: [1], value: [1] },
      { key: [0, 0], value: [1] },
      { key: [1, NaN], value: [1] },
      { key: [1, 0] },
      { key: [1, 0], value: [1], ttlMs: -1 },
      { kye: [1, 0] },
      { key: [1, 0], value: [1], payload: 1n },
      { text: 'a', value: [1] },
    ];
    const wanted = await refusal(async () => local.observeBatch(items));
    const found = await refusal(far.observeBatch(items));
    const told = ({ errors }) => errors.map(({ index, code, pointer }) => [index, code, pointer]);
    assert.deepEqual(told(found), told(wanted));
    assert.equal(found.errors.length, 8);
    assert.equal(found.status, 422);
    assert.equal(await far.size(), 0);
    for (const [bad, ...rest] of [
      [(cache) => cache.observe({ key: [0, 0], value: [1] })],
      [(cache) => cache.read([1])],
      [(cache) => cache.read({ text: 'a' })],
      [(cache) => cache.score([[1, 2], [1]])],
      [(cache) => cache.score(Float32Array.of(1, 2, 3))],
      [(cache) => cache.slot(7)],
      [(cache) => cache.slot('7')],
      [(cache) => cache.slots({ after: -1 })],
      [(cache) => cache.erase(7)],
      [(cache) => cache.consolidate()],
      [(cache) => cache.configure({ dimension: 3 })],
      [(cache) => cache.configure({ tau: 3 })],
      [(cache) => cache.configure({ value_dimension: 3 })],
      [(cache) => cache.setMetadata(7)],
      [(cache) => cache.onEvent(7)],
    ]) {
      assert.equal(rest.length, 0);
      const mine = await refusal(async () => bad(local));
      const its = await refusal(async () => bad(far));
      assert.equal(its.code, mine.code, bad);
      assert.deepEqual(told(its), told(mine), String(bad));
    }
    for (const bad of [
      { dimension: 0 },
      { dimension: 2, tau: 3 },
      { dimension: 2, valueDimension: -1 },
      { dimension: 2, no: 1 },
      { dimension: 2, text: { dimension: 3 } },
      { text: { seed: -1 } },
      { text: { masks: 'no' } },
      { text: { masks: [1] } },
      { text: { no: 1 } },
      { dimension: 2, gate: { a: -1, b: 0 } },
      { value_dimension: 1 },
      7,
    ]) {
      const mine = await refusal(async () => Local.create(bad));
      const its = await refusal(async () => create(bad));
      assert.equal(its.code, mine.code, JSON.stringify(bad));
    }
    assert.equal((await refusal(create({ dimension: 2, valueDimension: -1 }))).errors[0].pointer, '/valueDimension');
  });

  test('what the server has no call for is refused as unavailable', async () => {
    const cache = await create({ dimension: 2 });
    const ownMasks = [{ name: 'a', pattern: /a/ }];
    for (const call of [
      () => cache.apply(new Uint8Array(3)),
      () => cache.metadata(),
      () => cache.setMetadata({ a: 'b' }),
      () => create({ text: { ownMasks } }),
    ]) {
      assert.equal((await refusal(call)).code, 'unavailable', String(call));
    }
  });

  test('a batch that could not be taken whole is refused, and a large question is asked in pieces', async () => {
    const cache = await create({ dimension: 2 });
    const many = Array.from({ length: 4097 }, (_, i) => ({ key: [1, i % 2] }));
    assert.equal((await refusal(cache.observeBatch(many))).code, 'too_large');
    assert.equal((await cache.observeBatch(many.slice(1))).length, 4096);
    assert.deepEqual(await cache.observeBatch([]), []);
    assert.deepEqual(await cache.score([]), []);
    const queries = many.map(({ key }) => key);
    const scores = await cache.score(queries, { k: 1 });
    assert.equal(scores.length, 4097);
    assert.deepEqual(scores.at(-1), scores[0]);
    queries[3] = [1];
    queries[4096] = [0, 0];
    const { errors } = await refusal(cache.score(queries));
    assert.deepEqual(errors.map(({ index, code }) => [index, code]), [[3, 'bad_shape'], [4096, 'zero_norm']]);
    assert.equal((await cache.slots({ keys: false }))[0].key.length, 0);
  });

  test('slots come in pages, in order', async () => {
    const cache = await create({ dimension: 8, tau: 0 });
    await cache.observeBatch(Array.from({ length: 2500 }, () => ({ key: newKey() })));
    const slots = await cache.slots();
    assert.deepEqual(slots.map(({ id }) => id), Array.from({ length: 2500 }, (_, i) => i + 1));
    assert.equal((await cache.slots({ limit: 1001 })).length, 1001);
  });

  test('changes are carried out in the order of the calls, and questions see those before them', async () => {
    const cache = await create({ dimension: 2, tau: 0 });
    const calls = [];
    for (let i = 0; i < 20; ++i) {
      calls.push(cache.observe({ key: [1, i] }));
      calls.push(cache.size());
    }
    const answers = await Promise.all(calls);
    for (let i = 0; i < 20; ++i) {
      assert.equal(answers[2 * i].slot, i + 1);
      assert.ok(answers[2 * i + 1] >= i + 1);
    }
    const last = cache.observe({ key: [-1, 0] });
    await cache.dispose();
    assert.equal((await last).slot, 21);
    assert.equal((await refusal(cache.size())).code, 'disposed');
    assert.equal((await refusal(cache.observe({ key: [1, 0] }))).code, 'disposed');
  });

  test('two who configure at once both get their way', async () => {
    const one = await create({ dimension: 2 });
    const two = await Cache.open({ url: server.url, name: one.name });
    await Promise.all([one.configure({ tau: 0.25 }), two.configure({ theta: 0.5 })]);
    await one.configure({ ttlMs: 5, durability: 'relaxed' });
    const { tau, theta, ttlMs, durability } = await one.config();
    assert.deepEqual([tau, theta, ttlMs, durability], [0.25, 0.5, 5, 'relaxed']);
    await one.configure({ ttlMs: null });
    assert.equal((await one.config()).ttlMs, undefined);
  });

  test('a cache elsewhere follows the events, over a server that was killed', async () => {
    const own = await serving();
    try {
      const config = { dimension: 2, tau: 0.01 };
      const cache = await Cache.create(config, { url: own.url, name: 'c' });
      await cache.observe({ key: [1, 1], time: 1, payload: ['before'] });
      const mirror = await Local.load(await cache.save());
      const events = [];
      const off = await cache.onEvent((event) => {
        mirror.apply(event.bytes);
        events.push(event);
      });
      const all = [];
      await cache.onEvent(({ seq }) => all.push(seq), { after: 0 });
      await cache.observe({ key: [3, 4], time: 2, payload: { a: 1 }, exactKey: 'e', ttlMs: 9e9 });
      await until(() => events.length === 1, 'the first event');
      const { bytes, ...event } = events[0];
      assert.ok(bytes.length > 0);
      const heard = [];
      const local = await Local.load(await cache.save());
      local.onEvent((one) => heard.push(one));
      await own.kill();
      const pending = cache.observe({ key: [4, 3], time: 3 }); // waits for the next start
      await pause(200);
      await own.start();
      assert.equal((await pending).slot, 3);
      await cache.erase(1, { time: 4 });
      await cache.configure({ tau: 0.5 }, { time: 5 });
      await until(() => events.length === 4, 'the events after the restart');
      assert.deepEqual(events.map(({ seq, kind }) => [seq, kind]), [
        [2, 'observe'],
        [3, 'observe'],
        [4, 'erase'],
        [5, 'config'],
      ]);
      assert.equal(mirror.stats().stateHash, (await cache.stats()).stateHash);
      await until(() => all.length === 5, 'the events of the second listener');
      assert.deepEqual(all, [1, 2, 3, 4, 5]);
      for (const after of [-1, 1.5, '1']) {
        assert.equal((await refusal(cache.onEvent(() => undefined, { after }))).code, 'bad_request');
      }
      local.observe({ key: [4, 3], time: 3 });
      local.erase(1, { time: 4 });
      local.configure({ tau: 0.5 }, { time: 5 });
      const withoutDurability = (one) => ({ ...one, config: one.config && { ...one.config } });
      assert.deepEqual(events.slice(1).map(withoutDurability), heard);
      assert.deepEqual(event.item, {
        key: Float32Array.of(0.6, 0.8),
        value: null,
        payload: { a: 1 },
        exactKey: 'e',
        ttlMs: 9e9,
      });
      off();
      await cache.observe({ key: [1, -1] });
      await until(() => all.length > 5, 'the last events');
      assert.equal(events.length, 4);
      await cache.dispose(); // else the second listener would keep this process
    } finally {
      await own.close();
    }
  });

  test('who listens is told when the cache is gone', async () => {
    const cache = await create({ dimension: 2 });
    const other = await Cache.open({ url: server.url, name: cache.name });
    const ends = [];
    await cache.onEvent(() => undefined, { onError: (error) => ends.push(error.code) });
    await other.remove();
    await until(() => ends.length > 0, 'the end');
    assert.deepEqual(ends, ['not_found']);
    assert.equal((await refusal(cache.onEvent(() => undefined))).code, 'not_found');
  });

  test('a server killed again and again counts each item once', async () => {
    const own = await serving();
    try {
      const options = { url: own.url, name: 'c', retries: 20 };
      const cache = await Cache.create({ dimension: 8, tau: 0 }, options);
      let running = true;
      const decisions = [];
      const work = (async () => {
        while (running) decisions.push(await cache.observe({ key: newKey() }));
      })();
      for (let round = 0; round < 4; ++round) {
        const before = decisions.length;
        await until(() => decisions.length > before + 20, 'more items');
        await own.kill();
        await own.start();
      }
      running = false;
      await work;
      assert.deepEqual(decisions.map(({ slot }) => slot), decisions.map((_, i) => i + 1));
      assert.equal((await cache.stats()).items, decisions.length);
    } finally {
      await own.close();
    }
  });

  test('tokens are sent, and what they are not for is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dpcache-tokens-'));
    const file = join(folder, 'tokens');
    writeFileSync(file, 'read rrrrrrrrrrrrrrrr\nadmin aaaaaaaaaaaaaaaa\n', { mode: 0o600 });
    const own = await serving('--token-file', file);
    try {
      const options = { url: own.url, name: 'c' };
      const none = await refusal(Cache.create({ dimension: 2 }, options));
      assert.deepEqual([none.code, none.status], ['unauthorized', 401]);
      const admin = { ...options, token: 'aaaaaaaaaaaaaaaa' };
      await (await Cache.create({ dimension: 2 }, admin)).observe({ key: [1, 0] });
      const reader = await Cache.open({ ...options, token: 'rrrrrrrrrrrrrrrr' });
      assert.equal(await reader.size(), 1);
      const error = await refusal(reader.observe({ key: [1, 0] }));
      assert.deepEqual([error.code, error.status], ['forbidden', 403]);
      assert.equal((await refusal(listCaches({ url: own.url, token: 'x' }))).code, 'unauthorized');
    } finally {
      await own.close();
      rmSync(folder, { recursive: true });
    }
  });
});

test('wrong addresses, names, tokens and times are named', async () => {
  const url = 'http://127.0.0.1:1';
  for (const [options, pointer] of [
    [{ url: 'no address', name: 'c' }, '/url'],
    [{ url: 'ftp://x/', name: 'c' }, '/url'],
    [{ url: 'http://user:word@x/', name: 'c' }, '/url'],
    [{ url: 'http://x/?a=b', name: 'c' }, '/url'],
    [{ name: 'c' }, '/url'],
    [{ url, name: '../c' }, '/name'],
    [{ url }, '/name'],
    [{ url, name: 'c', token: 'two words' }, '/token'],
    [{ url, name: 'c', token: 7 }, '/token'],
    [{ url, name: 'c', timeoutMs: -1 }, '/timeoutMs'],
    [{ url, name: 'c', retries: 1.5 }, '/retries'],
    [undefined, ''],
  ]) {
    const error = await refusal(() => Cache.open(options));
    assert.deepEqual([error.code, error.errors[0].pointer], ['bad_request', pointer]);
  }
});

describe('with a server that fails', () => {
  // `answers` are taken one by one; the last one stays. One is (request, response, body) => …
  async function failing(...answers) {
    const seen = [];
    const server = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks), at: Date.now() });
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      answer(request, response, Buffer.concat(chunks));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      seen,
      url: `http://127.0.0.1:${server.address().port}`,
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    };
  }
  const json = (body, status = 200, headers = {}) => (_, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
  const problem = (code, status, headers = {}) => (_, response) =>
    response
      .writeHead(status, { 'content-type': 'application/problem+json', ...headers })
      .end(JSON.stringify({ code, status, detail: 'a sentence' }));
  const hangUp = (request) => request.socket.destroy();
  const hangUpLate = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"decisions": [');
    setTimeout(() => response.socket.destroy(), 10);
  };
  const never = () => undefined;
  const config = { dimension: 2, value_dimension: 0 };
  const cacheLine = json({ config, stats: { slots: 3, seq: 1 }, warning: '' });
  const decision = { action: 'merge', slot: 1, evicted: [], folded: [], nearest: null, budget: null };
  const decisions = json({ decisions: [decision] });

  async function opened(context, answers, options = {}) {
    const server = await failing(cacheLine, ...answers);
    context.after(() => server.close());
    const cache = await Cache.open({ url: server.url, name: 'c', ...options });
    server.seen.length = 0;
    context.after(() => cache.dispose());
    return { server, cache };
  }

  test('an observation is sent again with the same key and body', async (context) => {
    const tries = [hangUp, hangUpLate, problem('unavailable', 503), problem('conflict', 409), decisions];
    const { server, cache } = await opened(context, tries);
    assert.equal((await cache.observe({ key: [1, 0] })).slot, 1);
    assert.equal(server.seen.length, 5);
    const keys = new Set(server.seen.map(({ headers }) => headers['idempotency-key']));
    assert.equal(keys.size, 1);
    assert.match([...keys][0], /^[0-9a-f]{32}$/);
    assert.equal(new Set(server.seen.map(({ body }) => body.toString('hex'))).size, 1);
    await cache.observe({ key: [1, 0] });
    assert.notEqual(server.seen.at(-1).headers['idempotency-key'], [...keys][0]);
    await cache.observe({ key: [1, 0] }, { idempotencyKey: 'mine' });
    assert.equal(server.seen.at(-1).headers['idempotency-key'], 'mine');
    for (const idempotencyKey of ['', 'two words', 'x'.repeat(256), 7]) {
      assert.equal((await refusal(cache.observe({ key: [1, 0] }, { idempotencyKey }))).code, 'bad_request');
    }
  });

  test('attempts are bounded', async (context) => {
    const { server, cache } = await opened(context, [hangUp], { retries: 2 });
    const error = await refusal(cache.observe({ key: [1, 0] }));
    assert.deepEqual([error.code, error.status], ['unavailable', undefined]);
    assert.ok(error.cause instanceof Error);
    assert.equal(server.seen.length, 3);
  });

  test('what could happen twice is not sent again, unless it was refused as too much', async (context) => {
    const { server, cache } = await opened(context, [hangUp, problem('busy', 429), hangUp]);
    for (const [call, count] of [
      [() => cache.erase(1), 1],
      [() => cache.consolidate(), 2],
      [() => cache.remove(), 1],
    ]) {
      server.seen.length = 0;
      assert.equal((await refusal(call)).code, 'unavailable');
      assert.equal(server.seen.length, count, String(call));
    }
  });

  test('a conflict at the first attempt is one', async (context) => {
    const { server, cache } = await opened(context, [problem('conflict', 409)]);
    const error = await refusal(cache.observe({ key: [1, 0] }));
    assert.deepEqual([error.code, error.status], ['conflict', 409]);
    assert.equal(server.seen.length, 1);
  });

  test('Retry-After is respected, in seconds and as a date, and refused at once if it is too long', async (context) => {
    const soon = new Date(Date.now() + 2100).toUTCString();
    const tries = [
      problem('busy', 429, { 'retry-after': '1' }),
      problem('unavailable', 503, { 'retry-after': soon }),
      cacheLine,
      problem('busy', 429, { 'retry-after': '3600' }),
    ];
    const { server, cache } = await opened(context, tries);
    assert.equal(await cache.size(), 3);
    const [first, second, third] = server.seen;
    assert.ok(second.at - first.at >= 990);
    assert.ok(third.at >= Date.parse(soon) - 10);
    const error = await refusal(cache.size());
    assert.deepEqual([error.code, error.status], ['busy', 429]);
    assert.equal(server.seen.length, 4);
  });

  test('answers that are none are unavailable; those of a proxy have the code of their status', async (context) => {
    const html = (status) => (_, response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<p>no');
    const tries = [html(200), html(401), html(413), html(418), html(500)];
    const { cache } = await opened(context, tries, { retries: 0 });
    const codes = [];
    for (const _ of tries) codes.push((await refusal(cache.size())).code);
    assert.deepEqual(codes, ['unavailable', 'unauthorized', 'too_large', 'bad_request', 'unavailable']);
  });

  test('a call ends when its time is over, or its signal or that of all says so', async (context) => {
    const all = new AbortController();
    const { cache, server } = await opened(context, [never], { signal: all.signal });
    const error = await refusal(cache.size({ timeoutMs: 30 }));
    assert.equal(error.code, 'timeout');
    const controller = new AbortController();
    const stopped = cache.observe({ key: [1, 0] }, { signal: controller.signal });
    const behind = cache.observe({ key: [1, 0] });
    const impatient = new AbortController();
    const waits = cache.observe({ key: [1, 0] }, { signal: impatient.signal });
    await until(() => server.seen.length === 2, 'the request');
    impatient.abort(); // while it waits for its turn
    await assert.rejects(waits, { name: 'AbortError' });
    const reason = new Error('enough');
    controller.abort(reason);
    await assert.rejects(stopped, (thrown) => thrown === reason);
    await until(() => server.seen.length === 3, 'the one behind it');
    all.abort(reason);
    await assert.rejects(behind, (thrown) => thrown === reason);
    await assert.rejects(cache.size(), (thrown) => thrown === reason);
    assert.equal(server.seen.length, 3);
  });

  test('events go on where they broke off, also in the middle of one', async (context) => {
    const message = (seq) => {
      const event = { seq, kind: 'erase', time: seq, removed: [seq], folded: [], bytes: 'AQI=' };
      return `id: ${seq}\ndata: ${JSON.stringify(event)}\n\n`;
    };
    const stream = (text, ends = true) => (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const half = text.length >> 1;
      response.write(text.slice(0, half));
      setTimeout(() => {
        response.write(text.slice(half));
        if (ends) setTimeout(() => response.destroy(), 30);
      }, 10);
    };
    const { server, cache } = await opened(context, [
      cacheLine, // stats: where it begins
      stream(`: a comment\n\n${message(2)}${message(3)}${message(4).slice(0, -9)}`),
      hangUp,
      problem('unavailable', 503),
      stream(message(4)),
      stream(message(5), false),
    ]);
    const heard = [];
    const errors = [];
    const off = await cache.onEvent((event) => heard.push(event), { onError: (e) => errors.push(e) });
    const alsoHeard = [];
    await cache.onEvent((event) => alsoHeard.push(event.seq));
    await until(() => heard.length === 4, 'all events');
    assert.deepEqual(heard.map(({ seq }) => seq), [2, 3, 4, 5]);
    // Who comes later hears what comes later.
    assert.ok(alsoHeard.length > 0);
    assert.deepEqual(alsoHeard, [2, 3, 4, 5].slice(-alsoHeard.length));
    assert.deepEqual(heard[0].removed, [2]);
    assert.deepEqual([...heard[0].bytes], [1, 2]);
    const from = server.seen.slice(1).map(({ headers }) => headers['last-event-id']);
    assert.deepEqual(from, ['1', '3', '3', '3', '4']);
    assert.deepEqual(errors, []);
    off();
    await cache.dispose();
  });

  test('a stream that cannot begin is refused, and one that has missed events ends', async (context) => {
    const nothing = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
    const tries = [cacheLine, problem('unauthorized', 401), cacheLine, nothing, problem('not_found', 404)];
    const { cache } = await opened(context, tries);
    assert.equal((await refusal(cache.onEvent(() => undefined))).code, 'unauthorized');
    const ends = [];
    await cache.onEvent(() => undefined, { onError: (error) => ends.push(error.code) });
    await until(() => ends.length > 0, 'the end');
    assert.deepEqual(ends, ['not_found']);
  });

  test('a server that is below a path is found there', async (context) => {
    const server = await failing(cacheLine);
    context.after(() => server.close());
    await Cache.open({ url: `${server.url}/some/where`, name: 'c', token: 'secret' });
    assert.equal(server.seen[0].url, '/some/where/v1/caches/c');
    assert.equal(server.seen[0].headers.authorization, 'Bearer secret');
  });
});

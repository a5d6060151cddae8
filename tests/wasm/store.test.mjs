// Keeping a memory in Node.js: files that survive crashes and stale writers, autosave, loadOrCreate.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, mock, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Cache, DpcacheError } from 'dpcache';
import {
  autosave,
  loadOrCreate,
  openFile,
  openIndexedDB,
  openOpfs,
  requestPersistence,
} from 'dpcache/store';
import * as worker from 'dpcache/worker';

const run = promisify(execFile);
const writer = fileURLToPath(new URL('store_writer.mjs', import.meta.url));
const cli = fileURLToPath(new URL('../../build/release/dpcache', import.meta.url));
const noCli = !fs.existsSync(cli) && 'the command line is not built (build/release/dpcache)';

const folders = fs.mkdtempSync(join(tmpdir(), 'dpcache-store-'));
after(() => fs.rmSync(folders, { recursive: true, force: true }));
let folder;
let path;
beforeEach(() => {
  folder = fs.mkdtempSync(join(folders, 'f-'));
  path = join(folder, 'm.dpc');
});

const settled = async () => {
  for (let i = 0; i < 20; i++) await new Promise((turn) => setImmediate(turn));
};

async function memory(slots, metadata) {
  const cache = await Cache.create({ dimension: 64, tau: 0.01 });
  const key = (i) => Array.from({ length: 64 }, (_, j) => Math.sin(1 + i * (j + 1) ** 1.5));
  for (let i = 0; i < slots; i++) cache.observe({ key: key(i), time: i });
  if (metadata) cache.setMetadata(metadata);
  const bytes = cache.save();
  cache.dispose();
  return bytes;
}
const [a, b, c] = [await memory(3), await memory(4), await memory(5)];
const conflict = { name: 'DpcacheError', code: 'conflict' };
const onDisk = () => new Uint8Array(fs.readFileSync(path));

describe('a memory file', () => {
  test('is read as it was written', async () => {
    const store = await openFile(path);
    assert.equal(await store.read(), undefined);
    await store.write(a);
    assert.deepEqual(await store.read(), a);
    await store.write(b);
    assert.deepEqual(onDisk(), b);
    const other = await openFile(pathToFileURL(path));
    assert.deepEqual(await other.read(), b);
    assert.deepEqual(fs.readdirSync(folder), ['m.dpc'], 'and nothing is left beside it');
    await store.remove();
    await store.remove();
    assert.equal(await store.read(), undefined);
    await other.write(c); // taken away: nobody's items are lost
    assert.deepEqual(onDisk(), c);
  });

  test('is written as the bytes are at the call, also as a part of a buffer', async () => {
    const store = await openFile(path);
    const buffer = new Uint8Array(a.length + 20);
    const part = buffer.subarray(10, 10 + a.length);
    part.set(a);
    const written = store.write(part);
    buffer.fill(0);
    await written;
    assert.deepEqual(onDisk(), a);
  });

  test('keeps what a stale writer has not read', async () => {
    const [one, two] = [await openFile(path), await openFile(path)];
    await one.read();
    await two.read();
    await one.write(a);
    await assert.rejects(two.write(b), conflict);
    assert.deepEqual(onDisk(), a);
    await assert.rejects(two.write(b), conflict, 'trying again does not help');
    await two.read();
    await two.write(b);
    await assert.rejects(one.write(c), conflict);
    assert.deepEqual(onDisk(), b);
    await assert.rejects((await openFile(path)).write(c), conflict, 'nothing was read at all');
    assert.deepEqual(fs.readdirSync(folder), ['m.dpc']);
  });

  test('may be touched or copied over, since it is still what was read', async () => {
    const store = await openFile(path);
    await store.write(a);
    fs.utimesSync(path, 1, 1);
    await store.write(b);
    fs.writeFileSync(`${path}-copy`, b);
    fs.renameSync(`${path}-copy`, path);
    await store.write(c);
    fs.writeFileSync(path, a);
    await assert.rejects(store.write(b), conflict);
  });

  test('of one size at one time is known by what is in it', async () => {
    const store = await openFile(path);
    const [x, y] = [await memory(2, { who: 'x' }), await memory(2, { who: 'y' })];
    assert.equal(x.length, y.length);
    await store.write(x);
    const { atime, mtime } = fs.statSync(path);
    fs.writeFileSync(`${path}-other`, y);
    fs.utimesSync(`${path}-other`, atime, mtime);
    fs.renameSync(`${path}-other`, path);
    await assert.rejects(store.write(a), conflict);
  });

  test('takes nothing that is no memory', async () => {
    const store = await openFile(path);
    await store.write(a);
    for (const bytes of [new Uint8Array(), new Uint8Array(100), a.subarray(0, 20), 'x', undefined]) {
      await assert.rejects(store.write(bytes), { name: 'DpcacheError', code: 'bad_snapshot' });
    }
    assert.deepEqual(onDisk(), a);
  });

  test('keeps its mode, and its place behind a link', async () => {
    fs.mkdirSync(join(folder, 'deep'));
    const link = join(folder, 'link.dpc');
    fs.symlinkSync('deep/real.dpc', link);
    const store = await openFile(link);
    await store.write(a);
    const real = join(folder, 'deep/real.dpc');
    fs.chmodSync(real, 0o640);
    await store.write(b);
    assert.ok(fs.lstatSync(link).isSymbolicLink());
    assert.equal(fs.statSync(real).mode & 0o777, 0o640);
    assert.deepEqual(new Uint8Array(fs.readFileSync(real)), b);
    fs.symlinkSync('round.dpc', join(folder, 'round.dpc'));
    await assert.rejects(openFile(join(folder, 'round.dpc')), { code: 'bad_request' });
  });

  test('must be a file in a folder', async () => {
    await assert.rejects(openFile(folder), { code: 'bad_request' });
    await run('mkfifo', [path]);
    await assert.rejects(openFile(path), { code: 'bad_request' });
    const store = await openFile(join(folder, 'none/m.dpc'));
    assert.equal(await store.read(), undefined);
    await assert.rejects(store.write(a), { code: 'not_found', message: /folder does not exist/ });
  });

  test('is not hurt by what killed processes have left', async () => {
    const store = await openFile(path);
    await store.write(a);
    const dead = spawn('true');
    await new Promise((exit) => dead.on('exit', exit));
    const old = join(folder, `.m.dpc.dpcache-tmp-${dead.pid}-1`);
    const young = join(folder, `.m.dpc.dpcache-tmp-${dead.pid}-2`);
    const alive = join(folder, '.m.dpc.dpcache-tmp-1-1');
    const ofCli = join(folder, '.m.dpc.dpcache-tmp');
    for (const name of [old, young, alive, ofCli]) fs.writeFileSync(name, 'half');
    for (const name of [old, alive]) fs.utimesSync(name, 1, 1);
    fs.writeFileSync(join(folder, '.m.dpc.dpcache-swap'), '');
    fs.writeFileSync(join(folder, '.m.dpc.dpcache-lock'), '');
    await store.write(b);
    assert.deepEqual(onDisk(), b);
    assert.ok(!fs.existsSync(old) && fs.existsSync(young) && fs.existsSync(alive));
    assert.ok(!fs.existsSync(join(folder, '.m.dpc.dpcache-swap')));
  });

  test('is the old or the new one whenever the writer is killed', async () => {
    const [large, larger] = [await memory(300), await memory(400)];
    const names = [join(folders, 'large'), join(folders, 'larger')];
    fs.writeFileSync(names[0], large);
    fs.writeFileSync(names[1], larger);
    const seen = new Set();
    let leftovers = 0;
    for (let i = 0; i < 15; i++) {
      const child = spawn(process.execPath, [writer, 'alternate', path, ...names]);
      await new Promise((ready, failed) => {
        child.stdout.once('data', ready);
        child.once('exit', () => failed(new Error('it ended')));
      });
      await pause(20 + Math.random() * 30);
      child.removeAllListeners('exit');
      const exit = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await exit;
      leftovers += fs.readdirSync(folder).length - 1;
      const bytes = onDisk();
      const whole = [large, larger].findIndex((one) => Buffer.compare(one, bytes) === 0);
      assert.notEqual(whole, -1, 'neither the old nor the new one');
      seen.add(whole);
      // What it has left is no obstacle. If that is the swap file, this takes two seconds.
      if (fs.existsSync(join(folder, '.m.dpc.dpcache-swap'))) {
        const store = await openFile(path);
        await store.read();
        await store.write(bytes);
      }
    }
    assert.deepEqual([...seen].sort(), [0, 1]);
    assert.ok(leftovers > 0, 'the kills came too late to show anything');
  });

  test('loses no write of two processes that write at once', async () => {
    const children = [1, 2, 3].map(() => run(process.execPath, [writer, 'count', path, '60']));
    const conflicts = (await Promise.all(children)).map(({ stdout }) => Number(stdout));
    const cache = await Cache.load(onDisk());
    assert.equal(cache.metadata().count, '180');
    assert.ok(conflicts.reduce((sum, x) => sum + x) > 0, 'they have never met');
  });

  test('loses no write of two stores of one process', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => openFile(path)));
    for (const store of stores) await store.read();
    const outcomes = await Promise.allSettled(stores.map((store, i) => store.write([a, b, c][i])));
    const written = outcomes.filter(({ status }) => status === 'fulfilled');
    assert.equal(written.length, 1);
    for (const { reason } of outcomes) if (reason) assert.equal(reason.code, 'conflict');
  });

  test('stays when the disk is full', async () => {
    fs.writeFileSync(path, a);
    fs.writeFileSync(`${path}-large`, await memory(1000));
    const limited = `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`;
    const { stdout } = await run('bash', [
      ...['-c', limited, process.execPath],
      ...[writer, 'once', path, `${path}-large`],
    ]);
    assert.equal(stdout, 'full\n');
    assert.deepEqual(onDisk(), a);
    assert.deepEqual(fs.readdirSync(folder).sort(), ['m.dpc', 'm.dpc-large'], 'nothing is left');
  });

  const notRoot = process.getuid?.() !== 0 && 'only root can become somebody else';
  test('stays when its folder may not be written', { skip: notRoot }, async () => {
    fs.writeFileSync(path, a);
    fs.writeFileSync(`${path}-new`, b);
    fs.chmodSync(folders, 0o755);
    fs.chmodSync(folder, 0o755);
    const args = [writer, 'once', path, `${path}-new`];
    const { stdout } = await run(process.execPath, args, { uid: 65534, gid: 65534 });
    assert.equal(stdout, 'unavailable\n');
    assert.deepEqual(onDisk(), a);
  });
});

describe('beside the command line', { skip: noCli }, () => {
  const lines = (n) => Array.from({ length: n }, (_, i) => `${'ab'.repeat(i + 1)} x${i}y\n`).join('');
  const distinct = (text) => {
    const child = run(cli, ['distinct', '--memory', path]);
    child.child.stdin.end(text);
    return child;
  };

  test('both read what the other has written', async () => {
    await distinct(lines(5));
    const store = await openFile(path);
    const cache = await Cache.load(await store.read());
    const before = Number(cache.metadata().generation);
    assert.ok(before >= 1 && cache.size > 1);
    cache.observe({ text: 'something that nobody has said before' });
    const saving = autosave(cache, store, { delayMs: 0 });
    await saving.stop();
    const { stdout } = await run(cli, ['query', '--memory', path, 'something that nobody has said before']);
    assert.match(stdout, /^known/);
    await run(cli, ['verify', path]);
    await distinct(lines(3));
    assert.equal(Number((await Cache.load(await store.read())).metadata().generation), before + 2);
  });

  test('a run that came between is kept', async () => {
    await distinct(lines(3));
    const store = await openFile(path);
    const cache = await Cache.load(await store.read());
    await distinct('this came between, in another process\n');
    const between = onDisk();
    cache.observe({ text: 'and this is late' });
    await assert.rejects(store.write(cache.save()), conflict);
    assert.deepEqual(onDisk(), between);
  });

  test('nothing is written while a run holds the memory, and all after it', async () => {
    await distinct(lines(3));
    const store = await openFile(path);
    await store.read();
    const child = spawn(cli, ['distinct', '--memory', path, '--follow']);
    const lock = join(folder, '.m.dpc.dpcache-lock');
    const exit = new Promise((done) => child.once('exit', done));
    try {
      while (!fs.existsSync(lock)) await pause(5);
      await pause(50);
      const inUse = { code: 'unavailable', message: /in use by another process/ };
      await assert.rejects(store.write(b), inUse);
    } finally {
      child.kill('SIGKILL');
      await exit;
    }
    assert.ok(fs.existsSync(lock), 'what a killed run leaves is no obstacle');
    await store.write(b);
    assert.deepEqual(onDisk(), b);
  });

  test('a run does not overwrite what was written meanwhile by someone who sees no lock', async () => {
    await distinct(lines(3));
    const child = spawn(cli, ['distinct', '--memory', path]);
    while (!fs.existsSync(join(folder, '.m.dpc.dpcache-lock'))) await pause(5);
    await pause(50);
    fs.writeFileSync(`${path}-js`, b);
    fs.renameSync(`${path}-js`, path);
    const exit = new Promise((done) => child.once('exit', done));
    child.stdin.end('one line more\n');
    assert.equal(await exit, 4);
    assert.deepEqual(onDisk(), b);
  });
});

// A store that keeps what it is given, slowly if told to, and fails if told to.
function memoryStore() {
  const store = {
    writes: [],
    active: 0,
    mostActive: 0,
    fail: undefined,
    hold: undefined,
    async read() {
      return store.writes.at(-1);
    },
    async write(bytes) {
      store.mostActive = Math.max(store.mostActive, ++store.active);
      try {
        await store.hold;
        if (store.fail) throw new DpcacheError(store.fail, 'told to');
        store.writes.push(bytes);
      } finally {
        store.active--;
      }
    },
    async remove() {},
  };
  return store;
}

const size = async (bytes) => {
  const cache = await Cache.load(bytes);
  const { size } = cache;
  cache.dispose();
  return size;
};

describe('autosave', () => {
  let cache;
  let store;
  let errors;
  const onError = (error) => errors.push(error.code);
  beforeEach(async () => {
    cache = await Cache.create({ dimension: 2, tau: 0.001 });
    store = memoryStore();
    errors = [];
    mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  });
  afterEach(() => mock.timers.reset());
  let turns = 0;
  const observe = () => cache.observe({ key: [Math.cos(++turns), Math.sin(turns)] });
  const tick = async (milliseconds) => {
    mock.timers.tick(milliseconds);
    await settled();
  };

  test('writes once, when changes have been quiet', async () => {
    const saving = autosave(cache, store, { onError });
    for (let i = 0; i < 5; i++) {
      observe();
      await tick(900);
    }
    assert.equal(store.writes.length, 0);
    await tick(100);
    assert.equal(store.writes.length, 1);
    assert.equal(await size(store.writes[0]), 5);
    await tick(60_000);
    assert.equal(store.writes.length, 1, 'and not again without a change');
    await saving.stop();
    assert.equal(store.writes.length, 1);
  });

  test('does not wait longer than maxDelayMs', async () => {
    autosave(cache, store, { maxDelayMs: 2500, onError });
    for (let at = 0; at < 5000; at += 100) {
      observe();
      await tick(100);
    }
    assert.equal(store.writes.length, 2);
    assert.equal(await size(store.writes[0]), 25);
  });

  test('never writes twice at once, and saves later what comes meanwhile', async () => {
    const saving = autosave(cache, store, { delayMs: 10, onError });
    let release;
    store.hold = new Promise((done) => (release = done));
    observe();
    await tick(10);
    assert.equal(store.active, 1);
    observe();
    await tick(100);
    const flushed = saving.flush();
    await settled();
    assert.equal(store.writes.length, 0);
    release();
    await flushed;
    assert.equal(store.mostActive, 1);
    assert.deepEqual(await Promise.all(store.writes.map(size)), [1, 2]);
    await saving.stop();
    assert.equal(store.writes.length, 2);
  });

  test('tries again after a failure, with longer and longer pauses, and loses nothing', async () => {
    autosave(cache, store, { delayMs: 100, maxDelayMs: 1000, onError });
    store.fail = 'full';
    observe();
    await tick(100);
    assert.deepEqual(errors, ['full']);
    await tick(199);
    assert.equal(errors.length, 1);
    await tick(1);
    assert.equal(errors.length, 2);
    await tick(400);
    await tick(800);
    await tick(1000);
    await tick(1000);
    assert.equal(errors.length, 6);
    store.fail = undefined;
    observe();
    await tick(1000);
    assert.deepEqual(await Promise.all(store.writes.map(size)), [2]);
    observe();
    await tick(100);
    assert.equal(store.writes.length, 2, 'and is quick again');
  });

  test('does not fight a conflict: only flush and stop try again', async () => {
    const saving = autosave(cache, store, { delayMs: 100, onError });
    store.fail = 'conflict';
    observe();
    await tick(100);
    observe();
    await tick(100_000);
    assert.deepEqual(errors, ['conflict']);
    await assert.rejects(saving.flush(), conflict);
    await assert.rejects(saving.stop(), conflict);
    observe();
    await tick(100_000);
    assert.deepEqual(errors, ['conflict', 'conflict', 'conflict']);
  });

  test('flush saves at once what has changed, metadata too, and nothing else', async () => {
    const saving = autosave(cache, store, { onError });
    await saving.flush();
    assert.equal(store.writes.length, 0);
    observe();
    await saving.flush();
    await saving.flush();
    assert.equal(store.writes.length, 1);
    cache.setMetadata({ ...cache.metadata(), whose: 'mine' });
    await saving.flush();
    assert.equal(store.writes.length, 2);
    const metadata = (await Cache.load(store.writes[1])).metadata();
    assert.deepEqual(metadata, { whose: 'mine', generation: '2' });
    store.fail = 'full';
    observe();
    await assert.rejects(saving.flush(), { code: 'full' });
    store.fail = undefined;
    await saving.stop();
    assert.equal(await size(store.writes[2]), cache.size);
  });

  test('saves what has changed before, but not what the store holds', async () => {
    observe();
    const first = autosave(cache, store, { onError });
    await settled();
    await tick(1000);
    assert.equal(store.writes.length, 1);
    await first.stop();
    const file = await openFile(path);
    await file.write(store.writes[0]);
    for (const holder of [store, file]) {
      const loaded = await Cache.load(store.writes[0]);
      const second = autosave(loaded, holder, { onError });
      await settled();
      await tick(1000);
      await second.stop();
    }
    assert.equal(store.writes.length, 1);
    assert.deepEqual(onDisk(), store.writes[0]);
    const loaded = await Cache.load(await file.read());
    loaded.erase(1);
    await autosave(loaded, file, { onError }).stop();
    assert.equal(await size(onDisk()), 0);
  });

  test('stop saves, lets go of the cache, and can be awaited by `await using`', async () => {
    const saving = autosave(cache, store, { onError });
    observe();
    await saving[Symbol.asyncDispose]();
    assert.equal(store.writes.length, 1);
    observe();
    await tick(100_000);
    assert.equal(store.writes.length, 1);
    await saving.stop();
  });

  test('says that a cache was disposed before it was saved', async () => {
    const saving = autosave(cache, store, { onError });
    observe();
    cache.dispose();
    await tick(1000);
    await tick(100_000);
    assert.deepEqual(errors, ['disposed']);
    await assert.rejects(saving.stop(), { code: 'disposed' });
  });

  test('tells console.error if nobody else', async () => {
    const told = mock.method(console, 'error', () => {});
    autosave(cache, store);
    store.fail = 'full';
    observe();
    await tick(1000);
    assert.equal(told.mock.calls[0].arguments[1].code, 'full');
    told.mock.restore();
    store.fail = undefined;
    await tick(10_000);
  });

  test('refuses delays that are none', () => {
    for (const delayMs of [-1, NaN, '1', Infinity]) {
      assert.throws(() => autosave(cache, store, { delayMs }), { code: 'bad_request' });
    }
  });

  test("saves a worker's cache too, without its events", async () => {
    mock.timers.reset();
    const there = await worker.Cache.create({ dimension: 2 });
    const saving = autosave(there, store, { delayMs: 5, onError });
    await there.observeBatch([{ key: [1, 0] }, { key: [0, 1] }]);
    await pause(100);
    assert.deepEqual(await Promise.all(store.writes.map(size)), [2]);
    await there.setMetadata({ ...(await there.metadata()), whose: 'mine' });
    await saving.stop();
    const metadata = (await Cache.load(store.writes[1])).metadata();
    assert.deepEqual(metadata, { whose: 'mine', generation: '2' });
    await there.observe({ key: [1, 1] });
    await pause(50);
    assert.equal(store.writes.length, 2);
    await there.dispose();
  });

  test('keeps Node alive until the save, and no longer', async () => {
    mock.timers.reset();
    const source = `
      import { Cache } from 'dpcache';
      import { autosave, openFile } from 'dpcache/store';
      const cache = await Cache.create({ dimension: 2 });
      autosave(cache, await openFile(${JSON.stringify(path)}), { delayMs: 300 });
      cache.observe({ key: [1, 0] });`;
    const args = ['--input-type=module', '-e', source];
    await run(process.execPath, args, { cwd: join(writer, '..'), timeout: 10_000 });
    assert.equal(await size(onDisk()), 1);
    const failing = `
      import { Cache } from 'dpcache';
      import { autosave, openFile } from 'dpcache/store';
      const cache = await Cache.create({ dimension: 2 });
      autosave(cache, await openFile('/no/such/folder/m.dpc'), { delayMs: 10 });
      cache.observe({ key: [1, 0] });`;
    const { stderr } = await run(process.execPath, ['--input-type=module', '-e', failing], {
      cwd: join(writer, '..'),
      timeout: 10_000,
    });
    assert.match(stderr, /not_found/);
  });
});

for (const [name, klass] of Object.entries({ main: Cache, worker: worker.Cache })) {
  describe(`loadOrCreate with the ${name} entry`, () => {
    const text = { masks: 'all' };
    const configOf = (cache) => (typeof cache.config === 'function' ? cache.config() : cache.config);

    test('makes a memory, and opens it the next time', async () => {
      const store = await openFile(path);
      const cache = await loadOrCreate(klass, store, { text });
      await cache.observe({ text: 'disk 1 is full' });
      await autosave(cache, store).stop();
      await cache.dispose();
      const again = await loadOrCreate(klass, await openFile(path), { text });
      assert.equal((await again.observe({ text: 'disk 2 is full' })).action, 'merge');
      await again.dispose();
    });

    test('lets the settings that are named hold, and the others be', async () => {
      const store = await openFile(path);
      const made = await Cache.create({ dimension: 2, tau: 0.3, maxSlots: 7, eta: 0.1 });
      await store.write(made.save());
      const cache = await loadOrCreate(klass, store, { dimension: 2, tau: 0.1 });
      const { tau, maxSlots, eta } = await configOf(cache);
      assert.deepEqual([tau, maxSlots, eta], [0.1, 7, 0.1]);
      const seq = (await cache.stats()).seq;
      await store.read();
      await store.write(await cache.save());
      const same = await loadOrCreate(klass, store, { dimension: 2, tau: 0.1 });
      assert.equal((await same.stats()).seq, seq, 'no event if nothing changes');
      const gated = await loadOrCreate(klass, store, { dimension: 2, gate: { a: 4, b: 0.25 } });
      assert.deepEqual((await configOf(gated)).gate, { a: 4, b: 0.25 });
      for (const one of [cache, same, gated]) await one.dispose();
    });

    test('takes away the gate for a tau, and the tau for a gate', async () => {
      const store = await openFile(path);
      const gate = { a: 4, b: 0.25 };
      for (const [was, asked] of [[{ gate }, { tau: 0.1 }], [{ tau: 0.1 }, { gate }]]) {
        await store.remove();
        await store.write((await Cache.create({ dimension: 2, ...was })).save());
        const cache = await loadOrCreate(klass, store, { dimension: 2, ...asked });
        const { tau, gate: found } = await configOf(cache);
        assert.deepEqual({ tau, gate: found }, { tau: undefined, gate: undefined, ...asked });
        await cache.dispose();
      }
    });

    test('holds one cache when it is done, and none if it fails', async () => {
      let held = 0;
      const counted = (promise) =>
        promise.then((cache) => {
          ++held;
          const dispose = cache.dispose.bind(cache);
          cache.dispose = () => (--held, dispose());
          return cache;
        });
      const counting = {
        create: (...given) => counted(klass.create(...given)),
        load: (...given) => counted(klass.load(...given)),
      };
      const store = await openFile(path);
      await store.remove();
      const config = { dimension: 2 };
      const fresh = await loadOrCreate(counting, store, config);
      assert.equal(held, 1);
      await store.write(await fresh.save());
      const loaded = await loadOrCreate(counting, store, config);
      assert.equal(held, 2);
      await assert.rejects(loadOrCreate(counting, store, { dimension: 3 }));
      await assert.rejects(loadOrCreate(counting, store, { dimension: 2, valueDimension: 1 }));
      assert.equal(held, 2);
      for (const one of [fresh, loaded]) await one.dispose();
      assert.equal(held, 0);
    });

    test('refuses a memory that cannot be what is asked for, and leaves it alone', async () => {
      const store = await openFile(path);
      const make = (config) => loadOrCreate(klass, store, config);
      await store.write((await Cache.create({ dimension: 2 })).save());
      const before = onDisk();
      await assert.rejects(make({ dimension: 3 }), { code: 'bad_config', message: /dimension 2, not 3/ });
      await assert.rejects(make({ text }), { code: 'encoder_mismatch', message: /no named encoder/ });
      await assert.rejects(make({ dimension: 2, encoder: 'x' }), { code: 'encoder_mismatch' });
      await assert.rejects(make({ dimension: 2, valueDimension: 1 }), { code: 'bad_config' });
      await assert.rejects(make({ dimension: 2, keyUpdate: 'centroid' }), { code: 'bad_config' });
      await assert.rejects(make({ dimension: 2, tau: 5 }), { code: 'bad_config' });
      fs.writeFileSync(path, before.subarray(0, -1));
      await assert.rejects(make({ dimension: 2 }), { code: 'bad_snapshot' });
    });
  });
}

test('what only browsers have is unavailable, in words', async () => {
  const unavailable = { name: 'DpcacheError', code: 'unavailable' };
  await assert.rejects(openIndexedDB('m'), unavailable);
  await assert.rejects(openOpfs('m'), unavailable);
  await assert.rejects(requestPersistence(), { ...unavailable, message: /window/ });
  const browser = await import(new URL('../../wasm/dist/store.js', import.meta.url));
  await assert.rejects(browser.openFile('m.dpc'), unavailable);
});

test('the entries of browsers and of Node export the same', async () => {
  for (const name of ['store', 'worker']) {
    const file = (stem) => new URL(`../../wasm/dist/${stem}.js`, import.meta.url);
    const [browser, node] = [await import(file(name)), await import(file(`${name}-node`))];
    assert.deepEqual(Object.keys(browser), Object.keys(node));
  }
});

test('no file that a browser loads names a module of Node', () => {
  const dist = new URL('../../wasm/dist/', import.meta.url);
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    const source = fs.readFileSync(new URL(name, dist), 'utf8');
    for (const [, found] of source.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
      assert.ok(found.startsWith('./'), `${name} imports ${found}`);
      visit(found.slice(2));
    }
  };
  for (const name of ['store.js', 'worker.js', 'worker-thread.js']) visit(name);
  assert.ok(seen.has('store-opfs.js') && seen.has('worker-host.js') && !seen.has('store-file.js'));
});

// A process of its own that writes to a memory file; store.test.mjs starts it.
//   alternate FILE A B   writes A and B in turn until it is killed
//   count FILE N         adds 1 to the metadata `count`, N times, whoever else does
//   once FILE A          says the code of the error, or "written"
import { readFileSync } from 'node:fs';
import { Cache } from 'dpcache';
import { openFile } from 'dpcache/store';

const [what, path, ...rest] = process.argv.slice(2);
const store = await openFile(path);

if (what === 'alternate') {
  const memories = rest.map((name) => new Uint8Array(readFileSync(name)));
  await store.read();
  process.stdout.write('ready\n');
  for (let i = 0; ; i = 1 - i) await store.write(memories[i]);
}

if (what === 'count') {
  let conflicts = 0;
  for (let left = Number(rest[0]); left > 0; ) {
    const bytes = await store.read();
    const cache = bytes ? await Cache.load(bytes) : await Cache.create({ dimension: 2 });
    const { count = '0' } = cache.metadata();
    cache.setMetadata({ count: String(Number(count) + 1) });
    try {
      await store.write(cache.save());
      left--;
    } catch (error) {
      if (error.code !== 'conflict') throw error;
      conflicts++;
    }
    cache.dispose();
  }
  process.stdout.write(`${conflicts}\n`);
}

if (what === 'once') {
  try {
    await store.read();
    await store.write(new Uint8Array(readFileSync(rest[0])));
    process.stdout.write('written\n');
  } catch (error) {
    process.stdout.write(`${error.code}\n`);
  }
}

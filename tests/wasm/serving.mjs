// A real server for tests: `dpcache serve`, as the release build made it or DPCACHE_BINARY names
// it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const program =
  process.env.DPCACHE_BINARY ??
  fileURLToPath(new URL('../../build/release/dpcache', import.meta.url));

/** What to tell a test that needs a server: false, or why it is skipped. */
export const skip = existsSync(program) ? false : `NOT TESTED: there is no ${program}`;
if (skip) console.error(`\n*** ${skip} (cmake --build --preset release makes it) ***\n`);

/**
 * Starts a server. `kill` ends it as a crash would, `start` begins it again on the same folder and
 * port, `close` ends it in order and takes its folder away.
 */
export async function serving(...options) {
  const folder = mkdtempSync(join(tmpdir(), 'dpcache-serving-'));
  let process_;
  let listen = '127.0.0.1:0';
  const server = {
    url: '',
    async start() {
      const own = ['serve', '--listen', listen, '--data', join(folder, 'data'), ...options];
      process_ = spawn(program, own, { stdio: ['ignore', 'pipe', 'ignore'] });
      const exit = once(process_, 'exit').then(([code]) => {
        throw new Error(`the server ended with ${code}`);
      });
      exit.catch(() => undefined);
      const [line] = await Promise.race([once(process_.stdout.setEncoding('utf8'), 'data'), exit]);
      server.url = /https?:\S+/.exec(line)[0];
      listen = new URL(server.url).host;
    },
    async kill() {
      process_.kill('SIGKILL');
      await once(process_, 'exit');
    },
    async close() {
      try {
        if (process_.exitCode === null && process_.signalCode === null) {
          process_.kill();
          const [code] = await once(process_, 'exit');
          assert.equal(code, 0, 'the server has not ended in order');
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
  await server.start();
  return server;
}

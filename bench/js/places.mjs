// Where tasks run: a process of Node.js for each, or a page of Chromium for each. Whatever happens
// to one, the answer is {figures} or {failed: why}.
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = new URL('./', import.meta.url);

export function nodePlace(data) {
  return {
    name: 'Node.js',
    run(task, timeoutMs) {
      return new Promise((resolve) => {
        const child = fork(fileURLToPath(new URL('child.mjs', here)), {
          stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
          execArgv: ['--max-old-space-size=8192'],
        });
        let answer;
        let late = false;
        let said = '';
        child.stderr.on('data', (text) => (said = (said + text).slice(-400)));
        const timer = setTimeout(() => {
          late = true;
          child.kill('SIGKILL');
        }, timeoutMs);
        child.on('message', (message) => (answer = message));
        child.on('exit', async (code, signal) => {
          clearTimeout(timer);
          // What a child sent last may arrive after the news that it has ended.
          for (let i = 0; i < 20 && !answer && !late; ++i) await sleep(25);
          const last = said.trim().split('\n').at(-1);
          const why = late
            ? `no answer in ${Math.round(timeoutMs / 1e3)} s`
            : `ended with ${signal ?? code}: ${last}`;
          resolve(answer ?? { failed: why });
        });
        child.send({ task, data: data.href });
      });
    },
    close: async () => {},
  };
}

const imports = {
  dpcache: '/node_modules/dpcache/dist/index.js',
  edgevec: '/node_modules/edgevec/edgevec.js',
  'hnswlib-wasm/': '/node_modules/hnswlib-wasm/',
  'voy-search/': '/node_modules/voy-search/',
};

const page = `<!doctype html><title>bench</title>
<script type="importmap">${JSON.stringify({ imports })}</script>`;

export async function chromiumPlace(data) {
  const { launch, serve } = await import('../../tests/browser/harness.mjs');
  // Isolated, so that the page's clock has steps of 5 µs and not 100.
  const server = await serve(
    {
      '/': () => ({ type: 'text/html', body: page }),
      '/node_modules/': fileURLToPath(new URL('node_modules', here)),
      '/bench/': fileURLToPath(here),
      '/data/': fileURLToPath(data),
    },
    { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' },
  );
  let browser = await launch();
  return {
    name: 'Chromium',
    version: browser.context.browser()?.version(),
    async run(task, timeoutMs) {
      let timer;
      try {
        const tab = await browser.context.newPage();
        const crashed = new Promise((_, reject) => {
          tab.on('crash', () => reject(new Error('the page crashed')));
          timer = setTimeout(
            () => reject(new Error(`no answer in ${Math.round(timeoutMs / 1e3)} s`)),
            timeoutMs,
          );
        });
        const work = (async () => {
          await tab.goto(server.url);
          return tab.evaluate(async (task) => {
            const read = async (url) => {
              const response = await fetch(url);
              if (!response.ok) throw new Error(`${url}: ${response.status}`);
              return new Uint8Array(await response.arrayBuffer());
            };
            const { runTask } = await import('/bench/tasks.mjs');
            try {
              return {
                figures: await runTask(task, {
                  readPackage: (name, path) => read(`/node_modules/${name}/${path}`),
                  readData: (name) => read(`/data/${name}`),
                }),
              };
            } catch (error) {
              return { failed: String(error?.message ?? JSON.stringify(error)) };
            }
          }, task);
        })();
        work.catch(() => {});
        const answer = await Promise.race([work, crashed]);
        clearTimeout(timer);
        await tab.close();
        return answer;
      } catch (error) {
        clearTimeout(timer);
        // A page that hangs or has crashed may take its browser with it.
        await browser.close().catch(() => {});
        browser = await launch();
        return { failed: String(error.message).split('\n')[0] };
      }
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

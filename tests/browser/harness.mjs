// A static server and Chromium, for tests that need a page.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

// Serves folders below paths, e.g. {'/': 'web/dist', '/vectors/': 'tests/vectors'} (relative to the
// repository, or absolute); a value that is a function answers by itself: (request) => {type, body}.
// `headers` are sent with everything. Resolves to {url, requests, sent, close}; `sent` tells the bytes
// of the bodies by path.
export async function serve(folders, headers = {}) {
  const requests = [];
  const sent = new Map();
  const mounts = Object.entries(folders).sort((a, b) => b[0].length - a[0].length);
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    requests.push(path);
    const mount = mounts.find(([prefix]) => path.startsWith(prefix));
    try {
      if (!mount) throw new Error('no such path');
      const [prefix, target] = mount;
      let type;
      let body;
      if (typeof target === 'function') {
        ({ type, body } = target(path));
      } else {
        const inner = normalize(`/${path.slice(prefix.length)}`);
        const file = join(resolve(root, target), inner.endsWith('/') ? `${inner}index.html` : inner);
        type = types[extname(file)] ?? 'application/octet-stream';
        body = await readFile(file);
      }
      sent.set(path, (sent.get(path) ?? 0) + body.length);
      response.writeHead(200, { 'content-type': type, ...headers }).end(body);
    } catch {
      response.writeHead(404, { 'content-type': 'text/plain', ...headers }).end('not found');
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    sent,
    close: () =>
      new Promise((closed) => {
        server.close(closed);
        server.closeAllConnections();
      }),
  };
}

export const chromiumOptions = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

// Chromium with a fresh profile, which is removed at the end: {context, close}.
export async function launch(options = {}) {
  const profile = await mkdtemp(join(tmpdir(), 'dpcache-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    ...chromiumOptions,
    args: [...chromiumOptions.args, ...(options.args ?? [])],
    ...options.context,
  });
  return {
    context,
    close: async () => {
      await context.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

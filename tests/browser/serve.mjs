// A static file server for the built page, as small as can be, with the policy that a host may set.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

export const policy = [
  `default-src 'none'`,
  `script-src 'self' 'wasm-unsafe-eval'`,
  `style-src 'self'`,
  `img-src 'self' data: blob:`,
  `connect-src 'self'`,
  `worker-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

/** Serves `root` below `base` on a free port of this machine. */
export async function serve(root, base = '/') {
  const sent = new Map(); // bytes by path, without headers
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const name = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
    const file = normalize(join(root, decodeURIComponent(name.slice(base.length - 1))));
    const found =
      file.startsWith(root + sep) && name.startsWith(base)
        ? await stat(file).catch(() => null)
        : null;
    if (!found?.isFile()) {
      response.writeHead(404).end('not found');
      return;
    }
    const isHashed = pathname.includes('/assets/');
    response.writeHead(200, {
      'Content-Type': types[extname(file)] ?? 'application/octet-stream',
      'Content-Length': found.size,
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    });
    sent.set(pathname, (sent.get(pathname) ?? 0) + found.size);
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}${base}`,
    sent,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

// The package in Next.js, built by Turbopack and by webpack: on the server with the WebAssembly
// inlined or the package left external, and in the client. Installs Next.js: a long test.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pack } from './packed.mjs';

const page = (options) => `
  import { Cache } from 'dpcache';
  import { inlineWasm } from 'dpcache/inline';
  import Client from './client';
  export default async function Page() {
    const cache = await Cache.create({ dimension: 2 }${options});
    cache.observe({ key: [1, 0] });
    return <main><p>{'server: ' + cache.size}</p><Client /></main>;
  }`;
const client = `'use client';
  import { useEffect, useState } from 'react';
  import { Cache } from 'dpcache';
  export default function Client() {
    const [text, say] = useState('waiting');
    useEffect(() => {
      Cache.create({ dimension: 2 }).then((cache) => say('client: ' + cache.size));
    }, []);
    return <p>{text}</p>;
  }`;
const layout = `export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}`;

let packed;
let place;
before(() => {
  packed = pack();
  place = packed.project({ 'next.config.js': '' });
  const next = ['next@16.4.6', 'react@19.2.0', 'react-dom@19.2.0'];
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', ...next], { cwd: place });
  mkdirSync(join(place, 'app'));
  writeFileSync(join(place, 'app/client.js'), client);
  writeFileSync(join(place, 'app/layout.js'), layout);
});
after(() => packed.remove());

function build(options, config, ...given) {
  writeFileSync(join(place, 'app/page.js'), page(options));
  writeFileSync(join(place, 'next.config.js'), `module.exports = ${config};`);
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' };
  execFileSync('npx', ['next', 'build', ...given], { cwd: place, env, stdio: 'pipe' });
  return readFileSync(join(place, '.next/server/app/index.html'), 'utf8');
}

for (const bundler of ['--turbopack', '--webpack']) {
  test(`${bundler.slice(2)}, inlined`, () => {
    assert.match(build(', { wasm: inlineWasm() }', '{}', bundler), /server: 1/);
  });
  test(`${bundler.slice(2)}, external`, () => {
    const config = "{ serverExternalPackages: ['dpcache'] }";
    assert.match(build('', config, bundler), /server: 1/);
  });
}

// Makes a part of the page that needs no browser importable here: TypeScript through Vite, with
// `dpcache` left to be the real package.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';
import { root } from './harness.mjs';

export async function bundle(entry, name) {
  const outDir = join(root, 'build/browser-tests', name);
  await mkdir(outDir, { recursive: true });
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { external: ['dpcache'] },
    build: {
      ssr: join(root, 'web/src', entry),
      outDir,
      emptyOutDir: true,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'entry.mjs', chunkFileNames: '[name].mjs' } },
    },
  });
  return import(`${pathToFileURL(join(outDir, 'entry.mjs'))}`);
}

// The programs in the READMEs run, and print what their comments say.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './packed.mjs';
import { serving, skip } from './serving.mjs';

const pages = ['README.md', 'wasm/README.md'].map((name) => readFileSync(join(root, name), 'utf8'));
const programs = [...pages.join('\n').matchAll(/^```js\n(.*?)^```/gms)].map(([, program]) => program);

test('the READMEs have programs', () => assert.ok(programs.length >= 7));

programs.forEach((program, i) => {
  const wantsServer = program.includes('dpcache/remote');
  test(`program ${i + 1} of the READMEs`, { skip: wantsServer && skip }, async () => {
    const server = wantsServer ? await serving() : undefined;
    const folder = mkdtempSync(join(tmpdir(), 'dpcache-readme-'));
    try {
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      const text = server ? program.replace('http://127.0.0.1:8080', server.url) : program;
      writeFileSync(join(folder, 'main.mjs'), text);
      const given = { cwd: folder, encoding: 'utf8', timeout: 60_000 };
      const { status, stdout, stderr } = spawnSync(process.execPath, ['main.mjs'], given);
      assert.equal(status, 0, stderr);
      const said = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
      assert.equal(stdout, said.map((line) => `${line}\n`).join(''));
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await server?.close();
    }
  });
});

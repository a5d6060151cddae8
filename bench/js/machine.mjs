// What was measured, on what: machine, versions, command and date, as Markdown lines.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { pathToFileURL } from 'node:url';

const root = new URL('../../', import.meta.url);

function firstLine(program, args) {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).split('\n')[0];
  } catch {
    return 'unknown';
  }
}

function emscripten() {
  try {
    const dependencies = process.env.DPCACHE_DEPS
      ? pathToFileURL(`${process.env.DPCACHE_DEPS}/`)
      : new URL('.deps/', root);
    const version = new URL('emscripten/emscripten-version.txt', dependencies);
    const text = readFileSync(version, 'utf8');
    return text.replaceAll('"', '').trim();
  } catch {
    return firstLine('emcc', ['--version']);
  }
}

export const packageVersions = () =>
  JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')).dependencies;

export function describe({ command, chromium, load, minutes }) {
  const [cpu] = os.cpus();
  const peers = Object.entries(packageVersions())
    .filter(([name]) => name !== 'dpcache')
    .map(([name, version]) => `${name} ${version}`);
  return [
    `- Machine: ${cpu.model}, ${os.cpus().length} cores, ${Math.round(os.totalmem() / 2 ** 30)} GiB; ` +
      `load when it began ${load.toFixed(1)}`,
    `- Node.js ${process.versions.node} (V8 ${process.versions.v8})` +
      (chromium ? `, Chromium ${chromium}, headless` : ', no Chromium in this run'),
    `- dpcache: Emscripten ${emscripten()}; natively ${firstLine('c++', ['--version'])}, ` +
      'preset release',
    `- Beside it: ${peers.join(', ')}`,
    `- Command: \`${command}\`, ${minutes.toFixed(1)} minutes`,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
  ].join('\n');
}

// The package as npm packs it, installed into projects of their own, far from this repository.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export function run(program, given, cwd) {
  return execFileSync(program, given, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const npm = (cwd, ...given) => run('npm', [...given, '--no-audit', '--no-fund', '--silent'], cwd);

// A temporary folder with the tarball: {tarball, project, remove}.
export function pack() {
  const folder = mkdtempSync(join(tmpdir(), 'dpcache-package-'));
  npm(join(root, 'wasm'), 'pack', '--pack-destination', folder);
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')));
  let projects = 0;
  return {
    tarball,
    // A project with the package installed, and these files.
    project(files, settings = {}) {
      const place = mkdtempSync(join(folder, `project-${++projects}-`));
      const description = { name: `project-${projects}`, private: true, ...settings };
      writeFileSync(join(place, 'package.json'), JSON.stringify(description));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
      npm(place, 'install', '--offline', tarball);
      return place;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

// What a run needs: the two small C++ programs, natively and for wasm, and data beside them.
import { execFile } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeKeys, makeQueries } from './data.mjs';

const exec = promisify(execFile);
const root = new URL('../../', import.meta.url);

export const build = new URL('build/bench-js/', root);
const wasmBuild = new URL('build/bench-js-wasm/', root);
export const data = new URL('data/', build);

const exists = (url) =>
  access(url).then(
    () => true,
    () => false,
  );

async function run(program, args) {
  try {
    return (await exec(program, args, { cwd: fileURLToPath(root), maxBuffer: 1 << 26 })).stdout;
  } catch (error) {
    throw new Error(
      `${program} ${args.join(' ')}: ${(error.stderr || error.message).slice(-2000)}`,
    );
  }
}

export async function buildPrograms() {
  const launcher = await exec('ccache', ['--version']).then(
    () => ['-DCMAKE_CXX_COMPILER_LAUNCHER=ccache'],
    () => [],
  );
  const only = ['-DDPCACHE_BUILD_TESTS=OFF', '-DDPCACHE_BUILD_CLI=OFF', '-DDPCACHE_BUILD_BENCH=ON'];
  for (const [preset, folder, targets] of [
    ['release', build, ['scan', 'make_memory']],
    ['wasm', wasmBuild, ['scan']],
  ]) {
    const path = fileURLToPath(folder);
    await run('cmake', ['--preset', preset, '-B', path, ...launcher, ...only]);
    await run('cmake', ['--build', path, '-j2', '--target', ...targets]);
  }
}

// A memory file of `slots` directions, and 64 queries that merge: {memory, queries}, names in
// `data`.
// Made anew if `fresh`: the file must be of the library that is measured.
export async function memoryFile(slots, dimension, fresh) {
  const name = `${slots}x${dimension}`;
  const memory = `${name}.dpcache`;
  const queries = `${name}.queries`;
  await mkdir(data, { recursive: true });
  if (fresh || !(await exists(new URL(memory, data)))) {
    const keys = makeKeys(slots, dimension);
    const raw = new URL(`${name}.keys`, data);
    await writeFile(raw, keys);
    await run(fileURLToPath(new URL('bench/make_memory', build)), [
      fileURLToPath(raw),
      String(dimension),
      fileURLToPath(new URL(memory, data)),
    ]);
    await rm(raw);
    const { vectors } = makeQueries(keys, dimension, 64);
    await writeFile(
      new URL(queries, data),
      Buffer.concat(vectors.map((v) => Buffer.from(v.buffer))),
    );
  }
  return { memory, queries };
}

// Runs bench/scan: natively with an instruction set, or in wasm.
export async function scan({ memory, queries }, rounds, target) {
  const inside = target === 'wasm';
  const program = fileURLToPath(
    inside ? new URL('bench/scan.js', wasmBuild) : new URL('bench/scan', build),
  );
  const args = [
    fileURLToPath(new URL(memory, data)),
    fileURLToPath(new URL(queries, data)),
    String(rounds),
  ];
  const out = inside
    ? await run(process.execPath, [program, ...args])
    : await run(program, [...args, ...(target ? [target] : [])]);
  const { nearest, observe, ...rest } = JSON.parse(out);
  const us = (list) => list.map((ns) => ns / 1e3);
  return { ...rest, nearestUs: us(nearest), observeUs: us(observe) };
}

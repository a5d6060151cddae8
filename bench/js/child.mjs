// Runs one task in a process of its own and sends its figures to the process that started it.
import { readFile } from 'node:fs/promises';
import { runTask } from './tasks.mjs';

const read = async (url) => {
  const buffer = await readFile(url);
  return buffer.byteOffset % 4 === 0
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
    : Uint8Array.from(buffer);
};

process.once('message', async ({ task, data }) => {
  const files = {
    readPackage: (name, path) => read(new URL(`./node_modules/${name}/${path}`, import.meta.url)),
    readData: (name) => read(new URL(name, data)),
  };
  let answer;
  try {
    answer = { figures: await runTask(task, files) };
  } catch (error) {
    answer = { failed: String(error?.message ?? JSON.stringify(error)) };
  }
  process.send(answer, () => process.exit(0));
});

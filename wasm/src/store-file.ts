/// <reference types="node" />
// A memory file in Node, beside the command line `dpcache` and other processes.
//
// The new memory is written to a temporary file, forced to the disk and renamed over the old one;
// then the folder is forced to the disk. Three things guard the old one from a stale writer:
//  - the file must be the one that was read, by inode, size and time, or else by its checksum;
//  - `.NAME.dpcache-swap`, made for the microseconds between that look and the rename, keeps other
//    processes of this library out. One that stands there for 2 s was left by a crash;
//  - `.NAME.dpcache-lock` is locked by the command line while it holds the memory. Node has no
//    flock(), but Linux lists all locks in /proc/locks. The other way round, the command line looks
//    whether the file changed before it saves.
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  type BigIntStats,
} from 'node:fs';
import { open, readdir, readlink, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, threadId } from 'node:worker_threads';

import { copyOf } from './copy.js';
import { DpcacheError } from './errors.js';
import { conflict, headerRange, stampIn, stampOf, stampToWrite, type Store } from './store-contract.js';

const kStaleSwapMs = 2000;
const kStaleTemporaryMs = 60_000;
let temporaries = 0; // made by this thread: two stores may be of one file

/**
 * The memory file `path`, the same that the command line reads and writes. Also: `not_found` if
 * there is no such folder, `bad_request` if it is a folder or a pipe.
 */
export async function openFile(path: string | URL): Promise<Store> {
  const shown = path instanceof URL ? fileURLToPath(path) : path;
  const target = await behindLinks(resolve(shown), shown);
  const found = await statOf(target, shown);
  if (found) checkRegular(found, shown);
  return new MemoryFile(shown, target);
}

class MemoryFile implements Store {
  readonly #path: string; // as given, for messages
  readonly #target: string;
  readonly #folder: string;
  readonly #hidden: string; // what the names of our own files begin with
  // The file that was read or written last; null: there was none; undefined: not looked yet.
  #seen: { stat: BigIntStats; stamp: string | undefined } | null | undefined;
  #queue: Promise<unknown> = Promise.resolve(); // calls of one store wait for each other

  constructor(path: string, target: string) {
    this.#path = path;
    this.#target = target;
    this.#folder = dirname(target);
    this.#hidden = `.${basename(target)}.dpcache-`;
  }

  read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#next(() => this.#read());
  }

  write(bytes: Uint8Array): Promise<void> {
    let stamp: string;
    let own: Uint8Array;
    try {
      stamp = stampToWrite(bytes);
      own = copyOf(bytes); // the caller may reuse its bytes while we wait
    } catch (error) {
      return Promise.reject(error as Error);
    }
    return this.#next(() => this.#write(own, stamp));
  }

  holds(bytes: Uint8Array): boolean {
    return this.#seen?.stamp !== undefined && this.#seen.stamp === stampOf(bytes);
  }

  remove(): Promise<void> {
    return this.#next(async () => {
      await this.#alone(() => {
        try {
          unlinkSync(this.#target);
        } catch (error) {
          if (codeOf(error) !== 'ENOENT') throw error;
        }
      });
      this.#seen = null;
      await this.#forceFolder();
    });
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work).catch((error: unknown) => {
      throw fileError(this.#path, error);
    });
    this.#queue = done.catch(() => undefined);
    return done;
  }

  async #read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let file: FileHandle;
    try {
      file = await open(this.#target, 'r');
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      this.#seen = null;
      return undefined;
    }
    try {
      const found = await file.stat({ bigint: true });
      checkRegular(found, this.#path);
      const bytes = new Uint8Array(Number(found.size));
      for (let at = 0; at < bytes.byteLength; ) {
        const { bytesRead } = await file.read(bytes, at, bytes.byteLength - at, at);
        if (bytesRead === 0) {
          throw new DpcacheError('unavailable', `${this.#path}: became shorter while it was read`);
        }
        at += bytesRead;
      }
      this.#seen = { stat: found, stamp: stampOf(bytes) };
      return bytes;
    } finally {
      await file.close();
    }
  }

  async #write(bytes: Uint8Array, stamp: string): Promise<void> {
    await this.#removeLeftovers();
    const thread = isMainThread ? '' : `-${threadId}`;
    const temporary = join(
      this.#folder,
      `${this.#hidden}tmp-${process.pid}${thread}-${(temporaries += 1)}`,
    );
    await unlink(temporary).catch(() => undefined); // of an earlier process with this number
    const file = await open(temporary, 'wx', 0o666);
    try {
      let written: BigIntStats;
      try {
        const old = await statOf(this.#target, this.#path);
        if (old) await keepOwner(file, old);
        for (let at = 0; at < bytes.byteLength; ) {
          at += (await file.write(bytes, at, bytes.byteLength - at)).bytesWritten;
        }
        await file.sync();
        written = await file.stat({ bigint: true });
      } finally {
        await file.close();
      }
      await this.#alone(() => {
        this.#checkUnchanged();
        renameSync(temporary, this.#target);
      });
      this.#seen = { stat: written, stamp };
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
    await this.#forceFolder();
  }

  // Without await, so that only a crash can leave the swap file behind.
  async #alone(work: () => void): Promise<void> {
    const swap = join(this.#folder, `${this.#hidden}swap`);
    const deadline = Date.now() + 5 * kStaleSwapMs;
    let seen: { ino: bigint; since: number } | undefined;
    for (;;) {
      try {
        closeSync(openSync(swap, 'wx', 0o666));
        break;
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
      const now = Date.now();
      const ino = (await statOf(swap, this.#path))?.ino;
      if (ino === undefined) seen = undefined;
      else if (ino !== seen?.ino) seen = { ino, since: now };
      else if (now - seen.since > kStaleSwapMs) {
        await unlink(swap).catch(() => undefined);
        seen = undefined;
      }
      if (now > deadline) {
        throw new DpcacheError('unavailable', `${this.#path}: others write it all the time`);
      }
      await pause(5);
    }
    try {
      this.#checkLock();
      work();
    } finally {
      unlinkSync(swap);
    }
  }

  #checkLock(): void {
    try {
      const lock = statSync(join(this.#folder, `${this.#hidden}lock`), { bigint: true });
      const held = readFileSync('/proc/locks', 'utf8')
        .split('\n')
        .some((line) => line.includes('FLOCK') && line.includes(`:${lock.ino} `));
      if (!held) return;
    } catch {
      return; // no such file, or no such list
    }
    throw new DpcacheError(
      'unavailable',
      `${this.#path}: is in use by another process (try again when it has ended)`,
    );
  }

  #checkUnchanged(): void {
    let now: BigIntStats;
    try {
      now = statSync(this.#target, { bigint: true });
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return; // taken away: nobody's items are lost
      throw error;
    }
    if (this.#seen) {
      const { stat: then, stamp } = this.#seen;
      const same = (['dev', 'ino', 'size', 'mtimeNs'] as const).every(
        (field) => now[field] === then[field],
      );
      if (same) return;
      // Copied or touched, it is still what was read.
      if (stamp !== undefined && stampOfFile(this.#target) === stamp) return;
    }
    throw conflict(this.#path);
  }

  // Of processes that were killed while they wrote.
  async #removeLeftovers(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (!name.startsWith(`${this.#hidden}tmp-`)) continue;
      const pid = Number.parseInt(name.slice(this.#hidden.length + 'tmp-'.length), 10);
      // A process of another machine may look dead, but writes now.
      if (!isAlive(pid)) await removeOlder(join(this.#folder, name), kStaleTemporaryMs);
    }
  }

  async #forceFolder(): Promise<void> {
    let folder: FileHandle | undefined;
    try {
      folder = await open(this.#folder, 'r');
      await folder.sync();
    } catch (error) {
      // Some systems cannot open or force a folder, and do it by themselves.
      if (codeOf(error) === 'EIO') throw error;
    } finally {
      await folder?.close();
    }
  }
}

// Whoever may read the old file may read the new one, and nobody else.
async function keepOwner(file: FileHandle, old: BigIntStats): Promise<void> {
  if (process.platform === 'win32') return;
  const [user, group] = [Number(old.uid), Number(old.gid)];
  const mine = await file.stat();
  if (mine.uid !== user || mine.gid !== group) {
    await file.chown(user, group).catch(() => undefined); // only root can give files away
    const { uid } = await file.stat();
    if (uid !== user) await file.chown(uid, group).catch(() => undefined);
  }
  await file.chmod(Number(old.mode) & 0o7777);
}

// The header alone is read. It is small, and nobody writes into a memory in place.
function stampOfFile(path: string): string | undefined {
  const file = openSync(path, 'r');
  try {
    const part = (from: number, to: number): Uint8Array => {
      const bytes = new Uint8Array(to - from);
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.byteLength, from));
    };
    const size = fstatSync(file).size;
    const header = headerRange(size, part(0, 8));
    return header && stampIn(part(...header));
  } finally {
    closeSync(file);
  }
}

// The file behind symbolic links, which need not exist yet.
async function behindLinks(path: string, shown: string): Promise<string> {
  let target = path;
  for (let links = 0; links < 40; ++links) {
    try {
      target = resolve(dirname(target), await readlink(target));
    } catch (error) {
      if (['EINVAL', 'ENOENT', 'UNKNOWN'].includes(codeOf(error) ?? '')) return target;
      throw fileError(shown, error);
    }
  }
  throw new DpcacheError('bad_request', `${shown}: too many levels of symbolic links`);
}

async function statOf(path: string, shown: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError(shown, error);
  }
}

function checkRegular(found: BigIntStats, shown: string): void {
  if (found.isFile()) return;
  throw new DpcacheError('bad_request', `${shown}: is not a regular file (name a memory file)`);
}

async function removeOlder(path: string, milliseconds: number): Promise<void> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs >= milliseconds) await unlink(path);
  } catch {
    // Somebody else was faster.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

function fileError(path: string, error: unknown): DpcacheError {
  if (error instanceof DpcacheError) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const say = (word: DpcacheError['code'], what: string): DpcacheError =>
    new DpcacheError(word, `${path}: ${what}`);
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return say('full', `no room is left (${message}); the file is as it was before`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return say('unavailable', `may not be read or written (${message})`);
    case 'ENOENT':
    case 'ENOTDIR':
      return say('not_found', 'its folder does not exist (create it first)');
    default:
      return say('unavailable', message);
  }
}

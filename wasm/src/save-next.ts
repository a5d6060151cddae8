// Saving with the generation counted up, as the command line does.
//
// The generation is a counter in the memory's metadata. Whoever holds a memory can tell by it that
// somebody else has saved since, even where nothing but the metadata changed.

/** What saving needs of a cache; the methods of a worker's cache give promises. */
export interface Saveable {
  metadata(): Record<string, string> | Promise<Record<string, string>>;
  setMetadata(metadata: Record<string, string>): void | Promise<void>;
  save(): Uint8Array | Promise<Uint8Array>;
}

// A worker's cache does all of it in one message, since its metadata could change between two.
export const kSaveNext: unique symbol = Symbol.for('dpcache.saveNext') as never;

export interface SavesItself {
  [kSaveNext](): Promise<Uint8Array>;
}

export function generationOf(metadata: Record<string, string>): number {
  return Number.parseInt(metadata['generation'] ?? '', 10) || 0;
}

// In one go, without a promise, for a cache of this thread.
export function saveNext(cache: Saveable | SavesItself): Uint8Array | Promise<Uint8Array> {
  if (kSaveNext in cache) return cache[kSaveNext]();
  const metadata = cache.metadata();
  if (metadata instanceof Promise) return saveLater(cache, metadata);
  void cache.setMetadata(next(metadata));
  return cache.save();
}

async function saveLater(
  cache: Saveable,
  metadata: Promise<Record<string, string>>,
): Promise<Uint8Array> {
  await cache.setMetadata(next(await metadata));
  return cache.save();
}

function next(metadata: Record<string, string>): Record<string, string> {
  return { ...metadata, generation: String(generationOf(metadata) + 1) };
}

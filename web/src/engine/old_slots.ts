// The slots of an opened memory: what the page lists of them, where they stand, when they go.
import type { Cache } from 'dpcache';
import type { Layout } from './layout';
import { exampleOf, labelLength } from './memory';
import type { OldSlot } from './protocol';

export const placedWell = 3000; // slots after these are placed by their nearest one alone
export const neighbours = 6;

/** The slots that are there already, each with a place in the picture. */
export function oldSlots(
  cache: Cache,
  layout: Layout,
): { slots: (OldSlot & { expires: boolean })[]; places: Float32Array<ArrayBuffer> } {
  const slots: (OldSlot & { expires: boolean })[] = [];
  const places: number[] = [];
  for (const slot of cache.slots({ limit: cache.size || 1 })) {
    const { id, key, count, usage } = slot;
    const example = exampleOf(slot.payload).slice(0, labelLength);
    slots.push({ id, count, usage, example, expires: slot.expires !== null });
    const [matches] =
      slots.length <= placedWell ? cache.score([{ key }], { k: neighbours, time: null }) : [];
    const place = layout.place(
      id,
      (matches ?? []).filter(({ slot }) => slot < id),
    );
    places.push(place.x, place.y);
  }
  return { slots, places: Float32Array.from(places) };
}

/** Fills a list with the slots that expired before each item, in the order of items. */
export function watchExpiry(cache: Cache): number[][] {
  const before: number[][] = [];
  let waiting: number[] = [];
  cache.onEvent(({ kind, removed }) => {
    if (kind === 'expire') waiting.push(...removed);
    if (kind !== 'observe') return;
    before.push(waiting);
    waiting = [];
  });
  return before;
}

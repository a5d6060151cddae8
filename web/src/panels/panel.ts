// What each panel of the page is, and what it sees of the page's state.
import type { MemoryInfo, StreamInfo } from '../engine/protocol';
import { guardNames, type Settings } from '../settings';
import type { Moment } from '../state/moment';
import type { Results } from '../state/results';

export interface PageState {
  settings: Settings;
  stream: StreamInfo;
  memory: MemoryInfo | null;
  /** The moment that is shown. */
  moment: Moment;
  /** Grows with each new replay that is shown. */
  replay: number;
  isPlaying: boolean;
  /** Items a second. */
  speed: number;
  /** The slot that is looked at, or 0. */
  selected: number;
}

export interface Panel {
  /** The element that must be in sight for the panel to be drawn; null: always. */
  readonly area: HTMLElement | null;
  /** Shows the state; true asks for another frame although nothing changes. */
  draw(state: PageState, now: number): boolean;
}

/** The text that stands for an item or a slot. */
export const labelOf = (state: PageState, item: number): string => state.stream.labels[item] ?? '';

export function exampleFor(
  state: PageState,
  slot: { firstItem: number; lastItem: number; oldExample: string | null },
): string {
  const keepsFirst = state.moment.results.begin.config.valueUpdate === 'first';
  if (!keepsFirst && slot.lastItem >= 0) return labelOf(state, slot.lastItem);
  return slot.oldExample ?? labelOf(state, slot.firstItem);
}

/** The guards that stopped merges of an item, by their names; usually none. */
export function guardsAt({ guarded }: Results, item: number): string {
  const bits = guarded[item] as number;
  return bits === 0 ? '' : guardNames.filter((_, i) => (bits >> i) & 1).join(', ');
}

/** What became of a slot, by what stands in its place. */
export const howGone = (into: number): string =>
  into > 0 ? `folded into ${into}` : into < 0 ? 'expired' : 'evicted';

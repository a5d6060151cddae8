// The slots: the picture, what it shows in words, and which slot is looked at.
import { Canvas } from '../draw/canvas';
import { SlotsPicture } from '../draw/slots_picture';
import { counted, find, prefersStillness, setText, whole } from '../dom';
import { exampleFor, howGone, labelOf, type PageState, type Panel } from './panel';

export class SlotsPanel implements Panel {
  readonly area = find('slots-picture', HTMLElement).parentElement;
  readonly #canvas: Canvas;
  readonly #picture = new SlotsPicture();
  readonly #summary = find('slots-summary', HTMLElement);

  constructor(onChange: () => void, select: (slot: number) => void) {
    const element = find('slots-picture', HTMLCanvasElement);
    this.#canvas = new Canvas(element, onChange);
    element.addEventListener('pointermove', (event) => {
      if (event.pointerType === 'mouse') {
        element.classList.toggle('pointing', this.#under(event) > 0);
      }
    });
    element.addEventListener('click', (event) => select(this.#under(event)));
  }

  /** The slot at that place, or the nearest one within a finger's width; else 0. */
  #under(event: MouseEvent): number {
    let best = 0;
    let least = 12;
    for (const { slot, x, y, radius } of this.#picture.drawn) {
      const away = Math.hypot(event.offsetX - x, event.offsetY - y) - radius;
      if (away < least) {
        least = away;
        best = slot.id;
      }
    }
    return best;
  }

  draw(state: PageState): boolean {
    setText(this.#summary, this.#words(state));
    const surface = this.#canvas.begin();
    if (!surface) return false; // the members of a slot may be there instead
    return this.#picture.draw(surface, state.moment, state.selected, prefersStillness());
  }

  #words(state: PageState): string {
    const { moment } = state;
    const slot = moment.slots.get(state.selected);
    if (slot) {
      const recent = slot.recent
        .map((item) => `“${labelOf(state, item).slice(0, 80)}”`)
        .slice(0, 2);
      const gone = slot.goneItem < 0 ? '' : ` (${howGone(slot.goneInto)})`;
      const examples = recent.join(' and ') || `“${exampleFor(state, slot)}”`;
      return `Slot ${slot.id}${gone}: ${counted(slot.count, 'item')}, the latest ${examples}.`;
    }
    let words = counted(moment.live, 'slot');
    if (moment.evicted > 0) words += `, ${whole(moment.evicted)} evicted`;
    if (moment.folded > 0) words += `, ${whole(moment.folded)} folded`;
    if (moment.expired > 0) words += `, ${whole(moment.expired)} expired`;
    if (moment.live === 0) return 'No slot yet.';
    let largest = null;
    for (const one of moment.slots.values()) {
      if (one.goneItem < 0 && (!largest || one.count > largest.count)) largest = one;
    }
    if (largest) {
      const count = counted(largest.count, 'item');
      const example = exampleFor(state, largest);
      words += `. The largest, slot ${largest.id}, took ${count}: “${example}”`;
    }
    return words;
  }
}

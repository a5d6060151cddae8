// The table of slots: searched, sorted, and holding only the rows that can be seen.
import { find, make, setText, whole } from '../dom';
import type { SlotState } from '../state/moment';
import { exampleFor, howGone, type PageState, type Panel } from './panel';

const rowHeight = 31;
const headHeight = 28;
const spare = 4;
const calm = 120; // milliseconds between two sorts while the stream plays

interface Row {
  element: HTMLTableRowElement;
  button: HTMLButtonElement;
  count: HTMLElement;
  example: HTMLElement;
  slot: number;
  /** What the row's attributes say, so that they are written only when that changes. */
  looks: string;
}

export class SlotTable implements Panel {
  readonly area = find('slot-rows', HTMLElement);
  readonly #scroller = find('slot-rows', HTMLElement);
  readonly #table = find('slot-table', HTMLTableElement);
  readonly #body = find('slot-body', HTMLElement);
  readonly #search = find('slot-search', HTMLInputElement);
  readonly #order = find('slot-order', HTMLSelectElement);
  readonly #gone = find('slot-gone', HTMLInputElement);
  readonly #above = space();
  readonly #below = space();
  readonly #rows: Row[] = [];
  readonly #select: (slot: number) => void;
  #listed: SlotState[] = [];
  #key = '';
  #sortedAt = 0;
  // As the browser told: to ask it while drawing would cost a layout.
  #scrollTop = 0;
  #height = 0;
  #total = -1;

  constructor(onChange: () => void, select: (slot: number) => void) {
    this.#select = select;
    this.#body.append(this.#above.row, this.#below.row);
    this.#scroller.addEventListener(
      'scroll',
      () => {
        this.#scrollTop = Math.max(0, this.#scroller.scrollTop);
        onChange();
      },
      { passive: true },
    );
    new ResizeObserver(([entry]) => {
      this.#height = entry?.contentRect.height ?? 0;
      onChange();
    }).observe(this.#scroller);
    for (const control of [this.#search, this.#order, this.#gone]) {
      control.addEventListener('input', () => {
        this.#key = '';
        this.#scroller.scrollTop = 0;
        onChange();
      });
    }
  }

  draw(state: PageState, now: number): boolean {
    const key = `${state.replay}:${state.moment.at}`;
    let isLate = false;
    if (key !== this.#key) {
      if (this.#key !== '' && state.isPlaying && now - this.#sortedAt < calm) {
        isLate = true;
      } else {
        this.#key = key;
        this.#sortedAt = now;
        this.#listed = this.#list(state);
      }
    }
    this.#fill(state);
    return isLate;
  }

  #list(state: PageState): SlotState[] {
    const words = this.#search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isWanted = (slot: SlotState): boolean => {
      if (slot.goneItem >= 0 && !this.#gone.checked) return false;
      if (words.length === 0) return true;
      const text = `${slot.id} ${exampleFor(state, slot)}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const list = [...state.moment.slots.values()].filter(isWanted);
    if (this.#order.value === 'count') list.sort((a, b) => b.count - a.count || a.id - b.id);
    if (this.#order.value === 'new') list.reverse();
    return list;
  }

  #fill(state: PageState): void {
    const listed = this.#listed;
    const fits = Math.ceil((this.#height - headHeight) / rowHeight) + 2 * spare;
    const wanted = Math.floor(this.#scrollTop / rowHeight) - spare;
    const first = Math.max(0, Math.min(wanted, listed.length - fits));
    const last = Math.min(listed.length, first + fits);
    while (this.#rows.length < last - first) this.#rows.push(this.#makeRow());
    this.#above.set(first * rowHeight);
    this.#below.set((listed.length - last) * rowHeight);
    if (this.#total !== listed.length) {
      this.#total = listed.length;
      this.#table.setAttribute('aria-rowcount', String(listed.length + 1));
    }
    for (const [i, row] of this.#rows.entries()) {
      const slot = listed[first + i];
      const isHidden = first + i >= last || !slot;
      if (row.element.hidden !== isHidden) row.element.hidden = isHidden;
      if (isHidden || !slot) continue;
      const isSelected = slot.id === state.selected;
      const looks = `${slot.id}:${first + i}:${isSelected}:${slot.goneItem}`;
      if (row.looks !== looks) {
        row.looks = looks;
        row.slot = slot.id;
        row.element.setAttribute('aria-rowindex', String(first + i + 2));
        row.element.classList.toggle('selected', isSelected);
        row.element.classList.toggle('gone', slot.goneItem >= 0);
        row.button.setAttribute('aria-pressed', String(isSelected));
      }
      setText(row.button, String(slot.id));
      setText(row.count, whole(slot.count));
      setText(row.example, exampleFor(state, slot));
      if (slot.goneItem >= 0) {
        row.example.dataset['gone'] =
          `${howGone(slot.goneInto)} at item ${whole(slot.goneItem + 1)} · `;
      }
    }
  }

  #makeRow(): Row {
    const element = make('tr');
    const idCell = make('td');
    const button = make('button');
    button.type = 'button';
    idCell.append(button);
    const count = make('td');
    const example = make('td');
    element.append(idCell, count, example);
    this.#below.row.before(element);
    const row: Row = { element, button, count, example, slot: 0, looks: '' };
    button.addEventListener('click', () => this.#select(row.slot));
    return row;
  }
}

/** An empty row that stands for those that are not there. */
function space(): { row: HTMLTableRowElement; set(height: number): void } {
  const row = make('tr');
  row.setAttribute('aria-hidden', 'true');
  row.hidden = true;
  const cell = make('td', 'space');
  cell.colSpan = 3;
  row.append(cell);
  let was = 0;
  const set = (height: number): void => {
    if (height === was) return;
    was = height;
    cell.style.setProperty('height', `${height}px`);
    row.hidden = height === 0;
  };
  return { row, set };
}

// The stream: what became of each item, in a list that holds only the rows that can be seen.
import { find, fraction, make, setText, whole } from '../dom';
import { guardsAt, labelOf, type PageState, type Panel } from './panel';

const rowHeight = 46;
const spare = 3; // rows above and below what can be seen

interface Row {
  element: HTMLLIElement;
  text: HTMLElement;
  what: HTMLElement;
  mini: HTMLElement;
  why: HTMLElement;
  more: HTMLElement;
  shown: string;
}

function makeRow(): Row {
  const element = make('li', 'row');
  const text = make('div', 'row-text');
  const words = make('div', 'row-words');
  const what = make('span', 'row-what');
  const mini = make('span', 'mini');
  mini.setAttribute('aria-hidden', 'true');
  const why = make('span', 'row-why');
  const more = make('span', 'row-more');
  words.append(mini, what, why, more);
  element.append(text, words);
  return { element, text, what, mini, why, more, shown: '' };
}

export class StreamPanel implements Panel {
  readonly area: null = null;
  readonly #scroller = find('rows', HTMLElement);
  readonly #list = find('row-list', HTMLElement);
  readonly #empty = find('rows-empty', HTMLElement);
  readonly #rows: Row[] = [];
  #follows = true;
  #height = 0;
  #scrollTop = 0;
  #at = -1;
  #drawnAt = 0;

  constructor(onScroll: () => void) {
    this.#scroller.addEventListener(
      'scroll',
      () => {
        this.#scrollTop = this.#scroller.scrollTop;
        // Whoever scrolls up wants to read; at the end the list follows again.
        this.#follows = this.#scrollTop + this.#height >= this.#at * rowHeight - rowHeight;
        onScroll();
      },
      { passive: true },
    );
    new ResizeObserver(([entry]) => {
      this.#height = entry?.contentRect.height ?? 0;
      onScroll();
    }).observe(this.#scroller);
  }

  draw(state: PageState, now: number): boolean {
    // So fast that no row stays for two frames: every other frame is enough.
    if (state.isPlaying && state.speed > 500 && this.#follows) {
      if (now - this.#drawnAt < 25) return true;
      this.#drawnAt = now;
    }
    const { at } = state.moment;
    if (at !== this.#at) {
      this.#list.style.setProperty('height', `${at * rowHeight}px`);
      if (at < this.#at) this.#follows = true;
      this.#at = at;
      this.#empty.hidden = at > 0;
    }
    const top = this.#follows ? Math.max(0, at * rowHeight - this.#height) : this.#scrollTop;
    const first = Math.max(0, Math.floor(top / rowHeight) - spare);
    const last = Math.min(at, Math.ceil((top + this.#height) / rowHeight) + spare);
    this.#fill(state, first, last);
    // Last of all, because it costs a layout.
    if (top !== this.#scrollTop) {
      this.#scroller.scrollTop = top;
      this.#scrollTop = top;
    }
    return false;
  }

  /** Row i of the list always uses the same element, so that scrolling rewrites few of them. */
  #fill(state: PageState, first: number, last: number): void {
    const needed = Math.max(this.#rows.length, last - first);
    while (this.#rows.length < needed) {
      const row = makeRow();
      this.#rows.push(row);
      this.#list.append(row.element);
    }
    const used = new Set<Row>();
    for (let item = first; item < last; ++item) {
      const row = this.#rows[item % needed] as Row;
      used.add(row);
      const key = `${state.replay}:${needed}:${item}`;
      if (row.shown === key) continue;
      row.shown = key;
      this.#write(row, state, item);
    }
    for (const row of this.#rows) {
      const isHidden = !used.has(row);
      if (row.element.hidden !== isHidden) row.element.hidden = isHidden;
      if (isHidden) row.shown = '';
    }
  }

  #write(row: Row, state: PageState, item: number): void {
    const { results } = state.moment;
    const opened = results.opened[item] === 1;
    const novelty = results.novelty[item] as number;
    const threshold = results.threshold[item] as number;
    const nearest = results.nearestSlot[item] as number;
    const { element } = row;
    element.style.setProperty('transform', `translateY(${item * rowHeight}px)`);
    element.setAttribute('aria-posinset', String(item + 1));
    element.setAttribute('aria-setsize', String(results.count));
    element.classList.toggle('opened', opened);
    setText(row.text, `${whole(item + 1)}  ${labelOf(state, item)}`);
    const slot = results.slot[item] as number;
    setText(row.what, opened ? `opened slot ${slot}` : `joined slot ${slot}`);
    row.mini.style.setProperty('--novelty', String(Math.min(1, novelty)));
    row.mini.style.setProperty('--tau', String(Math.min(1, threshold)));
    const guarded = guardsAt(results, item);
    const isUncertain = results.uncertain[item] === 1;
    setText(row.why, guarded ? `guarded: ${guarded}` : isUncertain ? 'uncertain' : '');
    const sign = opened && novelty > threshold ? '>' : '≤';
    let more = `novelty ${fraction(novelty)} ${sign} ${fraction(threshold)}`;
    const merge = results.begin.config.tauMerge;
    if (isUncertain && merge !== undefined) more = `${fraction(merge)} < ${more}`;
    if (nearest > 0) {
      more += ` · nearest miss slot ${nearest}, ${fraction(results.nearest[item] as number)} alike`;
    }
    const gone = goneAt(state, item);
    setText(row.more, gone ? `${more} · ${gone}` : more);
  }
}

/** What the budget took away at that item. */
function goneAt(state: PageState, item: number): string {
  const { gone } = state.moment.results;
  let low = 0;
  let high = gone.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((gone[middle]?.item ?? 0) < item) low = middle + 1;
    else high = middle;
  }
  const words: string[] = [];
  for (let i = low; gone[i]?.item === item; ++i) {
    const { slot, into } = gone[i] ?? { slot: 0, into: 0 };
    words.push(
      into > 0
        ? `folded slot ${slot} into ${into}`
        : `${into < 0 ? 'expired' : 'evicted'} slot ${slot}`,
    );
  }
  return words.join(', ');
}

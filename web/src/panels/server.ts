// The server's tab: its caches with live counters, one of them in detail, and its events.
//
// It asks when it is first looked at, then once a second while it is in sight. The token stays in
// this object.
import { Cache, DpcacheError, listCaches, type CacheLine, type Stats } from 'dpcache/remote';
import { counted, find, make, setText, whole } from '../dom';
import type { Shown } from '../tabs';
import { ServerTail } from './server_tail';

const pollMs = 1000;
/** Rates are over so many polls at most. */
const windowLength = 10;
/** The largest slot is looked for so often, among so many slots. */
const largestMs = 15_000;
const largestOf = 5000;

type Figure = Pick<CacheLine, 'items' | 'allocations' | 'seq'> & { at: number };

const percent = (part: number, all: number): string => {
  if (all <= 0) return '–';
  const share = (100 * part) / all;
  if (share === 0) return '0 %';
  return share < 0.1 ? '<0.1 %' : `${share.toFixed(share < 10 ? 1 : 0)} %`;
};

function memory(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  for (; size >= 1000 && unit < units.length - 1; ++unit) size /= 1000;
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** The address of the server: of the page, without its last part. */
const address = (): string => new URL('.', location.origin + location.pathname).href;

export class ServerPanel implements Shown {
  readonly #words = find('server-words', HTMLElement);
  readonly #none = find('server-none', HTMLElement);
  readonly #form = find('server-form', HTMLFormElement);
  readonly #tokenField = find('server-token', HTMLInputElement);
  readonly #rows = find('cache-rows', HTMLElement);
  readonly #body = find('cache-body', HTMLTableSectionElement);
  readonly #noCache = find('cache-none', HTMLElement);
  readonly #detail = find('cache', HTMLElement);
  readonly #title = find('cache-title', HTMLElement);
  readonly #figures = find('cache-figures', HTMLElement);
  readonly #warning = find('cache-warning', HTMLElement);
  readonly #tailArea = find('tail', HTMLElement);
  readonly #tail = new ServerTail();

  #token: string | undefined;
  #isShown = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #history = new Map<string, Figure[]>(); // by cache, the oldest first
  #bytes = 0; // of the selected one, with all that the server keeps for it
  #selected: string | undefined;
  #cache: Cache | undefined; // the selected one, once it is open
  #largest: { count: number; isAll: boolean; at: number } | undefined;
  #visit = 0; // grows when what is under way is no longer wanted

  constructor() {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#token = this.#tokenField.value.trim() || undefined;
      this.#start();
    });
    find('server-again', HTMLButtonElement).addEventListener('click', () => this.#start());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible' && this.#isShown) this.#start();
      else this.#stop();
    });
    setText(
      find('cache-command', HTMLElement),
      `curl -X PUT ${address()}v1/caches/mine --json '{"text": true}'`,
    );
  }

  show(): void {
    this.#isShown = true;
    this.#start();
  }

  hide(): void {
    this.#isShown = false;
    this.#stop();
  }

  get #server(): { url: string; token: string | undefined } {
    return { url: address(), token: this.#token };
  }

  #start(): void {
    this.#stop();
    void this.#poll(this.#visit, true);
  }

  #stop(): void {
    ++this.#visit;
    clearTimeout(this.#timer);
    void this.#cache?.dispose();
    this.#cache = undefined;
  }

  async #poll(visit: number, isFirst: boolean): Promise<void> {
    try {
      // The first answer decides whether there is a server: it is not waited for.
      const lines = await listCaches({ ...this.#server, retries: 0, timeoutMs: 10_000 });
      if (visit !== this.#visit) return;
      this.#showLines(lines);
      await this.#showDetail(visit);
    } catch (error) {
      if (visit !== this.#visit) return;
      if (this.#showFailure(DpcacheError.from(error), isFirst)) return;
    }
    if (visit !== this.#visit) return;
    this.#timer = setTimeout(() => void this.#poll(visit, false), pollMs);
  }

  /** Says what is wrong; true: asking again by itself would not help. */
  #showFailure({ code, message, errors }: DpcacheError, isFirst: boolean): boolean {
    const wantsToken = code === 'unauthorized' || code === 'forbidden';
    if (wantsToken || errors[0]?.pointer === '/token') {
      const isRefused = this.#token !== undefined;
      this.#token = undefined;
      this.#showOnly(this.#form);
      setText(this.#words, isRefused ? 'That token is not one of this server.' : '');
      this.#tokenField.focus();
      return true;
    }
    if (isFirst && this.#body.childElementCount === 0) {
      this.#showOnly(this.#none);
      setText(this.#words, 'There is no server here.');
      return true;
    }
    setText(this.#words, `The server does not answer (${message}); asking again …`);
    return false;
  }

  #showOnly(shown: HTMLElement | undefined): void {
    const all = [this.#none, this.#form, this.#rows, this.#noCache, this.#detail, this.#tailArea];
    for (const one of all) one.hidden = one !== shown;
  }

  #showLines(lines: readonly CacheLine[]): void {
    const sum = (of: (line: CacheLine) => number): number =>
      lines.reduce((total, line) => total + of(line), 0);
    setText(
      this.#words,
      [
        counted(lines.length, 'cache'),
        counted(sum(({ items }) => items), 'item'),
        counted(sum(({ slots }) => slots), 'slot'),
        memory(sum(({ bytes }) => bytes)),
      ].join(' · '),
    );
    const at = performance.now();
    const before = this.#history;
    this.#history = new Map();
    for (const { name, items, allocations, seq } of lines) {
      const known = before.get(name) ?? [];
      // One that has fewer is another one of that name.
      const list = (known.at(-1)?.seq ?? 0) > seq ? [] : known.slice(-windowLength);
      this.#history.set(name, [...list, { items, allocations, seq, at }]);
    }
    if (!lines.some(({ name }) => name === this.#selected)) this.#select(lines[0]?.name);
    const isEmpty = lines.length === 0;
    this.#none.hidden = this.#form.hidden = true;
    this.#noCache.hidden = !isEmpty;
    this.#rows.hidden = isEmpty;
    this.#detail.hidden = this.#tailArea.hidden = isEmpty;
    lines.forEach((line, i) => this.#showLine(line, i));
    this.#bytes = lines.find(({ name }) => name === this.#selected)?.bytes ?? 0;
    while (this.#body.childElementCount > lines.length) this.#body.lastElementChild?.remove();
  }

  // Rows are kept, so that the focus stays where it is.
  #showLine(line: CacheLine, index: number): void {
    let row = this.#body.children[index] as HTMLTableRowElement | undefined;
    if (!row) {
      row = make('tr');
      const button = make('button');
      button.type = 'button';
      button.addEventListener('click', () => {
        this.#select(button.textContent ?? '');
        this.#start();
      });
      const head = make('td');
      head.append(button);
      row.append(head, ...Array.from({ length: 5 }, () => make('td')));
      this.#body.append(row);
    }
    const isSelected = line.name === this.#selected;
    row.classList.toggle('selected', isSelected);
    const [head, ...cells] = [...row.children];
    const button = head?.firstElementChild as HTMLButtonElement;
    setText(button, line.name);
    button.title = line.name;
    button.ariaPressed = String(isSelected);
    const { items: latest, seconds } = this.#lately(line.name);
    const texts = [
      whole(line.items),
      whole(line.slots),
      percent(line.allocations, line.items),
      seconds > 0 ? whole(Math.round(latest / seconds)) : '–',
      memory(line.bytes),
    ];
    cells.forEach((cell, i) => setText(cell, texts[i] ?? ''));
  }

  #lately(name: string): { items: number; allocations: number; seconds: number } {
    const list = this.#history.get(name) ?? [];
    const [first, last] = [list[0], list.at(-1)];
    if (!first || !last) return { items: 0, allocations: 0, seconds: 0 };
    return {
      items: last.items - first.items,
      allocations: last.allocations - first.allocations,
      seconds: (last.at - first.at) / 1000,
    };
  }

  #select(name: string | undefined): void {
    if (name === this.#selected) return;
    this.#selected = name;
    this.#largest = undefined;
    void this.#cache?.dispose();
    this.#cache = undefined;
    this.#tail.clear();
    this.#figures.replaceChildren();
    setText(this.#title, name ?? '');
  }

  async #showDetail(visit: number): Promise<void> {
    const name = this.#selected;
    if (name === undefined) return;
    if (!this.#cache) {
      const cache = await Cache.open({ ...this.#server, name });
      if (visit !== this.#visit || name !== this.#selected) return void cache.dispose();
      this.#cache = cache;
      await cache.onEvent((event) => this.#tail.add(event), {
        onError: (error) => {
          this.#tail.say(`No more events: ${error.message}`);
          if (this.#cache === cache) this.#cache = undefined; // opened anew if it comes back
        },
      });
    }
    const cache = this.#cache;
    const [stats, warning] = await Promise.all([cache.stats(), cache.warning()]);
    if (performance.now() - (this.#largest?.at ?? -Infinity) > largestMs) {
      const slots = await cache.slots({ keys: false, limit: largestOf });
      const count = slots.reduce((best, slot) => Math.max(best, slot.count), 0);
      this.#largest = { count, isAll: slots.length < largestOf, at: performance.now() };
    }
    if (visit === this.#visit && name === this.#selected) this.#showFigures(name, stats, warning);
  }

  #showFigures(name: string, stats: Stats, warning: string): void {
    const { items, allocations, seconds } = this.#lately(name);
    const { count = 0, isAll = true } = this.#largest ?? {};
    const goneBut = stats.folds + stats.expirations + stats.erasures;
    const figures: [label: string, value: string, more: string][] = [
      [
        'Items',
        whole(stats.items),
        seconds > 0 ? `${whole(Math.round(items / seconds))} a second` : '',
      ],
      [
        'Slots',
        whole(stats.slots),
        stats.budget === null ? 'no budget' : `budget ${whole(Math.floor(stats.budget))}`,
      ],
      [
        'Novelty rate',
        percent(stats.allocations, stats.items),
        items > 0 ? `${percent(allocations, items)} lately` : '',
      ],
      ['Merges', whole(stats.merges), percent(stats.merges, stats.items)],
      ['Allocations', whole(stats.allocations), ''],
      ['Evictions', whole(stats.evictions), goneBut > 0 ? `${whole(goneBut)} gone otherwise` : ''],
      ['Largest slot', percent(count, stats.items), `of the items${isAll ? '' : ', or more'}`],
      [
        'Memory',
        memory(this.#bytes),
        stats.slots > 0 ? `${memory(this.#bytes / stats.slots)} a slot` : '',
      ],
    ];
    if (this.#figures.childElementCount === 0) {
      for (const [label] of figures) {
        const group = make('div');
        const value = make('dd');
        value.append(make('span'), make('small'));
        group.append(make('dt', '', label), value);
        this.#figures.append(group);
      }
    }
    figures.forEach(([, value, more], i) => {
      const [text, small] = [...(this.#figures.children[i]?.lastElementChild?.children ?? [])];
      if (text) setText(text, value);
      if (small) setText(small, more);
    });
    this.#warning.hidden = warning === '';
    setText(this.#warning, warning);
  }
}

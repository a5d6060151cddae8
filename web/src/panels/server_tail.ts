// The latest events of a cache on the server, as rows.
import type { CacheEvent } from 'dpcache/remote';
import { counted, find, fraction, make, setText, whole } from '../dom';

const most = 100;
/** Between two drawings: events can come by thousands a second. */
const pauseMs = 250;

const time = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });

function whatOf({ kind, decision, removed, folded }: CacheEvent): [what: string, more: string] {
  switch (kind) {
    case 'observe': {
      const gone = removed.length + folded.length;
      return [
        `${decision?.action === 'allocate' ? 'opens' : 'joins'} ${decision?.slot ?? ''}`,
        gone > 0 ? `${counted(gone, 'slot')} gone` : '',
      ];
    }
    case 'erase':
      return [`erased ${removed[0] ?? ''}`, ''];
    case 'expire':
      return ['expired', counted(removed.length, 'slot')];
    case 'consolidate':
      return ['folded', counted(folded.length, 'slot')];
    case 'config':
      return ['configured', ''];
    case 'split':
      return ['undone', 'a merge'];
    case 'must_not_merge':
      return ['kept apart', ''];
    case 'must_merge':
      return ['joined', ''];
    case 'review':
      return ['reviewed', ''];
  }
}

/** What stands for the item: its payload, in a few words. */
function payloadOf({ item }: CacheEvent): string {
  const payload = item?.payload;
  if (payload === undefined) return '';
  return (typeof payload === 'string' ? payload : JSON.stringify(payload)).slice(0, 200);
}

function timeOf(ms: number): string {
  return Math.abs(ms) < 8.64e15 ? time.format(ms) : '';
}

function rowOf(event: CacheEvent): HTMLLIElement {
  const isOpened = event.decision?.action === 'allocate';
  const row = make('li', isOpened ? 'opened' : event.kind === 'observe' ? '' : 'gone');
  const [what, more] = whatOf(event);
  const novelty = make('span', 'tail-novelty');
  if (event.decision) {
    novelty.append(make('span', '', 'novelty '), fraction(event.decision.novelty));
  }
  const words = [more, payloadOf(event), timeOf(event.time)].filter(Boolean).join(' · ');
  row.append(
    make('span', 'tail-seq', whole(event.seq)),
    make('span', 'tail-what', what),
    novelty,
    make('span', 'tail-more', words),
  );
  return row;
}

export class ServerTail {
  readonly #list = find('tail-list', HTMLOListElement);
  readonly #words = find('tail-words', HTMLElement);
  readonly #none = find('tail-none', HTMLElement);
  readonly #hold = find('tail-hold', HTMLInputElement);
  #latest: CacheEvent[] = []; // not drawn yet, the oldest first
  #heard = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#hold.addEventListener('change', () => this.#draw());
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#latest = [];
    this.#heard = 0;
    this.#list.replaceChildren();
    this.#none.hidden = false;
    setText(this.#words, '');
  }

  add(event: CacheEvent): void {
    ++this.#heard;
    this.#latest.push(event);
    if (this.#latest.length > 2 * most) this.#latest.splice(0, most); // too many to show
    this.#timer ??= setTimeout(() => this.#draw(), pauseMs);
  }

  say(text: string): void {
    setText(this.#words, text);
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#heard === 0) return;
    setText(this.#words, `${counted(this.#heard, 'event')} since you look`);
    if (this.#hold.checked) return;
    this.#none.hidden = true;
    const rows = this.#latest.slice(-most).reverse().map(rowOf);
    this.#latest = [];
    this.#list.prepend(...rows);
    while (this.#list.childElementCount > most) this.#list.lastElementChild?.remove();
  }
}

// Trust: the members of a slot, pairs that wait for a verdict, and pairs that are never merged.
// What a person says here is a correction, which the replay heeds from its moment on.
import type { Correction, MemberInfo, SlotRef, TrustInfo } from '../engine/protocol';
import { counted, find, fraction, make, setText, whole } from '../dom';
import { needsTrust } from '../settings';
import { exampleFor, type PageState, type Panel } from './panel';

const most = 200; // rows of a list: whoever has more searches
const calm = 400; // milliseconds between two questions while the stream plays

export interface TrustHost {
  /** What there is at the moment that is shown, with the members of a slot. */
  ask(slot: number): Promise<TrustInfo>;
  correct(correction: Correction): void;
  select(slot: number): void;
  touch(): void;
}

type Verdict = Extract<Correction, { kind: 'verdict' }>['verdict'];
interface Pair {
  slot: number;
  other: number;
  similarity?: number;
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-CA');

/** The time of today, the day of another one. */
function timeOf(time: number): string {
  const date = new Date(time);
  return date.toDateString() === new Date().toDateString() ? clock.format(date) : day.format(date);
}

export class TrustPanel implements Panel {
  readonly area: null = null;
  readonly #host: TrustHost;
  readonly #words = find('trust-words', HTMLElement);
  readonly #picture = find('slots-picture', HTMLElement);
  readonly #members = find('members', HTMLElement);
  readonly #title = find('members-title', HTMLElement);
  readonly #search = find('member-search', HTMLInputElement);
  readonly #body = find('member-body', HTMLElement);
  readonly #none = find('members-none', HTMLElement);
  readonly #reviews = find('review-list', HTMLElement);
  readonly #apart = find('apart-list', HTMLElement);
  #state: PageState | null = null;
  #info: TrustInfo | null = null;
  #key = '';
  #selected = 0;
  #isAsking = false;
  #askedAt = 0;

  constructor(host: TrustHost) {
    this.#host = host;
    this.#search.addEventListener('input', () => this.#fillMembers());
    find('members-close', HTMLButtonElement).addEventListener('click', () => {
      const { selected = 0 } = this.#state ?? {};
      if (selected > 0) host.select(selected);
      find('slot-rows', HTMLElement).focus();
    });
  }

  draw(state: PageState, now: number): boolean {
    this.#state = state;
    const isOn = needsTrust(state.settings);
    const hasAudit = isOn && state.settings.audit !== 'none';
    const isListed = hasAudit && state.selected > 0;
    this.#members.hidden = !isListed;
    this.#picture.hidden = isListed;
    if (state.selected !== this.#selected) this.#search.value = '';
    this.#selected = state.selected;
    const key = `${state.replay}:${state.moment.at}:${state.selected}:${isOn}`;
    if (key === this.#key || this.#isAsking) return false;
    if (!isOn) {
      this.#key = key;
      this.#show({ slot: 0, members: null, reviews: [], apart: [] });
      return false;
    }
    if (state.isPlaying && now - this.#askedAt < calm) return true;
    this.#isAsking = true;
    this.#askedAt = now;
    const done = (): void => {
      this.#key = key;
      this.#isAsking = false;
      this.#host.touch(); // the page may have moved on
    };
    this.#host.ask(state.selected).then(
      (info) => {
        this.#show(info);
        done();
      },
      // Another stream has come in between, and brings its own lists.
      () => done(),
    );
    return false;
  }

  #show(info: TrustInfo): void {
    this.#info = info;
    this.#fillMembers();
    this.#fill(this.#reviews, info.reviews, 'review-none', ['same', 'different']);
    this.#fill(this.#apart, info.apart, 'apart-none', ['same']);
    const { guarded, uncertain } = this.#counts();
    const parts = [
      guarded > 0 ? `${whole(guarded)} guarded` : '',
      uncertain > 0 ? `${whole(uncertain)} uncertain` : '',
      info.reviews.length > 0 ? `${whole(info.reviews.length)} to review` : '',
      info.apart.length > 0 ? `${counted(info.apart.length, 'pair')} kept apart` : '',
    ];
    setText(this.#words, parts.filter(Boolean).join(', '));
  }

  /** Of the items up to the moment that is shown. */
  #counts(): { guarded: number; uncertain: number } {
    let guarded = 0;
    let uncertain = 0;
    const { results, at } = this.#state?.moment ?? {};
    for (let i = 0; results && i < (at ?? 0); ++i) {
      if (results.guarded[i]) ++guarded;
      if (results.uncertain[i]) ++uncertain;
    }
    return { guarded, uncertain };
  }

  /** What has been said of a row needs not be said again: the row goes. */
  #correct(row: HTMLElement, correction: Correction): void {
    const list = row.parentElement;
    if (list) {
      this.#replace(
        list,
        [...list.children].filter((one) => one !== row),
      );
    }
    this.#host.correct(correction);
  }

  // --- Members

  #fillMembers(): void {
    const { slot = 0, members = null } = this.#info ?? {};
    setText(this.#title, `Members of slot ${slot}`);
    const words = this.#search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isWanted = ({ text, item }: MemberInfo): boolean => {
      const all = `${item + 1} ${text}`.toLowerCase();
      return words.every((word) => all.includes(word));
    };
    // The least alike are those that may be wrong.
    const found = (members ?? [])
      .filter(isWanted)
      .sort((a, b) => Number(b.opened) - Number(a.opened) || a.similarity - b.similarity);
    const isAlone = members?.length === 1;
    this.#replace(
      this.#body,
      found.slice(0, most).map((member) => this.#row(slot, member, isAlone)),
    );
    const more = found.length - most;
    setText(
      this.#none,
      members === null
        ? 'Nothing is kept of this slot’s items.'
        : more > 0
          ? `${whole(more)} more, each more alike: search for them.`
          : found.length === 0
            ? 'None of its members is like that.'
            : '',
    );
  }

  #row(slot: number, member: MemberInfo, isAlone: boolean): HTMLElement {
    const { item, seq, text, similarity, threshold, time, opened, guarded } = member;
    const row = make('tr');
    const name = item >= 0 ? whole(item + 1) : member.name;
    const said = make('td', '', `${name} ${text}`);
    said.title = text;
    if (guarded.length > 0) said.append(make('span', 'row-why', ` guarded: ${guarded.join(', ')}`));
    const when = make('td', '', timeOf(time));
    when.title = new Date(time).toISOString();
    const undo = make('td');
    const button = make('button', '', 'Split off');
    button.type = 'button';
    button.setAttribute('aria-label', `Split off ${name || 'this member'}`);
    button.disabled = isAlone;
    button.addEventListener('click', () => {
      const { at = 0 } = this.#state?.moment ?? {};
      const wanted = item >= 0 ? { item } : { slot, seq };
      this.#correct(row, { kind: 'split', at, member: wanted });
    });
    undo.append(button);
    row.append(
      said,
      make('td', '', opened ? 'opened' : fraction(similarity)),
      make('td', '', fraction(threshold)),
      when,
      undo,
    );
    return row;
  }

  // --- Pairs

  #fill(list: HTMLElement, pairs: readonly Pair[], none: string, verdicts: readonly Verdict[]): void {
    const rows = pairs.slice(0, most).map((pair) => this.#pair(pair, verdicts));
    if (pairs.length > most) {
      rows.push(make('li', 'empty', `and ${whole(pairs.length - most)} more`));
    }
    this.#replace(list, rows);
    find(none, HTMLElement).hidden = pairs.length > 0;
  }

  #pair(pair: Pair, verdicts: readonly Verdict[]): HTMLElement {
    const { similarity } = pair;
    const slot = Math.min(pair.slot, pair.other); // the older one
    const other = Math.max(pair.slot, pair.other);
    const row = make('li');
    const texts = make('div', 'pair-texts');
    texts.append(this.#text(slot), this.#text(other));
    const says = make('div', 'pair-says');
    if (similarity !== undefined) {
      says.append(make('span', 'pair-alike', `${fraction(similarity)} alike`));
    }
    for (const verdict of verdicts) {
      const label = verdicts.length > 1 ? verdict : 'merge after all';
      const button = make('button', '', label);
      button.type = 'button';
      button.setAttribute('aria-label', `${label}: slots ${slot} and ${other}`);
      button.addEventListener('click', () => {
        const { at = 0 } = this.#state?.moment ?? {};
        const [one, two] = [this.#ref(slot), this.#ref(other)];
        this.#correct(row, { kind: 'verdict', at, slot: one, other: two, verdict });
      });
      says.append(button);
    }
    row.append(texts, says);
    return row;
  }

  #text(id: number): HTMLElement {
    const slot = this.#state?.moment.slots.get(id);
    const text = this.#state && slot ? exampleFor(this.#state, slot) : '';
    const line = make('p', '', `${id} `);
    line.append(make('span', '', text));
    line.title = text;
    return line;
  }

  #ref(id: number): SlotRef {
    const item = this.#state?.moment.slots.get(id)?.firstItem ?? -1;
    return item >= 0 ? { item } : { slot: id };
  }

  /** New rows; who was at a button of the old ones is at the like of the new ones. */
  #replace(list: HTMLElement, rows: readonly Element[]): void {
    const focused = document.activeElement;
    const buttonsOf = (row: Element | undefined): HTMLButtonElement[] => [
      ...(row?.querySelectorAll('button') ?? []),
    ];
    const at = [...list.children].findIndex((row) => row.contains(focused));
    const place = buttonsOf(list.children[at]).findIndex((one) => one === focused);
    list.replaceChildren(...rows);
    if (place < 0) return;
    const button = buttonsOf(rows[Math.min(at, rows.length - 1)])[place];
    if (button && !button.disabled) button.focus();
    else list.closest<HTMLElement>('[tabindex]')?.focus();
  }
}

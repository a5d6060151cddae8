// Ask: a question to the memory at the moment that is shown, and the slots that answer.
import type { Answer, Question } from '../engine/protocol';
import { counted, find, fraction, make } from '../dom';
import type { SampleName } from '../samples/names';
import type { PageState } from './panel';

export interface AskHost {
  state(): PageState;
  ask(question: Question): Promise<Answer>;
}

/** What is worth asking of each sample: something known, a variation, something new. */
const examples: Record<SampleName, readonly string[]> = {
  log: [
    '2026-05-01T12:00:00Z WARN storage: disk /dev/sdz is 99 % full',
    'ERROR orders: retry 2 of 5 for order 11',
    'FATAL kernel: temperature above threshold, shutting down',
  ],
  support: ['how do i turn on dark mode', 'How do I turn dark mode off?', 'Do you sell umbrellas?'],
  sensor: ['1', '500', '1500'],
};

const percent = (share: number): string =>
  share > 0 && share < 0.005 ? '<1 %' : `${Math.round(share * 100)} %`;

export class AskPanel {
  readonly #host: AskHost;
  readonly #question = find('question', HTMLInputElement);
  readonly #answer = find('answer', HTMLElement);
  readonly #chips = find('ask-examples', HTMLElement);
  #latest = 0;

  constructor(host: AskHost) {
    this.#host = host;
    find('ask-form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
  }

  /** Called when another stream or memory is there. */
  reset(state: PageState, isText: boolean, dimension: number): void {
    find('ask-label', HTMLElement).textContent = isText
      ? 'A line: has the memory seen its like?'
      : `The number of an item, or ${dimension} numbers`;
    this.#question.value = '';
    ++this.#latest;
    const { sample } = state.stream;
    const list = sample && !state.memory ? examples[sample] : ownExamples(state, isText);
    this.#chips.replaceChildren(
      ...list.map((text) => {
        const chip = make('button', '', isText ? text : `item ${text}`);
        chip.type = 'button';
        chip.addEventListener('click', () => {
          this.#question.value = text;
          void this.#submit();
        });
        return chip;
      }),
    );
    const empty = 'The answer comes with the slots it was drawn from, their similarity and weight.';
    this.#answer.replaceChildren(make('p', 'empty', empty));
  }

  #parse(text: string, state: PageState): Question | string {
    const isText = state.memory ? state.memory.isText : state.stream.kind === 'text';
    if (isText) return { text };
    const numbers = text
      .replace(/[[\],;]/g, ' ')
      .trim()
      .split(/\s+/)
      .map(Number);
    if (numbers.some((x) => !Number.isFinite(x))) return 'A vector is a list of numbers.';
    const dimension = state.moment.results.begin.config.dimension;
    const [first = 0] = numbers;
    if (numbers.length === 1 && dimension !== 1) {
      const { length } = state.stream.labels;
      if (state.stream.kind !== 'vectors') return `Give ${dimension} numbers.`;
      if (!Number.isInteger(first) || first < 1 || first > length) {
        return `The stream has the items 1 to ${length}.`;
      }
      return { item: first - 1 };
    }
    if (numbers.length !== dimension) {
      return `The memory's vectors have ${dimension} numbers, this one has ${numbers.length}.`;
    }
    return { key: numbers };
  }

  async #submit(): Promise<void> {
    const mine = ++this.#latest;
    const text = this.#question.value;
    if (text.trim() === '') {
      this.#showProblem('Type something to ask first.');
      return;
    }
    const question = this.#parse(text, this.#host.state());
    if (typeof question === 'string') {
      this.#showProblem(question);
      return;
    }
    try {
      const answer = await this.#host.ask(question);
      if (mine === this.#latest) this.#show(answer);
    } catch (error) {
      if (mine === this.#latest) this.#showProblem(error instanceof Error ? error.message : '');
    }
  }

  #showProblem(message: string): void {
    this.#answer.replaceChildren(make('p', 'verdict unknown', message));
  }

  #show(answer: Answer): void {
    const [best] = answer.top;
    if (!best) {
      this.#showProblem('Unknown: the memory is empty.');
      return;
    }
    const near = answer.top.find(({ slot }) => slot === answer.slot) ?? best;
    const { known, uncertain, guarded } = answer;
    const verdict = known
      ? make('p', 'verdict known', `Known: ${near.example}`)
      : uncertain
        ? make('p', 'verdict unknown', `Uncertain: perhaps ${near.example}`)
        : make('p', 'verdict unknown', 'Unknown: the memory has nothing like it.');
    const sign = answer.novelty <= answer.threshold ? '≤' : '>';
    let scale = `novelty ${fraction(answer.novelty)} ${sign} ${fraction(answer.threshold)}`;
    if (guarded.length > 0) scale += `, guarded: ${guarded.join(', ')}`;
    const why = make(
      'p',
      'why',
      known
        ? `It would join slot ${near.slot}: ${scale}.`
        : `It would open a slot: ${scale}. The nearest is slot ${near.slot}.`,
    );
    const table = make('table');
    const head = make('tr');
    for (const name of ['slot', 'similar', 'weight', 'example']) {
      const cell = make('th', '', name);
      cell.scope = 'col';
      head.append(cell);
    }
    const body = make('tbody');
    const thead = make('thead');
    thead.append(head);
    const line = (name: string, similarity: string, weight: number, example: string): void => {
      const row = make('tr');
      const share = make('td');
      const bar = make('span', 'weight');
      bar.style.setProperty('--weight', String(weight));
      share.append(bar, percent(weight));
      row.append(make('td', '', name), make('td', '', similarity), share, make('td', '', example));
      body.append(row);
    };
    if (answer.nullWeight > 0) line('–', '', answer.nullWeight, 'unknown (the null slot)');
    let rest = 1 - answer.nullWeight;
    for (const { slot, similarity, weight, example } of answer.top) {
      line(String(slot), fraction(similarity), weight, example);
      rest -= weight;
    }
    const others = answer.slots - answer.top.length;
    if (others > 0) line('…', '', Math.max(0, rest), `${counted(others, 'other slot')}`);
    table.append(thead, body);
    this.#answer.replaceChildren(verdict, why, table);
  }
}

/** Of a file or memory of one's own: some of what is in it. */
function ownExamples(state: PageState, isText: boolean): string[] {
  if (!isText) return state.stream.kind === 'vectors' ? ['1'] : [];
  const { labels } = state.stream;
  const old = state.moment.results.begin.slots[0]?.example;
  const candidates = [old, labels[0], labels[Math.floor(labels.length / 2)]];
  const list = candidates.filter(
    (text): text is string => text !== undefined && text.trim() !== '',
  );
  return [...new Set(list)].slice(0, 2);
}

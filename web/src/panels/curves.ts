// Curves: what is kept beside what others would keep, the novelty of the items, and the budget.
import { drawBudget } from '../draw/budget_chart';
import { Canvas } from '../draw/canvas';
import { drawKept } from '../draw/kept_chart';
import { drawNovelty, noveltyAt } from '../draw/novelty_chart';
import { find, fraction, make, whole } from '../dom';
import type { Results } from '../state/results';
import { kindsInWindow } from '../state/window';
import { setLegend } from './legend';
import type { PageState, Panel } from './panel';

const calm = 50; // milliseconds

export class CurvesPanel implements Panel {
  readonly area = find('curves', HTMLElement);
  readonly #kept: Canvas;
  readonly #novelty: Canvas;
  readonly #budget: Canvas;
  readonly #log = find('log-scale', HTMLInputElement);
  readonly #words = ['kept-words', 'novelty-words', 'budget-words'].map((id) =>
    find(id, HTMLElement),
  );
  readonly #numbers = find('curve-numbers', HTMLDetailsElement);
  readonly #body = find('curve-body', HTMLElement);
  #window: { results: Results; computed: number; size: number; kinds: Uint32Array } | null = null;
  #tableKey = '';
  #drawnAt = 0;

  constructor(onChange: () => void, setTau: (tau: number, isFinal: boolean) => void) {
    this.#kept = new Canvas(find('chart-kept', HTMLCanvasElement), onChange);
    const novelty = find('chart-novelty', HTMLCanvasElement);
    this.#novelty = new Canvas(novelty, onChange);
    this.#budget = new Canvas(find('chart-budget', HTMLCanvasElement), onChange);
    this.#log.addEventListener('change', onChange);
    this.#numbers.addEventListener('toggle', onChange);
    const drag = (event: PointerEvent, isFinal: boolean): void => {
      setTau(noveltyAt(event.offsetX, novelty.clientWidth), isFinal);
    };
    novelty.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      novelty.setPointerCapture(event.pointerId);
      drag(event, false);
    });
    novelty.addEventListener('pointermove', (event) => {
      if (novelty.hasPointerCapture(event.pointerId)) drag(event, false);
    });
    novelty.addEventListener('pointerup', (event) => drag(event, true));
  }

  draw(state: PageState, now: number): boolean {
    // Lines grow slowly: while the stream plays, a redraw in a while is enough.
    if (state.isPlaying && now - this.#drawnAt < calm) return true;
    this.#drawnAt = now;
    this.#showKept(state);
    this.#showNovelty(state);
    this.#showBudget(state);
    if (this.#numbers.open) this.#fillTable(state);
    return false;
  }

  /** Kinds in a window as large as the memory is at the end of the replay. */
  #kinds(results: Results): { size: number; kinds: Uint32Array } {
    const { computed } = results;
    if (this.#window?.results !== results || this.#window.computed !== computed) {
      const size = Math.max(1, results.slotsAt(computed));
      const kinds = kindsInWindow(results.slot, computed, size);
      this.#window = { results, computed, size, kinds };
    }
    return this.#window;
  }

  #showKept(state: PageState): void {
    const surface = this.#kept.begin();
    const { moment } = state;
    const { results, at } = moment;
    const { size, kinds } = this.#kinds(results);
    const kindsNow = at > 0 ? (kinds[at - 1] ?? 0) : 0;
    setLegend(this.#words[0], [
      ['', `keep every item (attention): ${whole(at)}`],
      ['accent', `dpcache: ${whole(moment.live)}`],
      ['second', `a window of ${whole(size)} items: ${whole(kindsNow)} kinds`],
    ]);
    if (surface) drawKept(surface, results, at, kinds, this.#log.checked);
  }

  #showNovelty(state: PageState): void {
    const surface = this.#novelty.begin();
    const { moment } = state;
    const { config } = moment.results.begin;
    const tau = config.gate?.b ?? config.tau ?? 0;
    const opened = moment.allocated.reduce((sum, n) => sum + n, 0);
    setLegend(this.#words[1], [
      ['', `joined: ${whole(moment.at - opened)}`],
      ['accent', `opened a slot: ${whole(opened)}`],
      ['ink', `τ = ${fraction(tau)}: drag it here`],
    ]);
    if (surface) drawNovelty(surface, moment, tau);
  }

  #showBudget(state: PageState): void {
    const surface = this.#budget.begin();
    const { results, at } = state.moment;
    const surprise = at > 0 ? (results.surprise[at - 1] as number) : 0;
    const budget = at > 0 ? (results.budget[at - 1] as number) : NaN;
    const hasBudget = results.begin.config.budget !== 'none';
    setLegend(this.#words[2], [
      ['warm', `T: ${fraction(surprise)}`],
      ['accent', `slots: ${whole(results.slotsAt(at))}`],
      [
        'ink dashed',
        hasBudget ? `M: ${Number.isNaN(budget) ? '–' : budget.toFixed(1)}` : 'no budget: see Knobs',
      ],
    ]);
    if (surface) drawBudget(surface, results, at);
  }

  /** Eleven rows over what is shown. Rewritten when the picture rests. */
  #fillTable(state: PageState): void {
    const { results, at } = state.moment;
    const key = `${state.replay}:${at}`;
    if (state.isPlaying || key === this.#tableKey) return;
    this.#tableKey = key;
    const { kinds } = this.#kinds(results);
    const marks = [...new Set(Array.from({ length: 11 }, (_, i) => Math.round((at * i) / 10)))];
    const rows = marks
      .filter((n) => n > 0)
      .map((n, i, list) => {
        const from = i > 0 ? (list[i - 1] as number) : 0;
        const novelty = [...results.novelty.subarray(from, n)].sort((a, b) => a - b);
        const budget = results.budget[n - 1] as number;
        const row = make('tr');
        for (const text of [
          whole(n),
          whole(n),
          whole(results.slotsAt(n)),
          whole(kinds[n - 1] ?? 0),
          fraction(novelty[novelty.length >> 1] ?? 0),
          fraction(results.surprise[n - 1] as number),
          Number.isNaN(budget) ? '–' : budget.toFixed(1),
        ]) {
          row.append(make('td', '', text));
        }
        return row;
      });
    this.#body.replaceChildren(...rows);
  }
}

// Curves: what is kept beside what others would keep, the novelty of the items, and the budget.
import { Canvas, currentTheme, type Surface } from '../draw/canvas';
import {
  columns,
  drawAxes,
  drawLine,
  linear,
  logarithmic,
  roundTicks,
  type Frame,
} from '../draw/chart';
import { find, fraction, make, setText, whole } from '../dom';
import { noveltyBins } from '../state/moment';
import type { Results } from '../state/results';
import { kindsInWindow } from '../state/window';
import type { PageState, Panel } from './panel';

const calm = 50; // milliseconds

const frameOf = ({ width, height }: Surface, left = 40): Frame => ({
  left,
  top: 8,
  right: width - 8,
  bottom: height - 22,
});

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
      const width = novelty.clientWidth;
      const share = (event.offsetX - 40) / Math.max(1, width - 48);
      const tau = Math.round(Math.min(1, Math.max(0, share)) * 100) / 100;
      setTau(tau, isFinal);
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
    this.#drawKept(state);
    this.#drawNovelty(state);
    this.#drawBudget(state);
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

  #drawKept(state: PageState): void {
    const surface = this.#kept.begin();
    const { moment } = state;
    const { results, at } = moment;
    const { size, kinds } = this.#kinds(results);
    const kindsNow = at > 0 ? (kinds[at - 1] ?? 0) : 0;
    setLegend(this.#words[0], [
      ['', `keep every item: ${whole(at)}`],
      ['accent', `dpcache: ${whole(moment.live)}`],
      ['second', `a window of ${whole(size)} items: ${whole(kindsNow)} kinds`],
    ]);
    if (!surface) return;
    const theme = currentTheme();
    const frame = frameOf(surface);
    const count = Math.max(1, results.count);
    const top = Math.max(count, results.begin.slots.length + 1);
    const x = linear(0, count, frame.left, frame.right);
    const isLog = this.#log.checked;
    const y = isLog
      ? logarithmic(top, frame.bottom, frame.top)
      : linear(0, top, frame.bottom, frame.top);
    const yTicks = isLog ? [0, 1, 10, 100, 1000, 10000, 1e5].filter((n) => n <= top) : roundTicks(top, 4);
    drawAxes(surface, frame, { scale: x, ticks: roundTicks(count, surface.width < 330 ? 2 : 4) }, { scale: y, ticks: yTicks });
    const steps = columns(at, x(at) - x(0));
    drawLine(surface, [[x(0), y(0)], ...steps.map((n): [number, number] => [x(n), y(n)])], theme.soft, 1.5);
    drawLine(
      surface,
      steps.map((n) => [x(n), y(kinds[n - 1] ?? 0)]),
      theme.second,
      1.5,
      [5, 3],
    );
    drawLine(surface, steps.map((n) => [x(n), y(results.slotsAt(n))]), theme.accent, 2.5);
  }

  #drawNovelty(state: PageState): void {
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
    if (!surface) return;
    const theme = currentTheme();
    const frame = frameOf(surface);
    const x = linear(0, 1, frame.left, frame.right);
    const bins = 50; // of .02; what is above 1 is counted in the last one
    const merged = new Float64Array(bins);
    const allocated = new Float64Array(bins);
    for (let i = 0; i < noveltyBins; ++i) {
      const bin = Math.min(bins - 1, i >> 1);
      merged[bin] = (merged[bin] as number) + (moment.merged[i] as number);
      allocated[bin] = (allocated[bin] as number) + (moment.allocated[i] as number);
    }
    let top = 10;
    for (let i = 0; i < bins; ++i) top = Math.max(top, (merged[i] as number) + (allocated[i] as number));
    const y = logarithmic(top, frame.bottom, frame.top + 10);
    const ticks = [0, 1, 10, 100, 1000, 10000, 1e5].filter((n) => n <= top);
    drawAxes(
      surface,
      frame,
      { scale: x, ticks: [0, 0.25, 0.5, 0.75, 1], format: String },
      { scale: y, ticks },
    );
    const { context } = surface;
    const width = x(0.02) - x(0) - 1;
    for (let i = 0; i < bins; ++i) {
      const low = y(merged[i] as number);
      const high = y((merged[i] as number) + (allocated[i] as number));
      context.fillStyle = theme.soft;
      context.globalAlpha = 0.55;
      context.fillRect(x(i * 0.02), low, width, frame.bottom - low);
      context.globalAlpha = 1;
      context.fillStyle = theme.accent;
      context.fillRect(x(i * 0.02), high, width, low - high);
    }
    const at = Math.round(x(Math.min(1, tau)));
    drawLine(surface, [[at, frame.top], [at, frame.bottom]], theme.ink, 2);
    context.fillStyle = theme.ink;
    context.textAlign = tau > 0.8 ? 'right' : 'left';
    context.textBaseline = 'top';
    context.fillText(`τ ${fraction(tau)}`, at + (tau > 0.8 ? -6 : 6), frame.top - 2);
  }

  #drawBudget(state: PageState): void {
    const surface = this.#budget.begin();
    const { results, at } = state.moment;
    const surprise = at > 0 ? (results.surprise[at - 1] as number) : 0;
    const budget = at > 0 ? (results.budget[at - 1] as number) : NaN;
    const hasBudget = results.begin.config.budget !== 'none';
    setLegend(this.#words[2], [
      ['warm', `T: ${fraction(surprise)}`],
      ['accent', `slots: ${whole(results.slotsAt(at))}`],
      ['ink dashed', hasBudget ? `M: ${Number.isNaN(budget) ? '–' : budget.toFixed(1)}` : 'no budget: see Knobs'],
    ]);
    if (!surface) return;
    const theme = currentTheme();
    const frame = frameOf(surface);
    const middle = frame.top + (frame.bottom - frame.top) * 0.36;
    const upper = { ...frame, bottom: middle - 8 };
    const lower = { ...frame, top: middle + 8 };
    const count = Math.max(1, results.count);
    const x = linear(0, count, frame.left, frame.right);
    let top = 4;
    let hottest = 0;
    for (let i = 0; i < results.computed; ++i) {
      hottest = Math.max(hottest, results.surprise[i] as number);
      const m = hasBudget ? (results.budget[i] as number) : 0;
      top = Math.max(top, results.slotsAfter[i] as number, Number.isFinite(m) ? m : 0);
    }
    const slots = linear(0, top * 1.05, lower.bottom, lower.top);
    const heat = hottest > 0.5 ? 1 : 0.5;
    const t = linear(0, heat, upper.bottom, upper.top);
    drawAxes(surface, upper, { scale: x, ticks: [] }, { scale: t, ticks: [0, heat], format: (n) => (n ? `T ${n}` : '0') });
    drawAxes(surface, lower, { scale: x, ticks: roundTicks(count, surface.width < 330 ? 2 : 4) }, { scale: slots, ticks: roundTicks(top * 1.05, 3) });
    const steps = columns(at, x(at) - x(0));
    drawLine(surface, steps.map((n) => [x(n), t(results.surprise[n - 1] as number)]), theme.warm, 1.5);
    if (hasBudget) {
      drawLine(surface, steps.map((n) => [x(n), slots(results.budget[n - 1] as number)]), theme.ink, 1.25, [4, 3]);
    }
    drawLine(surface, steps.map((n) => [x(n), slots(results.slotsAt(n))]), theme.accent, 2);
  }

  /** Eleven rows over what is shown. Rewritten when the picture rests. */
  #fillTable(state: PageState): void {
    const { results, at } = state.moment;
    const key = `${state.replay}:${at}`;
    if (state.isPlaying || key === this.#tableKey) return;
    this.#tableKey = key;
    const { kinds } = this.#kinds(results);
    const marks = [...new Set(Array.from({ length: 11 }, (_, i) => Math.round((at * i) / 10)))];
    const rows = marks.filter((n) => n > 0).map((n, i, list) => {
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

/** Colour and words of each line; also what a screen reader hears of the chart. */
function setLegend(element: HTMLElement | undefined, parts: readonly [string, string][]): void {
  if (!element) return;
  const text = parts.map(([, words]) => words).join(', ');
  if (element.dataset['text'] === text) return;
  element.dataset['text'] = text;
  const spans = element.querySelectorAll('.legend-words');
  if (spans.length === parts.length) {
    for (const [i, [, words]] of parts.entries()) setText(spans[i] as Element, words);
    return;
  }
  element.replaceChildren(
    ...parts.map(([swatch, words]) => {
      const part = make('span', 'legend-part');
      const line = make('span', `swatch ${swatch}`);
      line.setAttribute('aria-hidden', 'true');
      part.append(line, make('span', 'legend-words', words));
      return part;
    }),
  );
}

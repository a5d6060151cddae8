// The tab that learns: labelled pairs in, the curve of both errors and a threshold out.
import { Encoder } from 'dpcache';
import { calibrate, train, type Calibration, type LearnedGate } from 'dpcache/train';
import { Canvas, onThemeChange } from '../draw/canvas';
import { drawErrors, type ErrorPoint } from '../draw/errors_chart';
import { counted, find, make, setText, whole } from '../dom';
import { parsePairs } from '../parse/pairs';
import { readBytes } from '../parse/read';
import { labelledQuestions } from '../samples/support';
import type { Mask } from '../settings';
import type { Shown } from '../tabs';
import { AdvicePanel, type AdviceHost } from './advice';
import { setLegend } from './legend';

export interface LearnHost {
  /** What may vary in a text of the stream. */
  masks(): readonly Mask[];
  /** Takes a threshold over. */
  use(tau: number): void;
  /** What the stream itself says. */
  advice: AdviceHost['ask'];
}

const sampleItems = 120;
/** The table shows every twentieth point: .1 of tau. */
const tableStep = 20;

const percent = (part: number, all: number): string =>
  all === 0 ? '–' : `${((100 * part) / all).toFixed(1)} %`;

/**
 * Of each question one pair that is the same, and one that is not: with the question of another
 * intent that is most like it, as an item of a stream meets the nearest slot.
 */
async function samplePairs(masks: readonly Mask[]): Promise<string> {
  const encoder = await Encoder.create({ masks });
  const items = labelledQuestions(sampleItems);
  const vectors = items.map(({ text }) => encoder.encode(text));
  encoder.dispose();
  const likeness = (i: number, j: number): number => {
    const [one, other] = [vectors[i], vectors[j]];
    if (!one || !other) return -1;
    return one.reduce((sum, x, at) => sum + x * (other[at] ?? 0), 0);
  };
  const rows = ['label\ttext_a\ttext_b'];
  items.forEach(({ label, text }, i) => {
    const isSame = (other: { label: number }): boolean => other.label === label;
    const same = items.find((other, j) => j > i && isSame(other)) ?? items.find(isSame);
    let nearest = -1;
    items.forEach((other, j) => {
      if (isSame(other)) return;
      if (nearest < 0 || likeness(i, j) > likeness(i, nearest)) nearest = j;
    });
    rows.push(`1\t${text}\t${same?.text ?? text}`, `0\t${text}\t${items[nearest]?.text ?? ''}`);
  });
  return `${rows.join('\n')}\n`;
}

// Down to the hundredths that the knobs have: stricter keeps the bound.
const inHundredths = (tau: number): number => Math.floor(tau * 100 + 1e-4) / 100;

export class LearnPanel implements Shown {
  readonly #host: LearnHost;
  readonly #pairs = find('learn-pairs', HTMLTextAreaElement);
  readonly #most = find('learn-most', HTMLInputElement);
  readonly #confidence = find('learn-confidence', HTMLInputElement);
  readonly #button = find('learn-run', HTMLButtonElement); // disabled until this is here
  readonly #words = find('learn-words', HTMLElement);
  readonly #legend = find('learn-legend', HTMLElement);
  readonly #body = find('learn-body', HTMLTableSectionElement);
  readonly #use = find('learn-use', HTMLButtonElement);
  readonly #canvas: Canvas;
  readonly #advice: AdvicePanel;
  #points: readonly ErrorPoint[] = [];
  #tau: number | null = null;
  #run = 0; // grows when what is under way is no longer wanted

  constructor(host: LearnHost) {
    this.#host = host;
    this.#canvas = new Canvas(find('learn-chart', HTMLCanvasElement), () => this.#draw());
    onThemeChange(() => this.#draw());
    this.#advice = new AdvicePanel({
      ask: (known) => host.advice(known),
      limits: () => this.#limits(),
      pairs: () => parsePairs(this.#pairs.value),
      use: (tau) => host.use(tau),
    });
    void this.#attempt(async () => {
      try {
        const sample = await samplePairs(host.masks());
        if (this.#pairs.value === '') this.#pairs.value = sample;
      } finally {
        this.#button.disabled = false;
      }
    });
    find('learn-form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#attempt(() => this.#learn());
    });
    const input = find('learn-file', HTMLInputElement);
    input.addEventListener('change', () => {
      const [file] = input.files ?? [];
      input.value = ''; // so that the same file can be chosen again
      if (file) void this.#attempt(() => this.#open(file));
    });
    this.#use.addEventListener('click', () => {
      if (this.#tau !== null) this.#host.use(this.#tau);
    });
  }

  show(): void {
    this.#advice.draw();
    this.#draw();
  }

  hide(): void {
    // Nothing here goes on by itself.
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error), true);
    }
  }

  #say(text: string, isBad = false): void {
    setText(this.#words, text);
    this.#words.classList.toggle('bad', isBad);
  }

  async #open(file: File): Promise<void> {
    this.#pairs.value = new TextDecoder().decode(await readBytes(file));
    await this.#learn();
  }

  async #learn(): Promise<void> {
    const run = ++this.#run;
    this.#forget();
    const pairs = parsePairs(this.#pairs.value);
    this.#say('Learning …');
    const encoder = await Encoder.create({ masks: this.#host.masks() });
    try {
      const learned = await train(pairs, { encoder });
      const found = await calibrate(pairs, { encoder, ...this.#limits() });
      if (run === this.#run) this.#show(learned, found);
    } finally {
      encoder.dispose();
    }
  }

  #limits(): { maxFalseMerge: number; confidence: number } {
    return {
      maxFalseMerge: this.#most.valueAsNumber / 100,
      confidence: this.#confidence.valueAsNumber / 100,
    };
  }

  #forget(): void {
    this.#points = [];
    this.#tau = null;
    this.#use.disabled = true;
    this.#body.replaceChildren();
    setLegend(this.#legend, []);
    this.#draw();
  }

  #show(learned: LearnedGate, found: Calibration): void {
    const { atRisk, mergeable, chosen, curve } = found;
    this.#points = curve.map(({ tau, falseMerges, missedMerges, falseMergeBound }) => ({
      tau,
      wrong: falseMerges / Math.max(1, atRisk),
      bound: falseMergeBound,
      missed: missedMerges / Math.max(1, mergeable),
    }));
    this.#tau = chosen && inHundredths(chosen.tau);
    this.#use.disabled = this.#tau === null;
    this.#say(this.#sentence(learned, found), this.#tau === null);
    setLegend(this.#legend, [
      ['warm', `false merges of ${counted(atRisk, 'different pair')}`],
      ['warm dashed', 'their upper bound'],
      ['accent dashed', `missed merges of ${counted(mergeable, 'same pair')}`],
    ]);
    const end = curve.findIndex(
      ({ falseMerges, missedMerges }) => falseMerges === atRisk && missedMerges === 0,
    );
    const rows = curve.filter((_, i) => i % tableStep === 0 && (end < 0 || i < end + tableStep));
    const chosenAt = chosen ? curve.findIndex(({ tau }) => tau === chosen.tau) : -1;
    if (chosen && chosenAt % tableStep !== 0) {
      rows.push(chosen);
      rows.sort((a, b) => a.tau - b.tau);
    }
    this.#body.replaceChildren(
      ...rows.map((point) => {
        const row = make('tr', point.tau === chosen?.tau ? 'selected' : '');
        row.append(
          make('td', '', point.tau.toFixed(3)),
          make('td', '', `${whole(point.falseMerges)} · ${percent(point.falseMerges, atRisk)}`),
          make('td', '', `≤ ${percent(point.falseMergeBound, 1)}`),
          make('td', '', `${whole(point.missedMerges)} · ${percent(point.missedMerges, mergeable)}`),
        );
        return row;
      }),
    );
    this.#draw();
  }

  #sentence(learned: LearnedGate, { reason, chosen, mergeable }: Calibration): string {
    const gate = learned.gate
      ? `A gate learned from them is a ${learned.gate.a.toFixed(1)}, b ${learned.gate.b.toFixed(2)}; ` +
        `a different pair is the more novel one with probability ${learned.separation.toFixed(2)}.`
      : `There is no gate: ${learned.reason}.`;
    if (!chosen || this.#tau === null) return `No τ: ${reason}. ${gate}`;
    return (
      `τ = ${this.#tau}: at most ${this.#most.value} % of different pairs merge, with confidence ` +
      `${this.#confidence.value} %. ${whole(chosen.missedMerges)} of ${whole(mergeable)} that should ` +
      `merge do not. ${gate} An item of a stream meets the nearest of all slots: pairs that were chosen ` +
      'at random promise too much.'
    );
  }

  #draw(): void {
    const surface = this.#canvas.begin();
    if (surface) drawErrors(surface, this.#points, this.#tau);
  }
}

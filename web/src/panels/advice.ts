// What the stream itself says of tau: the histogram, its valley, a suggestion, and what each would do.
import type { Advice, AdvicePair } from 'dpcache/trust';
import type { Known } from '../engine/protocol';
import { Canvas, onThemeChange } from '../draw/canvas';
import { drawAdvice } from '../draw/advice_chart';
import { counted, find, make, setText, whole } from '../dom';
import { setLegend } from './legend';

export interface AdviceHost {
  ask(known: Known): Promise<Advice>;
  /** How often it may be wrong, as the form above says. */
  limits(): Pick<Known, 'maxFalseMerge' | 'confidence'>;
  /** The pairs above; throws where they are none. */
  pairs(): readonly AdvicePair[];
  use(tau: number): void;
}

const percent = (share: number): string =>
  share > 0 && share < 0.001 ? '<0.1 %' : `${(100 * share).toFixed(1)} %`;

// Down to the hundredths that the knobs have: stricter keeps a bound.
const inHundredths = (tau: number): number => Math.floor(tau * 100 + 1e-4) / 100;

export class AdvicePanel {
  readonly #host: AdviceHost;
  readonly #button = find('advice-run', HTMLButtonElement); // disabled until this is here
  readonly #withPairs = find('advice-pairs', HTMLInputElement);
  readonly #words = find('advice-words', HTMLElement);
  readonly #warnings = find('advice-warnings', HTMLElement);
  readonly #legend = find('advice-legend', HTMLElement);
  readonly #body = find('advice-body', HTMLElement);
  readonly #use = find('advice-use', HTMLButtonElement);
  readonly #canvas: Canvas;
  #advice: Advice | null = null;
  #run = 0; // grows when what is under way is no longer wanted

  constructor(host: AdviceHost) {
    this.#host = host;
    this.#canvas = new Canvas(find('advice-chart', HTMLCanvasElement), () => this.draw());
    onThemeChange(() => this.draw());
    this.#button.addEventListener('click', () => void this.#look());
    this.#use.addEventListener('click', () => {
      const tau = this.#advice?.tau ?? null;
      if (tau !== null) host.use(inHundredths(tau));
    });
    this.#button.disabled = false;
  }

  draw(): void {
    const surface = this.#canvas.begin();
    if (!surface) return;
    const { histogram = [], tau = null, valleys = [] } = this.#advice ?? {};
    drawAdvice(surface, histogram, tau, valleys[0] ?? null);
  }

  async #look(): Promise<void> {
    const run = ++this.#run;
    this.#show(null);
    this.#say('Looking …');
    try {
      const pairs = this.#withPairs.checked ? this.#host.pairs() : [];
      const limits = this.#host.limits();
      const advice = await this.#host.ask({ ...limits, pairs });
      if (run === this.#run) this.#show(advice, limits.confidence);
    } catch (error) {
      if (run === this.#run) this.#say(error instanceof Error ? error.message : String(error), true);
    }
  }

  #say(text: string, isBad = false): void {
    setText(this.#words, text);
    this.#words.classList.toggle('bad', isBad);
  }

  #show(advice: Advice | null, confidence = 0): void {
    this.#advice = advice;
    const tau = advice?.tau ?? null;
    this.#use.disabled = tau === null;
    this.#warnings.replaceChildren(
      ...(advice?.warnings ?? []).map((text) => make('li', '', `Beware: ${text}.`)),
    );
    this.#body.replaceChildren(...(advice ? rowsOf(advice) : []));
    if (advice) this.#say(sentence(advice, confidence), tau === null);
    const [valley] = advice?.valleys ?? [];
    setLegend(
      this.#legend,
      advice
        ? [
            ['', `${counted(advice.sampled, 'item')}, ${whole(advice.repeats)} of them exact repeats`],
            ...(valley
              ? [['accent', `the valley: τ from ${valley.low.toFixed(2)} to ${valley.high.toFixed(2)}`] as const]
              : []),
          ].map(([swatch, words]) => [swatch ?? '', words ?? ''])
        : [],
    );
    this.draw();
  }
}

function sentence(advice: Advice, confidence: number): string {
  const { tau, reason, wrongShare, bounded, valleys, evidence } = advice;
  if (tau === null) return `No τ: ${reason}.`;
  const shown = inHundredths(tau);
  const share = wrongShare === null ? 'unknown' : percent(wrongShare);
  const rate = bounded
    ? `at most ${share} merge wrongly, with confidence ${percent(confidence)}`
    : `about ${share} of all items would merge wrongly, an estimate`;
  const again =
    evidence === 'valley' && valleys[0]
      ? ` ${percent(valleys[0].again)} of resamples have this valley again.`
      : '';
  return `τ = ${shown} (${(1 - shown).toFixed(2)} alike): ${reason}; ${rate}.${again}`;
}

function rowsOf({ tried, tau, sampled, different }: Advice): HTMLElement[] {
  return tried.map((at) => {
    const row = make('tr', at.tau === tau ? 'selected' : '');
    row.append(
      make('td', '', at.tau.toFixed(2)),
      make('td', '', whole(at.slots)),
      make('td', '', percent(at.largest / Math.max(1, sampled))),
      make('td', '', `${whole(at.guarded)} of ${whole(at.merged)}`),
      make('td', '', different > 0 ? `${whole(at.differentMerged)} of ${whole(different)}` : '–'),
    );
    return row;
  });
}

// The recall lab: runs the study in a worker of its own and draws it while it runs.
import { Canvas, currentTheme } from '../draw/canvas';
import { drawAxes, drawLine, linear } from '../draw/chart';
import { find, make, setText, whole } from '../dom';
import {
  checkpoints,
  labRanges,
  mechanismNames,
  tableOne,
  type LabReply,
  type LabRequest,
  type MechanismName,
  type Point,
  type Setup,
} from '../lab/protocol';
import type { Panel } from './panel';

const titles: Record<MechanismName, string> = {
  dpcache: 'dpcache',
  'keep-all': 'keep-all',
  recency: 'recency',
  h2o: 'H2O-like',
};
const floatsPerEntry: Record<MechanismName, number> = {
  dpcache: 64 + 16 + 1, // key, value, usage
  'keep-all': 64 + 16,
  recency: 64 + 16,
  h2o: 64 + 16 + 1, // and the attention it has received
};
const fields = Object.keys(labRanges) as (keyof Setup)[];

interface Figure {
  mean: number;
  deviation: number;
  count: number;
}

function figure(values: readonly number[]): Figure {
  const count = values.length;
  const mean = values.reduce((sum, x) => sum + x, 0) / count;
  const squares = values.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / count), count };
}

export class LabPanel implements Panel {
  readonly area = find('lab-form', HTMLElement).parentElement;
  readonly #canvas: Canvas;
  readonly #onChange: () => void;
  readonly #start: () => Worker;
  readonly #button = find('lab-run', HTMLButtonElement);
  readonly #progress = find('lab-progress', HTMLProgressElement);
  readonly #status = find('lab-status', HTMLElement);
  readonly #cells = new Map<MechanismName, HTMLElement[]>();
  #worker: Worker | null = null;
  #run = 0;
  #isRunning = false;
  #points: Point[] = [];
  #isStale = true;

  constructor(onChange: () => void, start: () => Worker) {
    this.#onChange = onChange;
    this.#start = start;
    this.#canvas = new Canvas(find('lab-chart', HTMLCanvasElement), () => {
      this.#isStale = true;
      onChange();
    });
    for (const name of fields) {
      const input = this.#input(name);
      [input.min, input.max] = labRanges[name].map(String) as [string, string];
      input.value = String(tableOne[name]);
    }
    const body = find('lab-body', HTMLElement);
    for (const name of mechanismNames) {
      const row = make('tr');
      const title = make('td');
      title.append(make('span', `swatch ${swatchOf(name)}`), titles[name]);
      const cells = [make('td', '', '–'), make('td', '', '–'), make('td', '', '–')];
      row.append(title, ...cells);
      body.append(row);
      this.#cells.set(name, cells);
    }
    find('lab-form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#isRunning) this.#stop();
      else this.#begin();
    });
  }

  #input(name: keyof Setup): HTMLInputElement {
    return find(`lab-${name}`, HTMLInputElement);
  }

  #begin(): void {
    const setup = Object.fromEntries(
      fields.map((name) => [name, this.#input(name).valueAsNumber]),
    ) as unknown as Setup;
    if (!this.#worker) {
      this.#worker = this.#start();
      this.#worker.addEventListener('message', ({ data }: MessageEvent<LabReply>) =>
        this.#receive(data),
      );
      this.#worker.addEventListener('error', () => this.#finish('The lab could not be started.'));
    }
    this.#points = [];
    this.#isRunning = true;
    this.#button.textContent = 'Stop';
    setText(this.#status, 'The recall lab is running.');
    this.#progress.value = 0;
    this.#send({ type: 'run', run: ++this.#run, setup });
    this.#refresh();
  }

  #send(request: LabRequest): void {
    this.#worker?.postMessage(request);
  }

  #stop(): void {
    this.#send({ type: 'stop' });
    ++this.#run;
    this.#finish('Stopped.');
  }

  #finish(words: string): void {
    this.#isRunning = false;
    this.#button.textContent = 'Run';
    setText(this.#status, words);
    this.#progress.value = 0;
    this.#refresh();
  }

  #receive(reply: LabReply): void {
    if (reply.run !== this.#run) return;
    if (reply.type === 'points') {
      this.#points.push(...reply.points);
      this.#progress.value = reply.share;
      this.#refresh();
    } else if (reply.type === 'failed') {
      this.#finish(`The lab failed: ${reply.message}`);
    } else {
      const recalls = mechanismNames.map((name) => `${titles[name]} ${this.#recallText(name)}`);
      this.#finish(`Recall: ${recalls.join(', ')}.`);
    }
  }

  #refresh(): void {
    this.#isStale = true;
    this.#onChange();
  }

  #at(name: MechanismName, checkpoint: number): Point[] {
    return this.#points.filter((p) => p.mechanism === name && p.checkpoint === checkpoint);
  }

  #recallText(name: MechanismName): string {
    const ends = this.#at(name, checkpoints);
    if (ends.length === 0) return '–';
    const { mean, deviation, count } = figure(ends.map((point) => point.recall));
    return count > 1 ? `${mean.toFixed(3)} ± ${deviation.toFixed(3)}` : mean.toFixed(3);
  }

  #fillTable(): void {
    for (const [name, [recall, entries, floats]] of this.#cells) {
      const ends = this.#at(name, checkpoints);
      const kept = ends.length > 0 ? figure(ends.map((point) => point.entries)).mean : null;
      if (recall) setText(recall, this.#recallText(name));
      if (entries) setText(entries, kept === null ? '–' : whole(Math.round(kept * 10) / 10));
      if (floats)
        setText(floats, kept === null ? '–' : whole(Math.round(kept * floatsPerEntry[name])));
    }
  }

  draw(): boolean {
    if (!this.#isStale) return false;
    const surface = this.#canvas.begin();
    if (!surface) return false;
    this.#isStale = false;
    this.#fillTable();
    const { context, width, height } = surface;
    const frame = { left: 40, top: 10, right: width - 12, bottom: height - 34 };
    const x = linear(0, 1, frame.left, frame.right);
    const y = linear(0, 1, frame.bottom, frame.top);
    const share = (n: number): string => `${Math.round(n * 100)} %`;
    drawAxes(
      surface,
      frame,
      { scale: x, ticks: width < 360 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1], format: share },
      { scale: y, ticks: [0, 0.25, 0.5, 0.75, 1], format: String },
    );
    const theme = currentTheme();
    context.fillStyle = theme.soft;
    context.textAlign = 'center';
    const caption =
      this.#points.length > 0
        ? 'recall of what was seen, over the stream'
        : 'Run draws recall here, over the stream';
    context.fillText(caption, (frame.left + frame.right) / 2, frame.bottom + 19);
    for (const name of [...mechanismNames].reverse()) {
      const figures: [number, Figure][] = [];
      for (let checkpoint = 1; checkpoint <= checkpoints; ++checkpoint) {
        const here = this.#at(name, checkpoint);
        if (here.length > 0)
          figures.push([checkpoint / checkpoints, figure(here.map((p) => p.recall))]);
      }
      if (figures.length === 0) continue;
      const colour = theme[colourOf(name)];
      context.fillStyle = colour;
      context.globalAlpha = 0.16;
      context.beginPath();
      for (const [at, { mean, deviation }] of figures)
        context.lineTo(x(at), y(Math.min(1, mean + deviation)));
      for (const [at, { mean, deviation }] of [...figures].reverse())
        context.lineTo(x(at), y(mean - deviation));
      context.fill();
      context.globalAlpha = 1;
      const dash = name === 'keep-all' ? [7, 5] : [];
      drawLine(
        surface,
        figures.map(([at, { mean }]) => [x(at), y(mean)]),
        colour,
        name === 'dpcache' ? 3 : 1.75,
        dash,
      );
    }
    return false;
  }

  /** The colours have changed. */
  repaint(): void {
    this.#isStale = true;
  }
}

const colourOf = (name: MechanismName): 'accent' | 'ink' | 'warm' | 'second' =>
  name === 'dpcache'
    ? 'accent'
    : name === 'keep-all'
      ? 'ink'
      : name === 'recency'
        ? 'warm'
        : 'second';

const swatchOf = (name: MechanismName): string =>
  name === 'keep-all' ? 'ink dashed' : colourOf(name);

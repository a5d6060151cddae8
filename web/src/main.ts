// The page: brings worker, state and panels together, and draws one frame when something changed.
// It is long because it is the one place where all of them meet; none of them knows another.
import { EngineClient } from './engine/client';
import type { Correction, MemoryInfo, Opened, StreamInfo } from './engine/protocol';
import { onThemeChange } from './draw/canvas';
import { counted, find, setText } from './dom';
import { AskPanel } from './panels/ask';
import { CurvesPanel } from './panels/curves';
import { Hero } from './panels/hero';
import { KnobsPanel } from './panels/knobs';
import { LabPanel } from './panels/lab';
import type { PageState, Panel } from './panels/panel';
import { SlotTable } from './panels/slot_table';
import { SlotsPanel } from './panels/slots';
import { download, SourcePanel } from './panels/source';
import { watchSight } from './panels/sight';
import { StreamPanel } from './panels/stream';
import { Transport } from './panels/transport';
import { knobsOf } from './memory_knobs';
import { formatHash, needsTrust, parseHash, type Knobs } from './settings';
import { makeTabs, type Shown } from './tabs';
import { Moment } from './state/moment';
import { nothing } from './state/nothing';
import { Results } from './state/results';

const given = parseHash(location.hash);
let settings = given.settings;
/** What the address said and could not be read; told once. */
let badSettings = given.bad;
let stream: StreamInfo = {
  sample: null,
  kind: 'text',
  name: '',
  dimension: null,
  labels: [],
  note: null,
};
let memory: MemoryInfo | null = null;
/** What was said of merges of this stream, in the order of their moments. */
let corrections: readonly Correction[] = [];
/** Those that no replay has been through yet. */
let said: readonly Correction[] = [];
let moment = new Moment(new Results(nothing(settings.tau)));
let replay = 0;
/** A replay that is not shown yet: it is swapped in when it has come to the moment shown. */
let pending: Results | null = null;
let startsOver = true;
let selected = 0;
let isDirty = true;
/** What is behind the other tabs, by its name. */
const fetched = new Map<string, Promise<Shown>>();

const progress = find('progress', HTMLProgressElement);
const notice = find('notice', HTMLElement);

function say(text: string, isBad = false): void {
  setText(notice, text);
  notice.title = text;
  notice.classList.toggle('bad', isBad);
}

function touch(): void {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(frame);
}

function select(slot: number): void {
  selected = slot === selected ? 0 : slot;
  touch();
}

const client = new EngineClient(
  new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'engine' }),
  {
    begin(begin) {
      pending = new Results(begin);
      progress.value = 0;
    },
    chunk(chunk) {
      const results = pending?.begin.run === chunk.run ? pending : moment.results;
      results.add(chunk);
      progress.value = results.computed / Math.max(1, results.count);
      if (pending && (startsOver || pending.computed >= transport.cursor)) show(pending);
      touch();
    },
    done(done) {
      if (pending) show(pending);
      moment.results.isDone = true;
      progress.value = 0;
      report(done.warning, refusalOf(done.refused));
      touch();
    },
    failed(message) {
      progress.value = 0;
      // What is shown belongs to the stream before: better what there is of this one, or nothing.
      if (pending || startsOver) show(pending ?? new Results(nothing(settings.tau)));
      say(message, true);
      touch();
    },
  },
);

/** Swaps a replay in for the one that is shown. */
function show(results: Results): void {
  pending = null;
  moment = new Moment(results);
  ++replay;
  if (!startsOver) return;
  startsOver = false;
  const isText = memory ? memory.isText : stream.kind === 'text';
  ask.reset(state(), isText, results.begin.config.dimension);
  // An opened memory is looked at first; the stream goes on into it when one wants.
  if (memory || results.count === 0) {
    transport.pause();
    transport.moveTo(0);
  } else {
    transport.start();
  }
}

/** Why a correction was not made. One that was said just now is forgotten. */
function refusalOf(refused: readonly { correction: number; message: string }[]): string {
  const fresh = said;
  said = [];
  const [first] = refused;
  if (!first) return '';
  const isFresh = (one: Correction | undefined): boolean => fresh.some((it) => it === one);
  const now = refused.find((one) => isFresh(corrections[one.correction]));
  if (!now) return `A correction has no place here: ${first.message}`;
  const gone = new Set(refused.map((one) => corrections[one.correction]).filter(isFresh));
  corrections = corrections.filter((one) => !gone.has(one));
  return `That cannot be done: ${now.message}`;
}

function report(warning: string, trouble: string): void {
  const { results } = moment;
  const { refusal } = results.begin;
  const end = results.slotsAt(results.count);
  const parts = [
    trouble,
    badSettings.length > 0 ? `Not usable in the address: ${badSettings.join(', ')}.` : '',
    memory
      ? `${memory.name}: ${counted(memory.slots, 'slot')} from ${counted(memory.items, 'item')}.`
      : '',
    refusal ?? '',
    results.count > 0
      ? `${counted(results.count, 'item')} of ${stream.name} → ${counted(end, 'slot')}.`
      : '',
    stream.note ?? '',
    warning,
  ];
  const isBad = refusal !== null || badSettings.length > 0 || trouble !== '';
  say(parts.filter(Boolean).join(' '), isBad);
  badSettings = [];
}

const state = (): PageState => ({
  settings,
  stream,
  memory,
  moment,
  replay,
  isPlaying: transport.isPlaying,
  speed: transport.speed,
  selected,
});

const transport = new Transport({
  computed: () => moment.results.computed,
  count: () => moment.results.count,
  changed: touch,
});

function change(knobs: Partial<Knobs>): void {
  settings = { ...settings, ...knobs };
  keepInAddress();
  knobsPanel.show(settings, stream.kind, memory);
  wantTrust();
  client.replay(settings, corrections);
}

/** Something was said of a merge: from its moment on, the replay heeds it. */
function correct(correction: Correction): void {
  const isLater = ({ at }: Correction): boolean => at > correction.at;
  const before = corrections.filter((one) => !isLater(one));
  corrections = [...before, correction, ...corrections.filter(isLater)];
  said = [...said, correction];
  client.replay(settings, corrections);
}

const knobsPanel = new KnobsPanel({
  changed: change,
  invalid: (message) => say(message, true),
  sample: () => settings.sample,
});

const source = new SourcePanel({
  sample: (sample, size) => void openSample(sample, size),
  file: (file) => void openFile(file),
  save: () => void save(),
  closeMemory: () => void closeMemory(),
});

const ask = new AskPanel({ state, ask: (question) => client.ask(moment.results.begin.run, moment.at, question) });
const lab = new LabPanel(
  touch,
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'lab' }),
);

let tauTimer: ReturnType<typeof setTimeout> | undefined;
const curves = new CurvesPanel(touch, (tau, isFinal) => {
  if (memory?.config.gate) return;
  clearTimeout(tauTimer);
  tauTimer = setTimeout(() => tau !== settings.tau && change({ tau }), isFinal ? 0 : 60);
});

const panels: Panel[] = [
  new Hero(),
  new StreamPanel(touch),
  new SlotsPanel(touch, select),
  new SlotTable(touch, select),
  curves,
  lab,
];
onThemeChange(() => {
  lab.repaint();
  touch();
});

const outOfSight = watchSight(panels, touch);

/** The lists of what can be reviewed; their code is fetched when somebody wants them. */
let hasTrust = false;
function wantTrust(): void {
  if (hasTrust || !needsTrust(settings)) return;
  hasTrust = true;
  import('./panels/trust').then(
    ({ TrustPanel }) => {
      const ask = (slot: number) => client.trust(moment.results.begin.run, moment.at, slot);
      panels.push(new TrustPanel({ ask, correct, select, touch }));
      touch();
    },
    (error: unknown) => {
      hasTrust = false;
      say(`The lists of merges cannot be loaded: ${String(error)}`, true);
    },
  );
}

function keepInAddress(): void {
  if (memory) return; // its settings are the file's, an address could not bring them back
  const hash = formatHash(settings);
  history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
}

function begin(): void {
  startsOver = true;
  selected = 0;
  corrections = [];
  tell();
  const fileName = stream.sample === null ? stream.name : null;
  source.show(settings.sample, settings.size, fileName, memory);
  knobsPanel.show(settings, stream.kind, memory);
  wantTrust();
  client.replay(settings, corrections);
}

async function openSample(sample: typeof settings.sample, size: number): Promise<void> {
  // Another sample brings the threshold that suits it.
  if (!memory && (sample !== settings.sample || stream.sample === null)) {
    settings = { ...settings, tau: parseHash(`#sample=${sample}`).settings.tau };
  }
  settings = { ...settings, sample, size };
  keepInAddress();
  await attempt(client.sample(sample, size), take);
}

async function openFile(file: File): Promise<void> {
  say(`Reading ${file.name} …`);
  await attempt(client.file(file), take);
}

function take(opened: Opened): void {
  if (opened.is === 'stream') {
    const was = stream;
    stream = opened.stream;
    // Vectors of one's own begin with the library's default.
    if (stream.sample === null && stream.kind !== was.kind && !memory) {
      settings = { ...settings, tau: stream.kind === 'text' ? 0.17 : 0.4 };
    }
  } else {
    ({ memory } = opened);
    settings = { ...settings, ...knobsOf(memory) };
  }
  begin();
}

async function closeMemory(): Promise<void> {
  memory = null;
  settings = parseHash(location.hash).settings;
  await attempt(client.forget(), begin);
}

async function save(): Promise<void> {
  const { at, live, results } = moment;
  await attempt(client.save(results.begin.run, at), (bytes) => {
    const name = memory?.name.replace(/\.gz$/i, '') ?? memoryNameFor(stream.name);
    download(name, bytes);
    say(
      `Saved ${counted(live, 'slot')} as ${name}. ` +
        `The command line opens it too: dpcache inspect ${name}`,
    );
  });
}

function memoryNameFor(name: string): string {
  const words = name.match(/[\p{L}\p{N}_]+/gu) ?? ['memory'];
  return `${words.join('-')}.dpc`;
}

/** What fails is said, and leaves the page as it was. */
async function attempt<T>(work: Promise<T>, use: (result: T) => void): Promise<void> {
  try {
    use(await work);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), true);
    const fileName = stream.sample === null && stream.name ? stream.name : null;
    source.show(settings.sample, settings.size, fileName, memory);
  }
}

function frame(now: number): void {
  isDirty = false;
  transport.tick(now);
  moment.moveTo(transport.cursor);
  const shown = state();
  let wantsMore = transport.isPlaying;
  for (const panel of panels) {
    // At rest all are drawn: what they say in words is to be right wherever one reads.
    if (shown.isPlaying && outOfSight.has(panel)) continue;
    if (panel.draw(shown, now)) wantsMore = true;
  }
  if (wantsMore) touch();
}

function useTau(tau: number): void {
  find('tab-own', HTMLButtonElement).click();
  if (memory?.config.gate) return say('This memory has a gate of its own; its τ cannot be set.', true);
  change({ tau });
}

// What is behind the other tabs is fetched, and the server asked, when somebody wants to see it.
const behind = {
  templates: () =>
    import('./panels/templates').then(
      (it) =>
        new it.TemplatesPanel({ stream: () => stream, find: (codes) => client.templates(codes) }),
    ),
  learn: () =>
    import('./panels/learn').then(
      (it) =>
        new it.LearnPanel({
          masks: () => settings.masks,
          use: useTau,
          advice: (known) => client.advice(known, settings.masks),
        }),
    ),
  server: () => import('./panels/server').then((it) => new it.ServerPanel()),
};
makeTabs(['tab-own', 'tab-templates', 'tab-learn', 'tab-server'], (id) => {
  const name = id.slice('tab-'.length);
  if (name === 'templates' || name === 'learn' || name === 'server') {
    if (!fetched.has(name)) fetched.set(name, behind[name]());
  } else {
    touch(); // what was out of sight is drawn
  }
  tell();
});

/** Lets what is behind the other tabs know whether it is in sight, and that the stream may be new. */
function tell(): void {
  for (const [one, panel] of fetched) {
    panel.then(
      (it) => (find(one, HTMLElement).hidden ? it.hide() : it.show()),
      (error: unknown) => {
        fetched.delete(one);
        setText(find(`${one}-words`, HTMLElement), `This tab cannot be loaded: ${String(error)}`);
      },
    );
  }
}

// The address behind "#" holds settings: the link to the stream must leave it alone.
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  find('tab-own', HTMLButtonElement).click();
  find('stream', HTMLElement).focus();
});

addEventListener('hashchange', () => {
  const { settings: wanted, bad } = parseHash(location.hash);
  if (formatHash(wanted) === formatHash(settings) && bad.length === 0) return;
  settings = memory ? { ...wanted, ...knobsOf(memory) } : wanted;
  badSettings = bad;
  void attempt(client.sample(settings.sample, settings.size), take);
});

knobsPanel.show(settings, 'text', null);
source.show(settings.sample, settings.size, null, null);
requestAnimationFrame(frame);
void attempt(client.sample(settings.sample, settings.size), take);

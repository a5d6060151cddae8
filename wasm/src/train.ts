// dpcache/train: learns a gate from examples, and chooses tau with a bound on false merges. Its
// WebAssembly is a file of its own, loaded by the first call.
// Long for its kinds of example; each is checked here and handed over.
import { prepareAll, toFloats, toInteger, toOptions, toText } from './arguments.js';
import { Border } from './border.js';
import { dispose } from './dispose.js';
import { DpcacheError } from './errors.js';
import createTrainCore, { type TrainCore } from './train-core.js';
import type { OpenOptions, Vector } from './types.js';
import { instantiate, sharing } from './wasm-source.js';
import type { Reply, Request } from './wire.js';

export { DpcacheError, type ErrorCode, type ItemError } from './errors.js';
export type { OpenOptions, Vector, WasmSource } from './types.js';

/** The learned gate, as `Config.gate` takes it. */
export interface Gate {
  /** Slope, above 0. */
  a: number;
  /** The novelty above which an item opens a slot, [0, 2]. */
  b: number;
}

/** What turns text into vectors: an `Encoder` of `dpcache`, or your own. */
export interface TextEncoderLike {
  encode(text: string): Float32Array;
}

/**
 * Two things, and whether they are the same. A correction is one too: "this merge was wrong" is
 * `{ novelty: decision.novelty, same: false }`, "these two are the same" has `same: true`.
 */
export type Pair =
  | { a: Vector; b: Vector; same: boolean }
  | { textA: string; textB: string; same: boolean }
  | { novelty: number; same: boolean };

/** Something, and what it is. Equal labels are the same thing. */
export type LabelledItem =
  | { key: Vector; label: string | number }
  | { text: string; label: string | number };

export interface ExampleOptions extends OpenOptions {
  /** For examples that are text. */
  encoder?: TextEncoderLike;
}

export interface TrainOptions extends ExampleOptions {
  /** A false merge is as bad as so many missed ones, [1e-3, 1e3], default 1. Larger: smaller `b`. */
  falseMergeCost?: number;
}

export interface LearnedGate {
  /** null: there is no such gate. */
  gate: Gate | null;
  /** Why there is none; else empty. */
  reason: string;
  /** Pairs that are the same, and different. */
  same: number;
  different: number;
  /** How likely a different pair is the more novel one: 1 is perfect, .5 is chance. */
  separation: number;
  /** Mean cross-entropy, in nats. */
  loss: number;
}

export interface CalibrateOptions extends ExampleOptions {
  /** The share of different pairs, or of all items, that may merge wrongly: (0, 1), default .01. */
  maxFalseMerge?: number;
  /** How sure that is to be: (0, 1), default .9. */
  confidence?: number;
  /**
   * 0, the default: the rate of false merges, behind all that may ever come, is to be at most that share.
   * m: of the next m different pairs, or items, at most that share is to merge wrongly. [0, 2^53 - 1]
   */
  upcoming?: number;
}

export interface CurvePoint {
  tau: number;
  falseMerges: number;
  missedMerges: number;
  /**
   * With the asked confidence, the rate of false merges at this tau alone is at most this; with
   * `upcoming`, their share of the next so many is.
   */
  falseMergeBound: number;
}

export interface Calibration {
  /** The loosest tau whose bound holds; null: refused. */
  tau: number | null;
  /** Its point of the curve. */
  chosen: CurvePoint | null;
  /** Why there is none; else empty. */
  reason: string;
  /** Refused, but about so many at risk may do; null: no number is known to. */
  needed: number | null;
  /** What false merges are counted out of. */
  atRisk: number;
  /** What missed merges are counted out of. */
  mergeable: number;
  /** tau = 0, .005, …, 2. */
  curve: CurvePoint[];
}

/** A stream and what it is asked at its end; nothing says which items are new. */
export interface Episode {
  keys: readonly Vector[];
  /** The class of each key, an integer in [0, classes). */
  keyClasses: readonly number[];
  queries: readonly Vector[];
  /** The right answers. */
  queryClasses: readonly number[];
  /** At least 2. */
  classes: number;
}

/** Episodes of the noise model: random things, each seen several times with noise, each asked once. */
export interface PracticeOptions {
  /** [1, 65536], default 64. */
  dimension?: number;
  /** [2, 65536], default 16. */
  classes?: number;
  /** Distinct items, from `least` to `most`: [1, 4096], default 16 and 64. */
  least?: number;
  most?: number;
  /** [0, 10], default .3: two copies of a thing have a cosine of about 1 / (1 + noise²). */
  noise?: number;
  /** How often each is seen, [1, 64]; default 0: 1 + min(Geometric(1/4) − 1, 15) times. */
  repeats?: number;
  seed?: number;
}

export interface TaskOptions extends OpenOptions {
  /** Your episodes, taken in turn; or `practice`. */
  episodes?: readonly Episode[];
  practice?: PracticeOptions;
  /** Default 600. */
  steps?: number;
  /** Where it starts, of any sign: default { a: 1, b: .5 }. */
  start?: Gate;
  /** The price of a slot, in nats for each query: default .5; below ln(classes). */
  lambda?: number;
  /** Of Adam, (0, 1], default .05. */
  rate?: number;
  seed?: number;
  /** Temperature of the readout, default .05. */
  theta?: number;
  /** Similarity of a null slot that answers any class alike, default .6. */
  nullSimilarity?: number;
  signal?: AbortSignal;
  /** After each step: the loss in nats a query, price included. */
  onStep?: (step: number, loss: number) => void;
}

export interface TaskGate {
  /** null: after these steps there is no gate with a > 0 and b in [0, 2]. */
  gate: Gate | null;
  steps: number;
  /** Of the last step. */
  loss: number;
}

class Instance extends Border<TrainCore> {
  static async start(module: WebAssembly.Module): Promise<Instance> {
    return new Instance(await instantiate(createTrainCore, module, {}));
  }
}

const instance = sharing<Instance>({
  start: (module) => Instance.start(module),
  ownFile: () => new URL('./train.wasm', import.meta.url),
  advice:
    'Where a bundler has moved this module away from its file, give { wasm } the address, bytes or ' +
    'module of dpcache/train.wasm',
});

// --- Arguments

function toNumber(x: unknown, pointer: string): number {
  if (typeof x === 'number') return x;
  throw DpcacheError.at(pointer, 'must be a number');
}

function option(x: number | undefined, usual: number, pointer: string): number {
  return x === undefined ? usual : toNumber(x, pointer);
}

function whole(x: number | undefined, usual: number, pointer: string): number {
  return x === undefined ? usual : toInteger(x, pointer);
}

function encode(encoder: TextEncoderLike | undefined, text: unknown, pointer: string): Float32Array {
  const checked = toText(text, pointer);
  if (encoder) return toFloats(encoder.encode(checked), pointer);
  throw DpcacheError.at(pointer, 'text needs an encoder: give { encoder } of Encoder.create()');
}

function toObject(x: unknown, what: string): Record<string, unknown> {
  if (typeof x === 'object' && x !== null) return x as Record<string, unknown>;
  throw DpcacheError.at('', `${what} must be an object`);
}

interface PreparedPair {
  same: boolean;
  novelty: number;
  vectors: readonly [Float32Array, Float32Array] | undefined;
}

const emptyPair: PreparedPair = { same: true, novelty: 0, vectors: undefined };

function preparePair(pair: Pair, encoder: TextEncoderLike | undefined): PreparedPair {
  const given = toObject(pair, 'a pair');
  const { same } = given;
  if (typeof same !== 'boolean') throw DpcacheError.at('/same', 'must be true or false');
  const kinds = [['novelty'], ['a', 'b'], ['textA', 'textB']].filter((names) =>
    names.some((name) => given[name] !== undefined),
  );
  if (kinds.length !== 1) {
    throw DpcacheError.at('', 'a pair has either a and b, or textA and textB, or a novelty');
  }
  if ('novelty' in given && given['novelty'] !== undefined) {
    return { same, novelty: toNumber(given['novelty'], '/novelty'), vectors: undefined };
  }
  const vectors =
    kinds[0]?.[0] === 'a'
      ? ([toFloats(given['a'], '/a'), toFloats(given['b'], '/b')] as const)
      : ([
          encode(encoder, given['textA'], '/textA').slice(), // an encoder may use its array again
          encode(encoder, given['textB'], '/textB').slice(),
        ] as const);
  return { same, novelty: 0, vectors };
}

function preparePairs(pairs: readonly Pair[], encoder: TextEncoderLike | undefined): PreparedPair[] {
  const { prepared, errors } = prepareAll(
    pairs,
    'pairs',
    (pair) => preparePair(pair, encoder),
    emptyPair,
  );
  if (errors.length > 0) throw DpcacheError.of(errors);
  return prepared;
}

function writePair(request: Request, { same, novelty, vectors }: PreparedPair): void {
  request.number(same ? 1 : 0);
  request.number(vectors ? 1 : 0);
  if (!vectors) return request.number(novelty);
  request.floats(vectors[0]);
  request.floats(vectors[1]);
}

function writePairs(request: Request, pairs: readonly PreparedPair[]): void {
  request.number(pairs.length);
  for (const pair of pairs) writePair(request, pair);
}

interface PreparedItems {
  keys: Float32Array[];
  ids: number[];
  dimension: number;
}

// Labels become numbers, the same ones in both lists.
function prepareItems(
  items: readonly LabelledItem[],
  what: string,
  ids: Map<string | number, number>,
  dimension: number | undefined,
  encoder: TextEncoderLike | undefined,
): PreparedItems {
  let length = dimension;
  const prepare = (item: LabelledItem): [Float32Array, number] => {
    const given = toObject(item, 'an item');
    const { label } = given;
    if (typeof label !== 'string' && typeof label !== 'number') {
      throw DpcacheError.at('/label', 'must be a string or a number');
    }
    if ((given['key'] === undefined) === (given['text'] === undefined)) {
      throw DpcacheError.at('', 'an item has a key or a text');
    }
    const key =
      given['text'] === undefined
        ? toFloats(given['key'], '/key')
        : encode(encoder, given['text'], '/text').slice();
    length ??= key.length;
    if (key.length !== length) {
      throw DpcacheError.at('/key', `expected ${length} numbers, got ${key.length}`, 'bad_shape');
    }
    let id = ids.get(label);
    if (id === undefined) ids.set(label, (id = ids.size));
    return [key, id];
  };
  const { prepared, errors } = prepareAll(items, what, prepare, [new Float32Array(0), 0]);
  if (errors.length > 0) {
    const at = (pointer: string): string => `/${what}${pointer}`;
    throw DpcacheError.of(errors.map((one) => ({ ...one, pointer: at(one.pointer) })));
  }
  return {
    keys: prepared.map(([key]) => key),
    ids: prepared.map(([, id]) => id),
    dimension: length ?? 1,
  };
}

function writeItems(request: Request, items: PreparedItems): void {
  request.number(items.keys.length);
  request.number(items.dimension);
  items.keys.forEach((key, i) => {
    request.number(items.ids[i] as number);
    request.floats(key);
  });
}

// --- Answers

function readGate(reply: Reply): Gate | null {
  const a = reply.maybe();
  const b = reply.maybe();
  return a === null || b === null ? null : { a, b };
}

function readPoint(reply: Reply): CurvePoint {
  return {
    tau: reply.number(),
    falseMerges: reply.number(),
    missedMerges: reply.number(),
    falseMergeBound: reply.number(),
  };
}

function readCalibration(reply: Reply): Calibration {
  const atRisk = reply.number();
  const mergeable = reply.number();
  const reason = reply.text();
  const needed = reply.maybe();
  const chosen = reply.number() === 0 ? null : readPoint(reply);
  const curve = reply.list(() => readPoint(reply));
  return { tau: chosen?.tau ?? null, chosen, reason, needed, atRisk, mergeable, curve };
}

// What calibrate() and calibrateItems() say of the bound, in the order of their request.
function boundOf({ maxFalseMerge, confidence, upcoming }: CalibrateOptions): number[] {
  return [
    option(maxFalseMerge, 0.01, '/maxFalseMerge'),
    option(confidence, 0.9, '/confidence'),
    whole(upcoming, 0, '/upcoming'),
  ];
}

// Writes a request, makes the call, reads its reply.
function ask<T>(
  open: Instance,
  call: (handle: number) => number,
  handle: number,
  write: (request: Request) => void,
  read: (reply: Reply) => T,
): T {
  open.check();
  try {
    open.request.begin();
    write(open.request);
    return read(open.call(call, handle));
  } finally {
    open.tidy();
  }
}

// --- What users call

/**
 * A gate from labelled pairs or corrections: the logistic curve of "different" over novelty. Their
 * order does not matter. Where there is no such gate, `reason` tells why.
 */
export async function train(
  pairs: readonly Pair[],
  options: TrainOptions = {},
): Promise<LearnedGate> {
  const { encoder, falseMergeCost, wasm } = toOptions(options);
  const cost = option(falseMergeCost, 1, '/falseMergeCost');
  const prepared = preparePairs(pairs, encoder);
  const open = await instance(wasm);
  return ask(
    open,
    open.core.learnPairs,
    0,
    (request) => {
      writePairs(request, prepared);
      request.number(cost);
    },
    (reply) => ({
      gate: readGate(reply),
      reason: reply.text(),
      same: reply.number(),
      different: reply.number(),
      separation: reply.number(),
      loss: reply.number(),
    }),
  );
}

/**
 * The loosest tau at which at most `maxFalseMerge` of the pairs that are different merge, with this
 * confidence: Clopper–Pearson, and a fixed sequence from tau = 0. With `upcoming` the next so many of
 * them are counted: Thatcher's bound. Both hold for pairs that are drawn like these, each on its own.
 * An item meets the nearest of many slots, not a random partner: see
 * calibrateItems().
 */
export async function calibrate(
  pairs: readonly Pair[],
  options: CalibrateOptions = {},
): Promise<Calibration> {
  const { encoder, wasm } = toOptions(options);
  const bound = boundOf(options);
  const prepared = preparePairs(pairs, encoder);
  const open = await instance(wasm);
  const write = (request: Request): void => {
    writePairs(request, prepared);
    bound.forEach((x) => request.number(x));
  };
  return ask(open, open.core.calibratePairs, 0, write, readCalibration);
}

/**
 * The same per item: each item meets the nearest of a memory whose slots are the items of
 * `reference`, and of all items at most `maxFalseMerge` join a slot of another label. Items × slots
 * products of vectors.
 */
export async function calibrateItems(
  items: readonly LabelledItem[],
  reference: readonly LabelledItem[],
  options: CalibrateOptions = {},
): Promise<Calibration> {
  const { encoder, wasm } = toOptions(options);
  const bound = boundOf(options);
  const ids = new Map<string | number, number>();
  const slots = prepareItems(reference, 'reference', ids, undefined, encoder);
  const dimension = slots.keys.length > 0 ? slots.dimension : undefined;
  const tried = prepareItems(items, 'items', ids, dimension, encoder);
  if (slots.keys.length === 0) slots.dimension = tried.dimension;
  const open = await instance(wasm);
  const write = (request: Request): void => {
    writeItems(request, slots);
    writeItems(request, tried);
    bound.forEach((x) => request.number(x));
  };
  return ask(open, open.core.calibrateItems, 0, write, readCalibration);
}

/** The novelty of each pair, as a cache computes it: 1 − cosine. */
export async function novelties(
  pairs: readonly Pair[],
  options: ExampleOptions = {},
): Promise<Float32Array> {
  const { encoder, wasm } = toOptions(options);
  const prepared = preparePairs(pairs, encoder);
  const open = await instance(wasm);
  return ask(
    open,
    open.core.novelties,
    0,
    (request) => writePairs(request, prepared),
    (reply) => Float32Array.from(reply.list(() => reply.number())),
  );
}

interface Held {
  open: Instance;
  handle: number;
}

const release = ({ open, handle }: Held): void => {
  if (!open.isBroken) open.core.freeLearner(handle);
};
const forgotten = new FinalizationRegistry(release);

/** A gate that takes one step for each judged decision: `b` moves by at most `rate`. */
export class OnlineGate {
  readonly #held: Held;
  #gate: Gate;
  #steps = 0;
  #disposed = false;

  private constructor(held: Held, gate: Gate) {
    this.#held = held;
    this.#gate = gate;
    forgotten.register(this, held, this);
  }

  /** `bad_config`: a not in [1, 1000], b not in [0, 2], rate not in (0, 1] (default .02). */
  static async create(
    start: Gate,
    options: OpenOptions & { rate?: number } = {},
  ): Promise<OnlineGate> {
    const { a, b } = toObject(start, 'the gate') as unknown as Gate;
    const gate = { a: Math.fround(toNumber(a, '/a')), b: Math.fround(toNumber(b, '/b')) };
    const { rate, wasm } = toOptions(options);
    const step = option(rate, 0.02, '/rate');
    const open = await instance(wasm);
    const write = (request: Request): void => {
      request.number(gate.a);
      request.number(gate.b);
      request.number(step);
    };
    const handle = ask(open, open.core.createOnline, 0, write, (reply) => reply.number());
    return new OnlineGate({ open, handle }, gate);
  }

  /** One step; the gate after it. */
  correct(pair: Pair, options: { encoder?: TextEncoderLike } = {}): Gate {
    if (this.#disposed) throw new DpcacheError('disposed', 'this gate was disposed');
    const prepared = preparePair(pair, toOptions(options).encoder);
    const { open, handle } = this.#held;
    const write = (request: Request): void => writePair(request, prepared);
    const gate = ask(open, open.core.correct, handle, write, readGate);
    if (gate) this.#gate = gate;
    this.#steps++;
    return this.gate;
  }

  get gate(): Gate {
    return { ...this.#gate };
  }

  get steps(): number {
    return this.#steps;
  }

  /** Gives the memory back. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    forgotten.unregister(this);
    release(this.#held);
  }

  [dispose](): void {
    this.dispose();
  }
}

function flat(vectors: readonly Vector[], pointer: string): { all: Float32Array; length: number } {
  if (!Array.isArray(vectors)) throw DpcacheError.at(pointer, 'must be an array of vectors');
  const list = (vectors as readonly Vector[]).map((one, i) => toFloats(one, `${pointer}/${i}`));
  const length = list[0]?.length ?? 0;
  const all = new Float32Array(list.length * length);
  list.forEach((one, i) => {
    if (one.length !== length) {
      const detail = `expected ${length} numbers, got ${one.length}`;
      throw DpcacheError.at(`${pointer}/${i}`, detail, 'bad_shape');
    }
    all.set(one, i * length);
  });
  return { all, length };
}

function classesOf(list: readonly number[], pointer: string): number[] {
  if (!Array.isArray(list)) throw DpcacheError.at(pointer, 'must be an array of integers');
  return (list as readonly number[]).map((one, i) => toInteger(one, `${pointer}/${i}`));
}

function prepareEpisode(episode: Episode, index: number): (request: Request) => void {
  const at = `/episodes/${index}`;
  const given = toObject(episode, 'an episode') as unknown as Episode;
  const keys = flat(given.keys, `${at}/keys`);
  const queries = flat(given.queries, `${at}/queries`);
  const keyClasses = classesOf(given.keyClasses, `${at}/keyClasses`);
  const queryClasses = classesOf(given.queryClasses, `${at}/queryClasses`);
  const classes = toInteger(given.classes, `${at}/classes`);
  return (request) => {
    request.number(keys.length);
    request.number(classes);
    request.floats(keys.all);
    request.number(keyClasses.length);
    for (const one of keyClasses) request.number(one);
    request.floats(queries.all);
    request.number(queryClasses.length);
    for (const one of queryClasses) request.number(one);
  };
}

function preparePractice(practice: PracticeOptions | undefined): number[] {
  if (practice === undefined) return [0];
  const { dimension, classes, least, most, noise, repeats, seed } = toOptions(practice);
  return [
    1,
    whole(dimension, 64, '/practice/dimension'),
    whole(classes, 16, '/practice/classes'),
    whole(least, 16, '/practice/least'),
    whole(most, 64, '/practice/most'),
    option(noise, 0.3, '/practice/noise'),
    whole(repeats, 0, '/practice/repeats'),
    whole(seed, 0, '/practice/seed'),
  ];
}

/**
 * A gate from the task's loss alone: nothing says which items are new, only whether the answers at
 * the end are right, at a price for each slot. A few ms a step for 40 distinct items; lets others run
 * in between. The same seed gives the same gate, bit for bit, everywhere.
 */
export async function trainOnTask(options: TaskOptions): Promise<TaskGate> {
  const given = toOptions(options);
  const { episodes, practice, signal, onStep } = given;
  if ((episodes === undefined) === (practice === undefined)) {
    throw DpcacheError.at('/episodes', 'give either episodes or practice');
  }
  if (episodes !== undefined && (!Array.isArray(episodes) || episodes.length === 0)) {
    throw DpcacheError.at('/episodes', 'must be an array with an episode or more');
  }
  const steps = whole(given.steps, 600, '/steps');
  if (steps < 1) throw DpcacheError.at('/steps', 'must be at least 1', 'bad_config');
  const numbers = [
    option(given.start?.a, 1, '/start/a'),
    option(given.start?.b, 0.5, '/start/b'),
    option(given.lambda, 0.5, '/lambda'),
    option(given.rate, 0.05, '/rate'),
    whole(given.seed, 0, '/seed'),
    option(given.theta, 0.05, '/theta'),
    option(given.nullSimilarity, 0.6, '/nullSimilarity'),
    ...preparePractice(practice),
  ];
  const prepared = (episodes ?? []).map(prepareEpisode);

  const open = await instance(given.wasm);
  const write = (request: Request): void => numbers.forEach((x) => request.number(x));
  const handle = ask(open, open.core.createTrainer, 0, write, (reply) => reply.number());
  try {
    let outcome: TaskGate = { gate: null, steps: 0, loss: 0 };
    let rest = performance.now();
    for (let step = 1; step <= steps; step++) {
      signal?.throwIfAborted();
      const episode = prepared[(step - 1) % prepared.length];
      const { practise, learnEpisode } = open.core;
      const call = episode ? learnEpisode : practise;
      outcome = ask(open, call, handle, episode ?? (() => {}), (reply) => {
        const loss = reply.number();
        return { loss, gate: readGate(reply), steps: step };
      });
      onStep?.(step, outcome.loss);
      if (performance.now() - rest < 12) continue; // so that a page can draw
      await new Promise((resolve) => setTimeout(resolve));
      rest = performance.now();
    }
    return outcome;
  } finally {
    release({ open, handle });
  }
}

// advise(): where in one's own items the same ends, and how sure that is. A part of dpcache/trust and
// of its WebAssembly.
import { prepareAll, toFloats, toInteger, toOptions, toText } from './arguments.js';
import { DpcacheError } from './errors.js';
import type { Runtime } from './runtime.js';
import type { TrustCore } from './trust-core.js';
import { runtime } from './trust-runtime.js';
import type { OpenOptions, Vector } from './types.js';
import type { Reply, Request } from './wire.js';

/** What turns text into vectors: an `Encoder` of `dpcache`, or your own. */
export interface AdviceEncoder {
  encode(text: string): Float32Array;
  /** What is left of a text where parts may vary; guards see that alone. */
  mask?(text: string): string;
}

/** An item of the stream; equal labels are the same thing. */
export type AdviceItem = ({ key: Vector; guardText?: string } | { text: string }) & {
  label?: string | number;
};

/** Two things, and whether they are the same. */
export type AdvicePair =
  | { a: Vector; b: Vector; same: boolean }
  | { textA: string; textB: string; same: boolean }
  | { novelty: number; same: boolean };

export interface AdviseOptions extends OpenOptions {
  /** For what is text. */
  encoder?: AdviceEncoder;
  /** What is known of things that need not be among the items. */
  pairs?: readonly AdvicePair[];
  /** How many items are looked at; of more, so many are drawn. [2, 2^20], default 20,000. */
  sample?: number;
  seed?: number;
  /** The share of items, or of different pairs, that may merge wrongly: (0, 1), default .01. */
  maxFalseMerge?: number;
  /** How sure that is to be: (0, 1), default .9. */
  confidence?: number;
  /** To be tried besides the usual ones, which go from 0 to .8: each in [0, 2]. */
  taus?: readonly number[];
}

/** Low ground between items that have something like them and items that do not. */
export interface Valley {
  tau: number;
  /** Nine in ten resamples that have the valley have its tau from `low` to `high`. */
  low: number;
  high: number;
  /** Where the humps beside it are highest, as novelties. */
  nearer: number;
  farther: number;
  /** (0, 1]: 1 is empty ground. */
  depth: number;
  /** How often one hump alone would show a valley as clear. */
  chance: number;
  /** The share of resamples in which it was found again. */
  again: number;
  /** The nearer hump is there by exact repeats alone. */
  ofRepeats: boolean;
}

/** What the cache makes of the items at one tau. */
export interface TauTried {
  tau: number;
  slots: number;
  merged: number;
  /** Items in the slot that has most. */
  largest: number;
  /** Labelled items that joined a slot of another label, and the upper bound on their rate. */
  wrong: number;
  wrongBound: number;
  /** Merges that the guards would have stopped. */
  guarded: number;
  /** Pairs known to be different that merge, and known to be the same that do not. */
  differentMerged: number;
  sameApart: number;
  /** Of the pairs that merge, those that guards speak against. */
  differentGuarded: number;
  sameGuarded: number;
}

export interface Advice {
  /** Items, and how many of them were looked at. */
  seen: number;
  sampled: number;
  /** Items with the very vector of one before them. */
  repeats: number;
  labelled: number;
  /** Items with a text that guards know. */
  withFacts: number;
  /** Pairs. */
  same: number;
  different: number;
  /** Of each item but the first, its novelty to the nearest one before it: bins of .005, from 0 to 2. */
  histogram: number[];
  /** The first one counts. */
  valleys: Valley[];
  /** The suggestion; null is an answer too: see `reason`. */
  tau: number | null;
  evidence: 'items' | 'pairs' | 'valley' | 'none';
  reason: string;
  /** The share of items that would merge wrongly: a bound, if `bounded`, else an estimate. */
  wrongShare: number | null;
  bounded: boolean;
  /** By tau; the suggestion is among them. */
  tried: TauTried[];
  /** Pairs known to be different that would be one, by their place, the nearest first; at most 20. */
  opposites: number[];
  warnings: string[];
}

const evidences = ['items', 'pairs', 'valley', 'none'] as const;
const atOnce = 1000; // items in a request

// --- Arguments

function toNumber(x: unknown, pointer: string): number {
  if (typeof x === 'number') return x;
  throw DpcacheError.at(pointer, 'must be a number');
}

/** A vector, and what guards are to see of its text. */
interface Side {
  key: Float32Array;
  text: string;
}

function read(encoder: AdviceEncoder | undefined, text: unknown, pointer: string): Side {
  const checked = toText(text, pointer);
  if (!encoder) {
    throw DpcacheError.at(pointer, 'text needs an encoder: give { encoder } of Encoder.create()');
  }
  // An encoder may use its array again.
  const key = toFloats(encoder.encode(checked), pointer).slice();
  return { key, text: encoder.mask ? toText(encoder.mask(checked), pointer) : checked };
}

function toObject(x: unknown, what: string): Record<string, unknown> {
  if (typeof x === 'object' && x !== null) return x as Record<string, unknown>;
  throw DpcacheError.at('', `${what} must be an object`);
}

interface PreparedItem extends Side {
  label: number;
}

const emptyItem: PreparedItem = { key: new Float32Array(0), text: '', label: -1 };

function prepareItem(
  item: AdviceItem,
  encoder: AdviceEncoder | undefined,
  labels: Map<string | number, number>,
): PreparedItem {
  const given = toObject(item, 'an item');
  if ((given['key'] === undefined) === (given['text'] === undefined)) {
    throw DpcacheError.at('', 'an item has a key or a text');
  }
  const { label, guardText } = given;
  let number: number | undefined = -1;
  if (label !== undefined) {
    if (typeof label !== 'string' && typeof label !== 'number') {
      throw DpcacheError.at('/label', 'must be a string or a number');
    }
    number = labels.get(label);
    if (number === undefined) labels.set(label, (number = labels.size));
  }
  if (given['text'] !== undefined) {
    if (guardText !== undefined) {
      throw DpcacheError.at('/guardText', 'goes with a key: a text is for the guards too');
    }
    return { ...read(encoder, given['text'], '/text'), label: number };
  }
  const text = guardText === undefined ? '' : toText(guardText, '/guardText');
  return { key: toFloats(given['key'], '/key'), text, label: number };
}

interface PreparedPair {
  same: boolean;
  novelty: number;
  sides: readonly [Side, Side] | undefined;
}

const emptyPair: PreparedPair = { same: true, novelty: 0, sides: undefined };

function preparePair(pair: AdvicePair, encoder: AdviceEncoder | undefined): PreparedPair {
  const given = toObject(pair, 'a pair');
  const { same } = given;
  if (typeof same !== 'boolean') throw DpcacheError.at('/same', 'must be true or false');
  const kinds = [['novelty'], ['a', 'b'], ['textA', 'textB']].filter((names) =>
    names.some((name) => given[name] !== undefined),
  );
  if (kinds.length !== 1) {
    throw DpcacheError.at('', 'a pair has either a and b, or textA and textB, or a novelty');
  }
  if (given['novelty'] !== undefined) {
    return { same, novelty: toNumber(given['novelty'], '/novelty'), sides: undefined };
  }
  const side = (name: 'a' | 'b'): Side => ({ key: toFloats(given[name], `/${name}`), text: '' });
  const sides =
    kinds[0]?.[0] === 'a'
      ? ([side('a'), side('b')] as const)
      : ([
          read(encoder, given['textA'], '/textA'),
          read(encoder, given['textB'], '/textB'),
        ] as const);
  return { same, novelty: 0, sides };
}

// --- The order in which ../advise_bindings.cc reads and writes them

function writeItem(request: Request, { label, key, text }: PreparedItem): void {
  request.number(label);
  request.floats(key);
  request.text(text);
}

function writePair(request: Request, { same, novelty, sides }: PreparedPair): void {
  request.number(same ? 1 : 0);
  request.number(sides ? 1 : 0);
  if (sides) for (const { key } of sides) request.floats(key);
  else request.number(novelty);
  request.text(sides?.[0].text ?? '');
  request.text(sides?.[1].text ?? '');
}

function readValley(reply: Reply): Valley {
  return {
    tau: reply.number(),
    low: reply.number(),
    high: reply.number(),
    nearer: reply.number(),
    farther: reply.number(),
    depth: reply.number(),
    chance: reply.number(),
    again: reply.number(),
    ofRepeats: reply.number() !== 0,
  };
}

function readTried(reply: Reply): TauTried {
  const tau = reply.number();
  const wrongBound = reply.number();
  return {
    tau,
    slots: reply.number(),
    merged: reply.number(),
    largest: reply.number(),
    wrong: reply.number(),
    wrongBound,
    guarded: reply.number(),
    differentMerged: reply.number(),
    sameApart: reply.number(),
    differentGuarded: reply.number(),
    sameGuarded: reply.number(),
  };
}

function readAdvice(reply: Reply): Advice {
  return {
    seen: reply.number(),
    sampled: reply.number(),
    repeats: reply.number(),
    labelled: reply.number(),
    withFacts: reply.number(),
    same: reply.number(),
    different: reply.number(),
    histogram: reply.list(() => reply.number()),
    valleys: reply.list(() => readValley(reply)),
    tau: reply.maybe(),
    evidence: evidences[reply.number()] as Advice['evidence'],
    reason: reply.text(),
    wrongShare: reply.maybe(),
    bounded: reply.number() !== 0,
    tried: reply.list(() => readTried(reply)),
    opposites: reply.list(() => reply.number()),
    warnings: reply.list(() => reply.text()),
  };
}

// Writes a request, makes the call, reads its reply.
function ask<T>(
  open: Runtime,
  call: (handle: number) => number,
  handle: number,
  write: (request: Request) => void,
  readReply: (reply: Reply) => T,
): T {
  open.check();
  try {
    open.request.begin();
    write(open.request);
    return readReply(open.call(call, handle));
  } finally {
    open.tidy();
  }
}

const nothing = (): void => {};
const noAnswer = (): undefined => undefined;

/** Prepares and sends a list part by part; what is bad of it is named by its place in all of it. */
function send<In, Out>(
  list: readonly In[],
  what: string,
  prepare: (one: In) => Out,
  empty: Out,
  take: (part: readonly Out[]) => void,
): void {
  if (!Array.isArray(list)) throw DpcacheError.at(`/${what}`, 'must be a list');
  for (let from = 0; from < list.length; from += atOnce) {
    const { prepared, errors } = prepareAll(
      list.slice(from, from + atOnce) as readonly In[],
      what,
      prepare,
      empty,
    );
    const named = (error: DpcacheError): DpcacheError =>
      DpcacheError.of(
        error.errors.map((one) => ({
          ...one,
          index: one.index + from,
          pointer: one.pointer.startsWith(`/${what}`) ? one.pointer : `/${what}${one.pointer}`,
        })),
      );
    if (errors.length > 0) throw named(DpcacheError.of(errors));
    try {
      take(prepared);
    } catch (error) {
      throw error instanceof DpcacheError && error.errors.length > 0 ? named(error) : error;
    }
  }
}

/**
 * Advice on tau from a stream's own items: the histogram of their novelties and its valley, a tau with
 * the share of wrong merges to expect of it, and what each tau would do, as the cache itself does it.
 * Labels, or pairs, bound that share; a valley estimates it. The numbers are those of `dpcache advise`,
 * bit for bit. It is one long call: sample × slots × dimension for each tau; in a page, a worker's.
 */
export async function advise(
  items: readonly AdviceItem[],
  options: AdviseOptions = {},
): Promise<Advice> {
  const { encoder, pairs, sample, seed, maxFalseMerge, confidence, taus, wasm } = toOptions(options);
  const more = (taus ?? []).map((tau, i) => toNumber(tau, `/taus/${i}`));
  const labels = new Map<string | number, number>();
  const prepare = (item: AdviceItem): PreparedItem => prepareItem(item, encoder, labels);
  if (!Array.isArray(items)) throw DpcacheError.at('/items', 'must be a list');
  // The first item tells the dimension; it is prepared once more, as all are.
  const first = items.length > 0 ? prepareAll([items[0] as AdviceItem], 'items', prepare, emptyItem) : undefined;
  const length = first?.prepared[0]?.key.length ?? 0;
  const numbers = [
    Math.max(length, 1),
    sample === undefined ? 20000 : toInteger(sample, '/sample'),
    seed === undefined ? 0 : toInteger(seed, '/seed'),
    maxFalseMerge === undefined ? 0.01 : toNumber(maxFalseMerge, '/maxFalseMerge'),
    confidence === undefined ? 0.9 : toNumber(confidence, '/confidence'),
    more.length,
    ...more,
  ];
  const open = await runtime(wasm);
  const core = open.core as TrustCore;
  const write = (request: Request): void => numbers.forEach((x) => request.number(x));
  const handle = ask(open, core.createAdvisor, 0, write, (reply) => reply.number());
  try {
    send(items, 'items', prepare, emptyItem, (part) =>
      ask(
        open,
        core.adviseItems,
        handle,
        (request) => {
          request.number(part.length);
          for (const item of part) writeItem(request, item);
        },
        noAnswer,
      ),
    );
    const judge = (pair: AdvicePair): PreparedPair => preparePair(pair, encoder);
    send(pairs ?? [], 'pairs', judge, emptyPair, (part) =>
      ask(
        open,
        core.advisePairs,
        handle,
        (request) => {
          request.number(part.length);
          for (const pair of part) writePair(request, pair);
        },
        noAnswer,
      ),
    );
    return ask(open, core.advise, handle, nothing, readAdvice);
  } finally {
    if (!open.isBroken) core.freeAdvisor(handle);
  }
}

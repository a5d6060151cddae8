// The page's settings: defaults, ranges, and how they stand in the address behind "#".
import { sampleNames, sampleTau, type SampleName } from './samples/names';

export const maskNames = ['number', 'hex', 'ip', 'uuid', 'time', 'path'] as const;
export type Mask = (typeof maskNames)[number];

export const keyPolicies = ['frozen', 'centroid'] as const;
export const valuePolicies = ['first', 'last', 'mean', 'ema'] as const;
export const budgets = ['none', 'fixed', 'adaptive', 'ghost'] as const;
export const sizes = [500, 2000, 5000, 10000] as const;
/** Of those that look at a text alone. */
export const guardNames = [
  'number',
  'negation',
  'antonym',
  'identifier',
  'entity',
  'replaced',
  'order',
] as const;
export type GuardName = (typeof guardNames)[number];
export const audits = ['none', 'ids', 'full'] as const;

/** What a cache is made with, as the knobs say it. */
export interface Knobs {
  tau: number;
  theta: number;
  key: (typeof keyPolicies)[number];
  value: (typeof valuePolicies)[number];
  budget: (typeof budgets)[number];
  m0: number;
  beta: number;
  decay: number;
  masks: readonly Mask[];
  /** What keeps texts apart that say different things. */
  guards: readonly GuardName[];
  /** At most so novel: an item merges; from there to tau it is uncertain. null: there is no such band. */
  merge: number | null;
  /** What is kept of the items that slots absorb. */
  audit: (typeof audits)[number];
}

/** Whether the cache must be one of dpcache/trust, which is loaded then. */
export const needsTrust = (knobs: Knobs): boolean =>
  knobs.guards.length > 0 || knobs.merge !== null || knobs.audit !== 'none';

export interface Settings extends Knobs {
  sample: SampleName;
  size: number;
}

export function defaultsFor(sample: SampleName): Settings {
  return {
    sample,
    size: 2000,
    tau: sampleTau[sample],
    theta: 0.05,
    key: 'frozen',
    value: 'first',
    budget: 'none',
    m0: 8,
    beta: 40,
    decay: 1,
    masks: maskNames,
    guards: [],
    merge: null,
    audit: 'none',
  };
}

/** Least and largest of each number. */
export const ranges = {
  tau: [0, 2],
  theta: [0.0001, 100],
  m0: [1, 100000],
  beta: [0, 100000],
  decay: [0.0001, 1],
  merge: [0, 2],
} as const;

export type NumberName = keyof typeof ranges;
const numberNames = Object.keys(ranges) as NumberName[];

export const inRange = (name: NumberName, x: number): boolean =>
  Number.isFinite(x) && x >= ranges[name][0] && x <= ranges[name][1];

const choose = <T extends string>(list: readonly T[], text: string): T | undefined =>
  list.find((one) => one === text);

/** Some of `all`, in its order. */
function parseList<T extends string>(all: readonly T[], text: string): readonly T[] | undefined {
  if (text === 'all') return all;
  if (text === 'none') return [];
  const names = text.split(',').map((name) => choose(all, name));
  return names.includes(undefined) ? undefined : all.filter((name) => names.includes(name));
}

const formatList = <T>(all: readonly T[], some: readonly T[]): string =>
  some.length === all.length ? 'all' : some.join(',') || 'none';

/** Settings from an address. What cannot be read falls back, and is named in `bad`. */
export function parseHash(hash: string): { settings: Settings; bad: string[] } {
  const given = new Map(new URLSearchParams(hash.replace(/^#/, '')));
  const bad: string[] = [];
  const sampleText = given.get('sample');
  const sample = sampleText === undefined ? 'log' : choose(sampleNames, sampleText);
  if (!sample) bad.push(`sample=${sampleText}`);
  const settings = defaultsFor(sample ?? 'log');
  given.delete('sample');
  for (const [name, text] of given) {
    const number = numberNames.find((one) => one === name);
    let isGood = false;
    if (number) {
      const x = text.trim() === '' ? NaN : Number(text);
      isGood = inRange(number, x);
      if (isGood) settings[number] = x;
    } else if (name === 'size') {
      const size = sizes.find((one) => String(one) === text);
      isGood = size !== undefined;
      settings.size = size ?? settings.size;
    } else if (name === 'masks') {
      const masks = parseList(maskNames, text);
      isGood = masks !== undefined;
      settings.masks = masks ?? settings.masks;
    } else if (name === 'guards') {
      const guards = parseList(guardNames, text);
      isGood = guards !== undefined;
      settings.guards = guards ?? settings.guards;
    } else if (name === 'audit') {
      const audit = choose(audits, text);
      isGood = audit !== undefined;
      settings.audit = audit ?? settings.audit;
    } else if (name === 'key') {
      const key = choose(keyPolicies, text);
      isGood = key !== undefined;
      settings.key = key ?? settings.key;
    } else if (name === 'value') {
      const value = choose(valuePolicies, text);
      isGood = value !== undefined;
      settings.value = value ?? settings.value;
    } else if (name === 'budget') {
      const budget = choose(budgets, text);
      isGood = budget !== undefined;
      settings.budget = budget ?? settings.budget;
    }
    if (!isGood) bad.push(`${name}=${text}`.slice(0, 60));
  }
  return { settings, bad };
}

/** Only what differs from the sample's defaults. */
export function formatHash(settings: Settings): string {
  const defaults = defaultsFor(settings.sample);
  const out = new URLSearchParams();
  if (settings.sample !== 'log') out.set('sample', settings.sample);
  for (const name of [
    'size',
    'tau',
    'theta',
    'key',
    'value',
    'budget',
    'm0',
    'beta',
    'decay',
    'merge',
    'audit',
  ] as const) {
    if (settings[name] !== defaults[name]) out.set(name, String(settings[name]));
  }
  const masks = formatList(maskNames, settings.masks);
  if (masks !== 'all') out.set('masks', masks);
  const guards = formatList(guardNames, settings.guards);
  if (guards !== 'none') out.set('guards', guards);
  return out.toString().replaceAll('%2C', ',');
}

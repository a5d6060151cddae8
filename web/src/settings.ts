// The page's settings: defaults, ranges, and how they stand in the address behind "#".
import { sampleNames, sampleTau, type SampleName } from './samples/names';

export const maskNames = ['number', 'hex', 'ip', 'uuid', 'time', 'path'] as const;
export type Mask = (typeof maskNames)[number];

export const keyPolicies = ['frozen', 'centroid'] as const;
export const valuePolicies = ['first', 'last', 'mean', 'ema'] as const;
export const budgets = ['none', 'fixed', 'adaptive', 'ghost'] as const;
export const sizes = [500, 2000, 5000, 10000] as const;

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
}

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
  };
}

/** Least and largest of each number. */
export const ranges = {
  tau: [0, 2],
  theta: [0.0001, 100],
  m0: [1, 100000],
  beta: [0, 100000],
  decay: [0.0001, 1],
} as const;

export type NumberName = keyof typeof ranges;
const numberNames = Object.keys(ranges) as NumberName[];

export const inRange = (name: NumberName, x: number): boolean =>
  Number.isFinite(x) && x >= ranges[name][0] && x <= ranges[name][1];

const choose = <T extends string>(list: readonly T[], text: string): T | undefined =>
  list.find((one) => one === text);

function parseMasks(text: string): readonly Mask[] | undefined {
  if (text === 'all') return maskNames;
  if (text === 'none') return [];
  const names = text.split(',').map((name) => choose(maskNames, name));
  return names.includes(undefined) ? undefined : maskNames.filter((name) => names.includes(name));
}

const formatMasks = (masks: readonly Mask[]): string =>
  masks.length === maskNames.length ? 'all' : masks.join(',') || 'none';

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
      const masks = parseMasks(text);
      isGood = masks !== undefined;
      settings.masks = masks ?? settings.masks;
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
  ] as const) {
    if (settings[name] !== defaults[name]) out.set(name, String(settings[name]));
  }
  const masks = formatMasks(settings.masks);
  if (masks !== 'all') out.set('masks', masks);
  return out.toString().replaceAll('%2C', ',');
}

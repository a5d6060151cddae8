// Configs on their way to the library: camelCase to JSON's snake_case, types checked.
import { toInteger, toText } from './arguments.js';
import { DpcacheError } from './errors.js';
import { snake } from './names.js';
import type { Config, EncoderConfig, MaskNames } from './types.js';

/** Settings to change; null takes one away. */
export type ConfigChanges = { [Name in Exclude<keyof Config, 'text'>]?: Config[Name] | null };

const bad = (pointer: string, detail: string): DpcacheError =>
  DpcacheError.at(pointer, detail, 'bad_config');

function checkScalar(value: unknown, pointer: string): void {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw bad(pointer, `must be finite, not ${value}`);
  } else if (typeof value !== 'string' && typeof value !== 'boolean') {
    throw bad(pointer, `must be a number, a string, true or false`);
  }
}

/**
 * The JSON that config_from_json() reads. Names and ranges are its to check; here only what JSON
 * would lose in silence is refused: NaN, functions, names that are not camelCase.
 */
export function configJson(config: object): string {
  const json: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(config) as [string, unknown][]) {
    if (value === undefined || value === null) continue;
    if (name.includes('_')) throw bad(`/${name}`, 'names are written in camelCase here');
    if (name === 'gate') {
      if (typeof value !== 'object') throw bad('/gate', 'must be an object with a and b');
      for (const [part, x] of Object.entries(value)) checkScalar(x, `/gate/${part}`);
    } else if (name === 'guards' && Array.isArray(value)) {
      for (const [i, guard] of (value as unknown[]).entries()) toText(guard, `/guards/${i}`);
    } else {
      checkScalar(value, `/${name}`);
    }
    json[snake(name)] = value;
  }
  return JSON.stringify(json);
}

export function checkObject(config: unknown, what: string): void {
  // The entries of a Map are not its properties: they would be lost in silence.
  if (typeof config !== 'object' || config === null || Symbol.iterator in config) {
    throw bad('', `${what} must be an object`);
  }
}

export function optionalTime(time: number | undefined): number {
  return time === undefined ? Date.now() : toInteger(time, '/time');
}

/** An encoder's settings without masks of one's own, complete and of the right types. */
export function checkEncoder(config: EncoderConfig): {
  dimension: number;
  seed: number;
  masks: string;
} {
  checkObject(config, 'the config');
  for (const name of Object.keys(config)) {
    if (!['dimension', 'seed', 'masks', 'ownMasks'].includes(name)) {
      throw bad(`/${name}`, 'there is no such setting');
    }
  }
  const { dimension = 256, seed = 0 } = config;
  const masks = maskNames(config.masks);
  return { dimension: toInteger(dimension, '/dimension'), seed: toInteger(seed, '/seed'), masks };
}

function maskNames(masks: MaskNames | undefined): string {
  if (masks === undefined) return 'none';
  const names: unknown = masks;
  if (typeof names === 'string') return names;
  if (!Array.isArray(names)) {
    throw bad('/masks', 'must be a string or a list of names');
  }
  const list: readonly unknown[] = names;
  return list.length === 0 ? 'none' : list.map((name, i) => toText(name, `/masks/${i}`)).join();
}

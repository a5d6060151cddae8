// Opening the memory that a store has, or else a new one.
import { DpcacheError } from './errors.js';
import type { ConfigChanges } from './settings.js';
import type { Store } from './store-contract.js';
import type { Config, FullConfig, LoadOptions } from './types.js';

/** What loadOrCreate needs of a cache; the worker's gives promises. */
export interface Configurable {
  readonly config: FullConfig | (() => Promise<FullConfig>);
  configure(changes: ConfigChanges): void | Promise<void>;
  dispose(): void | Promise<void>;
}

/** `Cache` of the main entry or of `dpcache/worker`. */
export interface CacheClass<C extends Configurable, O extends LoadOptions> {
  create(config: Config, options?: O): Promise<C>;
  load(bytes: Uint8Array, options?: O): Promise<C>;
}

// Settings that make vectors comparable: others are changed to what is asked.
const kIdentity = ['dimension', 'encoder', 'text'] as const;

/**
 * The memory in `store`, or a new one if it has none. Settings that `config` names hold from here
 * on, those that it leaves out stay the memory's. The memory is left alone and refused if it was
 * made with another dimension (`bad_config`) or encoder (`encoder_mismatch`), if it differs in a
 * setting that cannot change (`bad_config`), or if it is damaged (`bad_snapshot`).
 */
export async function loadOrCreate<C extends Configurable, O extends LoadOptions = LoadOptions>(
  Cache: CacheClass<C, O>,
  store: Store,
  config: Config,
  options?: O,
): Promise<C> {
  // Made in any case: it checks the config and spells it out.
  const fresh = await Cache.create(config, options);
  let loaded: C | undefined;
  try {
    const bytes = await store.read();
    if (!bytes) return fresh;
    const ownMasks = options?.ownMasks ?? config.text?.ownMasks;
    loaded = await Cache.load(bytes, { ...options, ...(ownMasks && { ownMasks }) } as O);
    const its = await configOf(loaded);
    const asked = await configOf(fresh);
    check(its, asked);
    const changed = difference(config, its, asked);
    if (Object.keys(changed).length > 0) await loaded.configure(changed);
  } catch (error) {
    await loaded?.dispose();
    await fresh.dispose();
    throw error;
  }
  await fresh.dispose();
  return loaded;
}

function configOf(cache: Configurable): FullConfig | Promise<FullConfig> {
  return typeof cache.config === 'function' ? cache.config() : cache.config;
}

function check(its: FullConfig, asked: FullConfig): void {
  if (its.encoder !== asked.encoder) {
    throw new DpcacheError(
      'encoder_mismatch',
      `the stored memory is of ${named(its)}, ${named(asked)} is asked for`,
    );
  }
  if (its.dimension !== asked.dimension) {
    const detail = `the stored memory has dimension ${its.dimension}, not ${asked.dimension}`;
    throw new DpcacheError('bad_config', detail, [
      { index: 0, code: 'bad_config', pointer: '/dimension', detail },
    ]);
  }
}

function named(config: FullConfig): string {
  return config.encoder === undefined ? 'no named encoder' : `the encoder '${config.encoder}'`;
}

// What `config` names and the memory has otherwise, as rounded and completed by create().
function difference(config: Config, its: FullConfig, asked: FullConfig): ConfigChanges {
  const names = (Object.keys(config) as (keyof Config)[]).filter(
    (name) => config[name] !== undefined && !(kIdentity as readonly string[]).includes(name),
  );
  const settings = its as Config;
  const wanted = asked as Config;
  // A gate that learns goes on from where it has come to.
  const learned = 'correctionRate' in its && 'correctionRate' in asked;
  const differs = names.filter(
    (name) =>
      JSON.stringify(settings[name]) !== JSON.stringify(wanted[name]) &&
      !(learned && name === 'gate'),
  );
  const changes: Record<string, unknown> = {};
  for (const name of differs) changes[name] = config[name];
  // They stand for the same threshold, and one of them only is allowed.
  if ('tau' in changes) changes['gate'] = null;
  if (changes['gate']) changes['tau'] = null;
  return changes;
}

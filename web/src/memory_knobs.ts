// The knobs as a memory file has them.
import type { MemoryInfo } from './engine/protocol';
import { guardNames, maskNames, type Knobs } from './settings';

export function knobsOf({ config }: MemoryInfo): Partial<Knobs> {
  const { theta, keyUpdate, valueUpdate, budget, m0, beta, usageDecay } = config;
  const masks = /masks=(\S+)/.exec(config.encoder ?? '')?.[1]?.split(',') ?? [];
  return {
    ...(config.tau === undefined ? {} : { tau: config.tau }),
    theta,
    key: keyUpdate,
    value: valueUpdate,
    budget,
    m0,
    beta,
    decay: usageDecay,
    masks: maskNames.filter((name) => masks.includes(name)),
    guards: guardNames.filter((name) => config.guards?.includes(name)),
    merge: config.tauMerge ?? null,
    audit: config.audit ?? 'none',
  };
}

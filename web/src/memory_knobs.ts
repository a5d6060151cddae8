// The knobs as a memory file has them.
import type { MemoryInfo } from './engine/protocol';
import { maskNames, type Knobs } from './settings';

export function knobsOf({ config }: MemoryInfo): Partial<Knobs> {
  const { theta, keyUpdate, valueUpdate, budget, m0, beta, usageDecay } = config;
  const masks = /masks=(\S+)/.exec(config.encoder ?? '')?.[1]?.split(',') ?? [];
  return {
    ...(config.tau === undefined ? {} : { tau: rounded(config.tau) }),
    theta: rounded(theta),
    key: keyUpdate,
    value: valueUpdate,
    budget,
    m0: rounded(m0),
    beta: rounded(beta),
    decay: rounded(usageDecay),
    masks: maskNames.filter((name) => masks.includes(name)),
  };
}

/** A float32 as people write it: 0.17, not 0.1700000018. */
const rounded = (x: number): number => Number(x.toPrecision(7));

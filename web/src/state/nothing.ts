// What the page shows before the first replay: no items, no slots.
import type { Begin } from '../engine/protocol';

export const nothing = (tau: number): Begin => ({
  run: 0,
  count: 0,
  refusal: null,
  config: {
    tau,
    dimension: 1,
    valueDimension: 0,
    theta: 0.05,
    keyUpdate: 'frozen',
    valueUpdate: 'first',
    ema: 0.5,
    usageDecay: 1,
    keepSums: false,
    budget: 'none',
    m0: 1,
    beta: 0,
    eta: 0.05,
    shrink: 'evict',
  },
  slots: [],
  places: new Float32Array(0),
});

// The names of the samples, and the novelty threshold that suits each.

export const sampleNames = ['log', 'support', 'sensor'] as const;
export type SampleName = (typeof sampleNames)[number];

export const sampleTau: Readonly<Record<SampleName, number>> = {
  log: 0.17,
  support: 0.3,
  sensor: 0.3,
};

// Runs the script of a training vector through the package's public API, and writes down what was
// learned in the form of tests/vectors/train/*.json. Runs in Node.js and in browsers.
import { randomBits, streamKey } from './vector_runner.mjs';

const sourceOf = ({ seed, distinct }, t) => Number(randomBits(seed + 1, t) % BigInt(distinct));
const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);

const pairsOf = ({ stream, from, to }) =>
  range(from, to).map((t) => ({
    a: streamKey(stream, 2 * t),
    b: streamKey(stream, 2 * t + 1),
    same: sourceOf(stream, 2 * t) === sourceOf(stream, 2 * t + 1),
  }));

const itemsOf = (stream, from, to) =>
  range(from, to).map((t) => ({ key: streamKey(stream, t), label: sourceOf(stream, t) }));

const point = (at) => at && [at.tau, at.falseMerges, at.missedMerges, at.falseMergeBound];

const writeCalibration = ({ atRisk, mergeable, chosen, reason, needed, curve }, { at }) => ({
  at_risk: atRisk,
  mergeable,
  chosen: point(chosen),
  reason,
  needed,
  curve: at.map((i) => point(curve[i])),
});

const bound = ({ max_false_merge, confidence, upcoming }) => ({
  maxFalseMerge: max_false_merge,
  confidence,
  upcoming,
});

async function runStep(api, step, options) {
  if (step.op === 'task') {
    const { a, b, ...trainer } = step.trainer;
    const { practice, steps } = step;
    const given = { practice, steps, start: { a, b }, ...trainer, ...options };
    const { loss, gate } = await api.trainOnTask(given);
    return { loss, gate };
  }
  if (step.op === 'items') {
    const reference = itemsOf(step.stream, 0, step.reference);
    const items = itemsOf(step.stream, step.from, step.to);
    const calibration = await api.calibrateItems(items, reference, { ...bound(step), ...options });
    return writeCalibration(calibration, step);
  }
  const pairs = pairsOf(step);
  if (step.op === 'novelties') return [...(await api.novelties(pairs, options))];
  if (step.op === 'pairs') {
    return api.train(pairs, { falseMergeCost: step.false_merge_cost, ...options });
  }
  if (step.op === 'online') {
    const gate = await api.OnlineGate.create(step.start, { rate: step.rate, ...options });
    for (const pair of pairs) gate.correct(pair);
    const answer = { gate: gate.gate, steps: gate.steps };
    gate.dispose();
    return answer;
  }
  return writeCalibration(await api.calibrate(pairs, { ...bound(step), ...options }), step);
}

/** `api`: what `dpcache/train` exports. One answer a step. */
export async function runTraining(api, script, options = {}) {
  const answers = [];
  for (const step of script.steps) answers.push(await runStep(api, step, options));
  return answers;
}

const floats = new Set(['a', 'b', 'tau', 'novelties', '']);

/** The answers of a file: its float32s as numbers, without what JavaScript cannot see. */
export function expectedTraining(answers) {
  const fromFile = (value, name) => {
    if (typeof value === 'number') return floats.has(name) ? Math.fround(value) : value;
    if (Array.isArray(value)) {
      const isPoint = name === 'chosen' || name === 'point';
      if (isPoint) return [Math.fround(value[0]), ...value.slice(1)];
      return value.map((one) => fromFile(one, name === 'curve' ? 'point' : name));
    }
    if (typeof value !== 'object' || value === null) return value;
    const { episodes_hash, novelties, ...seen } = value;
    return Object.fromEntries(Object.entries(seen).map(([key, one]) => [key, fromFile(one, key)]));
  };
  return answers.map((answer) => fromFile(answer, ''));
}

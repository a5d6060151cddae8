// Vectors as a machine's sensors give them, invented: a few states that come back for ever, each
// with noise, and bursts: short spells of several patterns that were never there before.
import { Random } from './random';

export const sensorDimension = 32;

const states = ['idle', 'warming up', 'half load', 'full load', 'cooling', 'cleaning'];
const machines = ['pump 1', 'pump 2', 'mill'];
const noise = 0.3; // two readings of one state have a cosine of about 1 / (1 + noise²) = .92

export interface LabelledVectors {
  vectors: Float32Array;
  labels: string[];
}

function direction(random: Random): Float64Array {
  const x = Float64Array.from({ length: sensorDimension }, () => random.gaussian());
  const norm = Math.hypot(...x);
  return x.map((component) => component / norm);
}

export function sensorVectors(count: number): LabelledVectors {
  const random = new Random(42);
  const known = machines.flatMap((machine) =>
    states.map((state) => ({ name: `${machine}, ${state}`, key: direction(random) })),
  );
  const vectors = new Float32Array(count * sensorDimension);
  const labels: string[] = [];
  const running = machines.map(() => 0);
  let burst: typeof known = [];
  let left = 0;
  let bursts = 0;
  for (let n = 0; n < count; ++n) {
    if (left === 0 && n > 150 && random.uniform() < 0.004) {
      left = 60 + random.below(80);
      ++bursts;
      burst = Array.from({ length: 5 + random.below(8) }, (_, i) => ({
        name: `fault ${bursts}.${i + 1}`,
        key: direction(random),
      }));
    }
    const machine = random.below(machines.length);
    // A machine stays in its state for a while, then goes to the next one.
    if (random.uniform() < 0.06) running[machine] = ((running[machine] ?? 0) + 1) % states.length;
    const inBurst = left > 0 && random.uniform() < 0.7;
    if (left > 0) --left;
    const source = inBurst
      ? random.pick(burst)
      : known[machine * states.length + (running[machine] ?? 0)];
    if (!source) throw new RangeError('no such state');
    const scale = noise / Math.sqrt(sensorDimension);
    for (let d = 0; d < sensorDimension; ++d) {
      vectors[n * sensorDimension + d] = (source.key[d] ?? 0) + scale * random.gaussian();
    }
    labels.push(source.name);
  }
  return { vectors, labels };
}

// A study of the recall lab: four memories read one stream, at equal budget, and are asked for
// everything seen so far, at each sixteenth of the way. No DOM: it runs in a worker and in Node.
import { dpCache, heavyHitters, keepAll, recency, type Mechanism } from './mechanisms';
import {
  checkpoints,
  type LabReply,
  type LabRequest,
  type MechanismName,
  type Point,
  type Setup,
} from './protocol';
import { makeRecall, row, type Recall } from './streams';

function recallNow(mechanism: Mechanism, stream: Recall, seen: ReadonlySet<number>): number {
  let right = 0;
  for (const item of seen) {
    if (mechanism.answer(row(stream.queries, item)) === stream.classOf[item]) ++right;
  }
  return right / seen.size;
}

function* follow(
  name: MechanismName,
  mechanism: Mechanism,
  stream: Recall,
  seed: number,
): Generator<Point> {
  const seen = new Set<number>();
  const { length } = stream.order;
  let checkpoint = 1;
  for (const [i, item] of stream.order.entries()) {
    mechanism.observe(row(stream.keys, i), stream.classOf[item] as number);
    seen.add(item);
    while (checkpoint <= checkpoints && i + 1 >= Math.ceil((checkpoint * length) / checkpoints)) {
      const recall = recallNow(mechanism, stream, seen);
      yield { seed, mechanism: name, checkpoint, recall, entries: mechanism.entries };
      ++checkpoint;
    }
  }
}

/** Each point as soon as it is known. The budget of all is what the DP cache came to. */
export async function* points(setup: Setup): AsyncGenerator<Point> {
  for (let seed = 0; seed < setup.seeds; ++seed) {
    const stream = makeRecall(setup, seed);
    const cache = await dpCache(setup.tau);
    let budget: number;
    try {
      yield* follow('dpcache', cache, stream, seed);
      budget = cache.entries;
    } finally {
      cache.dispose();
    }
    yield* follow('keep-all', keepAll(stream.order.length), stream, seed);
    yield* follow('recency', recency(budget), stream, seed);
    yield* follow('h2o', heavyHitters(budget, setup.recent), stream, seed);
  }
}

let current = 0;

/** Serves the page: a new run, or a stop, ends the one that runs. */
export async function study(request: LabRequest, post: (reply: LabReply) => void): Promise<void> {
  const mine = ++current;
  if (request.type === 'stop') return;
  const { run, setup } = request;
  const total = setup.seeds * 4 * checkpoints;
  try {
    let waiting: Point[] = [];
    let told = 0;
    let last = performance.now();
    for await (const point of points(setup)) {
      waiting.push(point);
      if (performance.now() - last < 30) continue;
      told += waiting.length;
      post({ type: 'points', run, points: waiting, share: told / total });
      waiting = [];
      await new Promise((resolve) => setTimeout(resolve));
      if (mine !== current) return;
      last = performance.now();
    }
    post({ type: 'points', run, points: waiting, share: 1 });
    post({ type: 'done', run });
  } catch (error) {
    post({ type: 'failed', run, message: error instanceof Error ? error.message : String(error) });
  }
}

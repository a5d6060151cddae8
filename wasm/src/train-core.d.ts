// The glue that Emscripten makes of ../train_bindings.cc: its calls. Addresses are bytes from the
// start of the heap; every call but the last group answers with a reply's address.
import type { GlueOptions } from './wasm-source.js';
import type { Heap } from './wire.js';

export interface TrainCore extends Heap {
  novelties(unused: number): number;
  learnPairs(unused: number): number;
  calibratePairs(unused: number): number;
  calibrateItems(unused: number): number;
  createOnline(unused: number): number;
  correct(learner: number): number;
  createTrainer(unused: number): number;
  practise(learner: number): number;
  learnEpisode(learner: number): number;

  freeLearner(learner: number): void;
}

export default function createTrainCore(options: GlueOptions): Promise<TrainCore>;

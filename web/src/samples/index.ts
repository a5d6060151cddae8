// The streams that the page brings along. They are made by rule from a seed; nothing is loaded.
import type { Stream } from '../engine/stream';
import { serviceLog } from './log';
import type { SampleName } from './names';
import { sensorDimension, sensorVectors } from './sensor';
import { supportQuestions } from './support';

export function makeSample(name: SampleName, size: number): Stream {
  if (name === 'log') return { kind: 'text', name: 'service log', texts: serviceLog(size) };
  if (name === 'support') {
    return {
      kind: 'text',
      name: 'support questions',
      texts: supportQuestions(size),
      note: 'Wording is compared, not meaning: “on” and “off”, “do” and “do not” may share a slot.',
    };
  }
  const { vectors, labels } = sensorVectors(size);
  return { kind: 'vectors', name: 'sensor vectors', dimension: sensorDimension, vectors, labels };
}

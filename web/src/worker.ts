// The one worker script of the page. Its name says what an instance is for: "engine" or "lab".
// One script for both, so that the module and its WebAssembly are fetched once.
import { Engine } from './engine/engine';
import type { Request } from './engine/protocol';
import type { LabRequest } from './lab/protocol';

const scope = self as unknown as {
  name: string;
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void;
};

if (scope.name === 'lab') {
  const lab = import('./lab/study');
  scope.addEventListener('message', ({ data }: MessageEvent<LabRequest>) => {
    void lab.then(({ study }) => study(data, (reply) => scope.postMessage(reply, [])));
  });
} else {
  const engine = new Engine((reply, transfer = []) => scope.postMessage(reply, transfer));
  scope.addEventListener('message', ({ data }: MessageEvent<Request>) => engine.receive(data));
}

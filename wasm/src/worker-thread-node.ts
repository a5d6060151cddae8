/// <reference types="node" />
// What a thread of Node runs for `dpcache/worker`.
import { parentPort } from 'node:worker_threads';

import { serve } from './worker-host.js';

if (parentPort) {
  const port = parentPort;
  serve({
    post: (message, transfer) => port.postMessage(message, transfer),
    listen: (listener) => port.on('message', listener),
  });
}

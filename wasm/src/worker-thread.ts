// What a browser's worker runs for `dpcache/worker`.
import { serve, type Port } from './worker-host.js';

const port: Port = {
  post: (message, transfer) => postMessage(message, { transfer }),
  listen: (listener) => addEventListener('message', (event) => listener(event.data)),
  // Browsers tell nobody when a worker ends. This lock is held as long as the thread lives.
  showLife() {
    if (!navigator.locks) return; // not a secure context
    const lock = `dpcache worker ${crypto.randomUUID()}`;
    void navigator.locks.request(lock, () => {
      port.post({ dpcache: 'alive', lock }, []);
      return new Promise(() => undefined);
    });
  },
};
serve(port);

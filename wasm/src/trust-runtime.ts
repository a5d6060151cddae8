// The instance of trust.wasm, which a cache with trust and advice on tau share.
import { Runtime } from './runtime.js';
import createTrustCore from './trust-core.js';
import { sharing } from './wasm-source.js';

export const runtime = sharing<Runtime>({
  start: (module) => Runtime.start(module, createTrustCore),
  ownFile: () => new URL('./trust.wasm', import.meta.url),
  advice:
    'Where a bundler has moved this module away from its file, give { wasm } the address, bytes or ' +
    'module of dpcache/trust.wasm',
});

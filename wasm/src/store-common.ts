// What `dpcache/store` exports everywhere.
export { autosave } from './autosave.js';
export type { Autosave, Autosaveable, AutosaveOptions } from './autosave.js';
export { DpcacheError } from './errors.js';
export { loadOrCreate } from './load-or-create.js';
export type { CacheClass, Configurable } from './load-or-create.js';
export { requestPersistence } from './persistence.js';
export type { Store, WriteOptions } from './store-contract.js';
export { openIndexedDB } from './store-indexeddb.js';
export type { IndexedDbOptions, IndexedDbStore } from './store-indexeddb.js';
export { openOpfs } from './store-opfs.js';
export type { OpfsOptions } from './store-opfs.js';

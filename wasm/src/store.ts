// `dpcache/store` for browsers and bundlers: keeping a memory.
export * from './store-common.js';
export { openFile } from './store-no-file.js';

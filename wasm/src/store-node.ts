// `dpcache/store` for Node: keeping a memory.
export * from './store-common.js';
export { openFile } from './store-file.js';

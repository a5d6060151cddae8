// dist/inline-bytes.js is written by scripts/build-npm from dist/dpcache.wasm.
export const base64: string;

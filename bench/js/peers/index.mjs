// All that is measured, by id, loaded only when asked for: one that fails to load harms no other.
const peers = {
  dpcache: ['./dpcache.mjs', 'simd'],
  'dpcache-scalar': ['./dpcache.mjs', 'scalar'],
  loop: ['./loop.mjs', 'plain'],
  'loop-four': ['./loop.mjs', 'unrolled'],
  edgevec: ['./edgevec.mjs', 'hnsw'],
  'hnswlib-wasm': ['./hnswlib-wasm.mjs', 'hnsw'],
  'hnswlib-wasm-own': ['./hnswlib-wasm.mjs', 'own'],
  'hnswlib-wasm-flat': ['./hnswlib-wasm.mjs', 'flat'],
  voy: ['./voy.mjs', 'tree'],
  usearch: ['./usearch.mjs', 'hnsw'],
  'usearch-exact': ['./usearch.mjs', 'exact'],
  'hnswlib-node': ['./hnswlib-node.mjs', 'hnsw'],
  'hnswlib-node-flat': ['./hnswlib-node.mjs', 'flat'],
};

export const ids = Object.keys(peers);
export const wasmPeers = [
  'edgevec',
  'hnswlib-wasm',
  'hnswlib-wasm-own',
  'hnswlib-wasm-flat',
  'voy',
];
export const nativePeers = ['usearch', 'usearch-exact', 'hnswlib-node', 'hnswlib-node-flat'];

export async function loadPeer(id) {
  const [file, name] = peers[id];
  return (await import(file))[name];
}

// The addresses that packed_wasm.ts gives to the page.
declare module 'virtual:packed-wasm' {
  const addresses: { simd: string; scalar: string };
  export default addresses;
}

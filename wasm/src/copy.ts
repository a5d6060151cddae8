// Copies of arrays. slice() of a subclass may be none: that of Node's Buffer is a view.

export function copyOf(values: Uint8Array): Uint8Array<ArrayBuffer>;
export function copyOf<T extends Float32Array | Uint8Array>(values: T): T;
export function copyOf(values: Float32Array | Uint8Array): Float32Array | Uint8Array {
  return values.BYTES_PER_ELEMENT === 4 ? new Float32Array(values) : new Uint8Array(values);
}

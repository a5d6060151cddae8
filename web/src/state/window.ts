// What a sliding window of items would know: how many kinds (slots) its items belong to.

/** kinds[i]: the distinct slots among the `size` items that end with item i. */
export function kindsInWindow(slots: Float64Array, length: number, size: number): Uint32Array {
  const kinds = new Uint32Array(length);
  const inside = new Map<number, number>();
  for (let i = 0; i < length; ++i) {
    const slot = slots[i] as number;
    inside.set(slot, (inside.get(slot) ?? 0) + 1);
    if (i >= size) {
      const left = slots[i - size] as number;
      const rest = (inside.get(left) ?? 0) - 1;
      if (rest > 0) inside.set(left, rest);
      else inside.delete(left);
    }
    kinds[i] = inside.size;
  }
  return kinds;
}

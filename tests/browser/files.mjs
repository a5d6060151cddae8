// Files as the tests drop them.

/** A .npy file of version 1. `shape` and `type` may lie. */
export function npy(rows, { type = '<f4', byColumns = false, shape } = {}) {
  const columns = rows[0].length;
  const said = shape ?? `(${rows.length}, ${columns})`;
  let header = `{'descr': '${type}', 'fortran_order': ${byColumns ? 'True' : 'False'}, 'shape': ${said}, }`;
  header += `${' '.repeat(63 - ((10 + header.length) % 64))}\n`;
  const size = type === '<f8' ? 8 : 4;
  const out = new Uint8Array(10 + header.length + rows.length * columns * size);
  const view = new DataView(out.buffer);
  out.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
  view.setUint16(8, header.length, true);
  out.set(new TextEncoder().encode(header), 10);
  for (const [i, row] of rows.entries()) {
    for (const [j, x] of row.entries()) {
      const at = 10 + header.length + size * (byColumns ? j * rows.length + i : i * columns + j);
      if (size === 8) view.setFloat64(at, x, true);
      else view.setFloat32(at, x, true);
    }
  }
  return out;
}

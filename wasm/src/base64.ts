// Base64 as RFC 4648 §4 has it, padded.

// So many bytes at once, since arguments of a call are limited.
const kAtOnce = 0x6000;

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += kAtOnce) {
    text += String.fromCharCode(...bytes.subarray(at, at + kAtOnce));
  }
  return btoa(text);
}

/** Throws what atob() throws. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const units = atob(text);
  const bytes = new Uint8Array(units.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = units.charCodeAt(i);
  return bytes;
}

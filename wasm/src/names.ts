// Names and sentences of the library, which has snake_case, as JavaScript has them.

/** `value_dimension` → `valueDimension`. */
export function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `valueDimension` → `value_dimension`. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A sentence about the field of `pointer`, whose name it may hold. */
export function camelDetail(detail: string, pointer: string): string {
  const name = pointer.slice(1);
  return name.includes('_') ? detail.replaceAll(name, camel(name)) : detail;
}

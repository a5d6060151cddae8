// Small helpers for the page: finding elements, making them, and writing numbers.

/** The element of that id, which the page must have. */
export function find<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`the page has no ${type.name} #${id}`);
  return element;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  text = '',
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/** Writes only what differs: a write, equal or not, costs layout. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

const wholeFormat = new Intl.NumberFormat('en');
/** 12345 → 12,345 */
export const whole = (n: number): string => wholeFormat.format(n);

/** A novelty or similarity: two digits, but never 0.00 for what is not 0. */
export function fraction(x: number): string {
  const rounded = x.toFixed(2);
  return x !== 0 && Number(rounded) === 0
    ? x > 0
      ? '<0.01'
      : '>−0.01'
    : rounded.replace('-', '−');
}

export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${whole(n)} ${n === 1 ? one : many}`;

const quiet = matchMedia('(prefers-reduced-motion: reduce)');
export const prefersStillness = (): boolean => quiet.matches;

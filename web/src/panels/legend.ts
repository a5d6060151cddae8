// Legends of the charts, which are also what a screen reader hears of them.
import { make, setText } from '../dom';

/** Colour and words of each line; also what a screen reader hears of the chart. */
export function setLegend(
  element: HTMLElement | undefined,
  parts: readonly [string, string][],
): void {
  if (!element) return;
  const text = parts.map(([, words]) => words).join(', ');
  if (element.dataset['text'] === text) return;
  element.dataset['text'] = text;
  const spans = element.querySelectorAll('.legend-words');
  if (spans.length === parts.length) {
    for (const [i, [, words]] of parts.entries()) setText(spans[i] as Element, words);
    return;
  }
  element.replaceChildren(
    ...parts.map(([swatch, words]) => {
      const part = make('span', 'legend-part');
      const line = make('span', `swatch ${swatch}`);
      line.setAttribute('aria-hidden', 'true');
      part.append(line, make('span', 'legend-words', words));
      return part;
    }),
  );
}

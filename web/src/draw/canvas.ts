// Canvases that are sharp on every screen, and the page's colours for them.

export interface Theme {
  ink: string;
  soft: string;
  line: string;
  panel: string;
  accent: string;
  faint: string;
  warm: string;
  second: string;
  font: string;
}

let theme: Theme | null = null;
for (const query of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)']) {
  matchMedia(query).addEventListener('change', () => {
    theme = null;
    for (const listener of themeListeners) listener();
  });
}
const themeListeners = new Set<() => void>();
export const onThemeChange = (listener: () => void): void => void themeListeners.add(listener);

export function currentTheme(): Theme {
  if (theme) return theme;
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  theme = {
    ink: colour('ink'),
    soft: colour('soft'),
    line: colour('line'),
    panel: colour('panel'),
    accent: colour('accent'),
    faint: colour('faint'),
    warm: colour('warm'),
    second: colour('second'),
    font: `12px ${getComputedStyle(document.body).fontFamily}`,
  };
  return theme;
}

export interface Surface {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

/** Clears the canvas and brings it to the size that it has on the screen, in CSS pixels. */
export class Canvas {
  readonly element: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  #width = 0;
  #height = 0;
  isResized = true;

  constructor(element: HTMLCanvasElement, onResize: () => void) {
    const context = element.getContext('2d');
    if (!context) throw new Error('this browser has no 2-D canvas');
    this.element = element;
    this.#context = context;
    new ResizeObserver(([entry]) => {
      if (!entry) return;
      this.#width = entry.contentRect.width;
      this.#height = entry.contentRect.height;
      this.isResized = true;
      onResize();
    }).observe(element);
  }

  /** null while the canvas has no size. */
  begin(): Surface | null {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(this.#width * ratio);
    const height = Math.round(this.#height * ratio);
    if (width === 0 || height === 0) return null;
    if (this.element.width !== width || this.element.height !== height) {
      this.element.width = width;
      this.element.height = height;
    }
    this.isResized = false;
    const context = this.#context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.#width, this.#height);
    context.font = currentTheme().font;
    return { context, width: this.#width, height: this.#height };
  }
}

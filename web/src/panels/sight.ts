// Which panels cannot be seen: while the stream plays, they are not drawn.
import type { Panel } from './panel';

/** A set that the browser keeps up to date. */
export function watchSight(panels: readonly Panel[], onChange: () => void): ReadonlySet<Panel> {
  const outOfSight = new Set<Panel>();
  for (const panel of panels) {
    if (!panel.area) continue;
    new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) outOfSight.delete(panel);
        else outOfSight.add(panel);
        onChange();
      },
      { rootMargin: '100px' },
    ).observe(panel.area);
  }
  return outOfSight;
}

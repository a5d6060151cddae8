// Slots against items seen, beside what others would keep: every item, or a window.
import { currentTheme, type Surface } from './canvas';
import {
  columns,
  drawAxes,
  drawLine,
  frameOf,
  itemTicks,
  linear,
  logarithmic,
  powers,
  roundTicks,
} from './chart';
import type { Results } from '../state/results';

/** `kinds`: of a window after each item. `at`: so many items are shown. */
export function drawKept(
  surface: Surface,
  results: Results,
  at: number,
  kinds: Uint32Array,
  isLog: boolean,
): void {
  const theme = currentTheme();
  const frame = frameOf(surface);
  const count = Math.max(1, results.count);
  const top = Math.max(count, results.begin.slots.length + 1);
  const x = linear(0, count, frame.left, frame.right);
  const y = isLog
    ? logarithmic(top, frame.bottom, frame.top)
    : linear(0, top, frame.bottom, frame.top);
  const yTicks = isLog ? powers(top) : roundTicks(top, 4);
  drawAxes(
    surface,
    frame,
    { scale: x, ticks: itemTicks(surface, count) },
    { scale: y, ticks: yTicks },
  );
  const steps = columns(at, x(at) - x(0));
  drawLine(
    surface,
    [[x(0), y(0)], ...steps.map((n): [number, number] => [x(n), y(n)])],
    theme.soft,
    1.5,
  );
  drawLine(
    surface,
    steps.map((n) => [x(n), y(kinds[n - 1] ?? 0)]),
    theme.second,
    1.5,
    [5, 3],
  );
  drawLine(
    surface,
    steps.map((n) => [x(n), y(results.slotsAt(n))]),
    theme.accent,
    2.5,
  );
}

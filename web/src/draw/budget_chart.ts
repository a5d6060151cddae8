// Surprise above, and below it the slots with the budget that holds them.
import type { Results } from '../state/results';
import { currentTheme, type Surface } from './canvas';
import { columns, drawAxes, drawLine, frameOf, itemTicks, linear, roundTicks } from './chart';

export function drawBudget(surface: Surface, results: Results, at: number): void {
  const hasBudget = results.begin.config.budget !== 'none';
  const theme = currentTheme();
  const frame = frameOf(surface);
  const middle = frame.top + (frame.bottom - frame.top) * 0.36;
  const upper = { ...frame, bottom: middle - 8 };
  const lower = { ...frame, top: middle + 8 };
  const count = Math.max(1, results.count);
  const x = linear(0, count, frame.left, frame.right);
  let top = 4;
  let hottest = 0;
  for (let i = 0; i < results.computed; ++i) {
    hottest = Math.max(hottest, results.surprise[i] as number);
    const m = hasBudget ? (results.budget[i] as number) : 0;
    top = Math.max(top, results.slotsAfter[i] as number, Number.isFinite(m) ? m : 0);
  }
  const slots = linear(0, top * 1.05, lower.bottom, lower.top);
  const heat = hottest > 0.5 ? 1 : 0.5;
  const t = linear(0, heat, upper.bottom, upper.top);
  drawAxes(
    surface,
    upper,
    { scale: x, ticks: [] },
    { scale: t, ticks: [0, heat], format: (n) => (n ? `T ${n}` : '0') },
  );
  drawAxes(
    surface,
    lower,
    { scale: x, ticks: itemTicks(surface, count) },
    { scale: slots, ticks: roundTicks(top * 1.05, 3) },
  );
  const steps = columns(at, x(at) - x(0));
  drawLine(
    surface,
    steps.map((n) => [x(n), t(results.surprise[n - 1] as number)]),
    theme.warm,
    1.5,
  );
  drawLine(
    surface,
    steps.map((n) => [x(n), slots(results.slotsAt(n))]),
    theme.accent,
    2,
  );
  if (hasBudget) {
    drawLine(
      surface,
      steps.map((n) => [x(n), slots(results.budget[n - 1] as number)]),
      theme.ink,
      1.25,
      [4, 3],
    );
  }
}

// The histogram of the items' similarity to their nearest one before, its valley, and a tau.
import { currentTheme, type Surface } from './canvas';
import { drawAxes, frameOf, linear, logarithmic, powers } from './chart';

const group = 4; // bins of .005 in one bar
const bars = 50; // up to a novelty of 1; the last one has what is beyond

export function drawAdvice(
  surface: Surface,
  histogram: readonly number[],
  tau: number | null,
  valley: { low: number; high: number } | null,
): void {
  const { context } = surface;
  const theme = currentTheme();
  const frame = frameOf(surface);
  const counts = Array.from({ length: bars }, () => 0);
  histogram.forEach((n, bin) => {
    const at = Math.min(bars - 1, Math.floor(bin / group));
    counts[at] = (counts[at] ?? 0) + n;
  });
  const most = Math.max(10, ...counts);
  const x = linear(0, 1, frame.left, frame.right);
  const y = logarithmic(most, frame.bottom, frame.top);
  if (valley) {
    context.fillStyle = theme.faint;
    const width = Math.max(2, x(valley.high) - x(valley.low));
    context.fillRect(x(valley.low), frame.top, width, frame.bottom - frame.top);
  }
  drawAxes(
    surface,
    frame,
    { scale: x, ticks: [0, 0.25, 0.5, 0.75, 1], format: (novelty) => String(1 - novelty) },
    { scale: y, ticks: powers(most) },
  );
  counts.forEach((n, i) => {
    if (n === 0) return;
    const from = x(i / bars);
    context.fillStyle = tau !== null && i / bars >= tau ? theme.accent : theme.soft;
    context.fillRect(from, y(n), x((i + 1) / bars) - from - 1, frame.bottom - y(n));
  });
  if (tau === null) return;
  context.fillStyle = theme.ink;
  context.fillRect(x(Math.min(1, tau)) - 1, frame.top, 2, frame.bottom - frame.top);
}

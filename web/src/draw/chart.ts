// Lines, bars and axes for small charts. Every coordinate is in CSS pixels.
import { whole } from '../dom';
import { currentTheme, type Surface } from './canvas';

export interface Frame {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Room for the axes around the drawing. */
export const frameOf = ({ width, height }: { width: number; height: number }): Frame => ({
  left: 40,
  top: 8,
  right: width - 8,
  bottom: height - 22,
});

export interface Scale {
  (value: number): number;
}

export const linear =
  (from: number, to: number, start: number, end: number): Scale =>
  (value) =>
    start + ((value - from) / (to - from || 1)) * (end - start);

/** log(1 + value): shows one and ten thousand together, and begins at 0. */
export function logarithmic(to: number, start: number, end: number): Scale {
  const top = Math.log1p(to) || 1;
  return (value) => start + (Math.log1p(value) / top) * (end - start);
}

/** About `count` round numbers from 0 to `to`. */
export function roundTicks(to: number, count: number): number[] {
  const rough = to / count;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const ticks: number[] = [];
  for (let i = 0; i * step <= to * 1.0001; ++i) ticks.push(i * step);
  return ticks;
}

/** Of an axis of items: fewer where there is no room. */
export const itemTicks = ({ width }: Surface, count: number): number[] =>
  roundTicks(count, width < 330 ? 2 : 4);

/** Of a logarithmic axis. */
export const powers = (to: number): number[] =>
  [0, 1, 10, 100, 1000, 10_000, 100_000].filter((n) => n <= to);

export const short = (n: number): string =>
  n >= 10000 ? `${Math.round(n / 1000)}k` : Number.isInteger(n) ? whole(n) : n.toFixed(1);

export function drawAxes(
  { context }: Surface,
  frame: Frame,
  x: { scale: Scale; ticks: readonly number[]; format?: (n: number) => string },
  y: { scale: Scale; ticks: readonly number[]; format?: (n: number) => string },
): void {
  const theme = currentTheme();
  context.lineWidth = 1;
  context.strokeStyle = theme.line;
  context.fillStyle = theme.soft;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (const tick of y.ticks) {
    const at = Math.round(y.scale(tick)) + 0.5;
    context.beginPath();
    context.moveTo(frame.left, at);
    context.lineTo(frame.right, at);
    context.stroke();
    context.fillText((y.format ?? short)(tick), frame.left - 6, at);
  }
  context.textBaseline = 'top';
  for (const [i, tick] of x.ticks.entries()) {
    context.textAlign = i === 0 ? 'left' : i === x.ticks.length - 1 ? 'right' : 'center';
    context.fillText((x.format ?? short)(tick), x.scale(tick), frame.bottom + 5);
  }
}

/** A polyline through (x, y) pairs. */
export function drawLine(
  { context }: Surface,
  points: readonly (readonly [number, number])[],
  colour: string,
  width = 1.75,
  dash: readonly number[] = [],
): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.lineJoin = 'round';
  context.setLineDash([...dash]);
  context.beginPath();
  for (const [i, [x, y]] of points.entries()) {
    if (i === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
  context.stroke();
  context.setLineDash([]);
}

/** At most one index a pixel column, from 1 to `count`, the last always among them. */
export function columns(count: number, width: number): number[] {
  const step = Math.max(1, count / Math.max(1, Math.floor(width)));
  const out: number[] = [];
  for (let at = 1; at < count; at += step) out.push(Math.floor(at));
  if (count > 0) out.push(count);
  return out;
}

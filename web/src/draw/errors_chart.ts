// What each threshold would do wrongly: false and missed merges over tau, and the tau that was chosen.
import { fraction } from '../dom';
import { currentTheme, type Surface } from './canvas';
import { drawAxes, drawLine, frameOf, linear } from './chart';

export interface ErrorPoint {
  tau: number;
  /** Shares, [0, 1]. */
  wrong: number;
  bound: number;
  missed: number;
}

export function drawErrors(
  surface: Surface,
  points: readonly ErrorPoint[],
  tau: number | null,
): void {
  const theme = currentTheme();
  const frame = { ...frameOf(surface), left: 46 };
  const last = points.find(({ wrong, missed }) => wrong === 1 && missed === 0)?.tau ?? 2;
  const end = Math.min(2, Math.max(0.5, Math.ceil(last * 10) / 10));
  const x = linear(0, end, frame.left, frame.right);
  const y = linear(0, 1, frame.bottom, frame.top);
  drawAxes(
    surface,
    frame,
    { scale: x, ticks: [0, end / 4, end / 2, (3 * end) / 4, end], format: (n) => n.toFixed(2) },
    { scale: y, ticks: [0, 0.25, 0.5, 0.75, 1], format: (n) => `${Math.round(n * 100)} %` },
  );
  const shown = points.filter((point) => point.tau <= end);
  const line = (
    of: (point: ErrorPoint) => number,
    colour: string,
    width: number,
    dash: number[] = [],
  ): void =>
    drawLine(
      surface,
      shown.map((point) => [x(point.tau), y(of(point))]),
      colour,
      width,
      dash,
    );
  line(({ bound }) => bound, theme.warm, 1, [4, 4]);
  line(({ wrong }) => wrong, theme.warm, 2.5);
  line(({ missed }) => missed, theme.accent, 2.5, [9, 4]);
  if (tau === null) return;
  const { context } = surface;
  const at = Math.round(x(tau));
  drawLine(
    surface,
    [
      [at, frame.top],
      [at, frame.bottom],
    ],
    theme.ink,
    2,
  );
  context.fillStyle = theme.ink;
  const isRight = tau > end * 0.8;
  context.textAlign = isRight ? 'right' : 'left';
  context.textBaseline = 'top';
  context.fillText(`τ ${fraction(tau)}`, at + (isRight ? -6 : 6), frame.top);
}

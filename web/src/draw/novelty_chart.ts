// How novel the items were: those that joined a slot, those that opened one, and tau between them.
import { fraction } from '../dom';
import { noveltyBins, type Moment } from '../state/moment';
import { currentTheme, type Surface } from './canvas';
import { drawAxes, drawLine, frameOf, linear, logarithmic, powers } from './chart';

export function drawNovelty(surface: Surface, moment: Moment, tau: number): void {
  const theme = currentTheme();
  const frame = frameOf(surface);
  const x = linear(0, 1, frame.left, frame.right);
  const bins = 50; // of .02; what is above 1 is counted in the last one
  const merged = new Float64Array(bins);
  const allocated = new Float64Array(bins);
  for (let i = 0; i < noveltyBins; ++i) {
    const bin = Math.min(bins - 1, i >> 1);
    merged[bin] = (merged[bin] as number) + (moment.merged[i] as number);
    allocated[bin] = (allocated[bin] as number) + (moment.allocated[i] as number);
  }
  let top = 10;
  for (let i = 0; i < bins; ++i)
    top = Math.max(top, (merged[i] as number) + (allocated[i] as number));
  const y = logarithmic(top, frame.bottom, frame.top + 10);
  drawAxes(
    surface,
    frame,
    { scale: x, ticks: [0, 0.25, 0.5, 0.75, 1], format: String },
    { scale: y, ticks: powers(top) },
  );
  const { context } = surface;
  const width = x(0.02) - x(0) - 1;
  for (let i = 0; i < bins; ++i) {
    const low = y(merged[i] as number);
    const high = y((merged[i] as number) + (allocated[i] as number));
    context.fillStyle = theme.soft;
    context.globalAlpha = 0.55;
    context.fillRect(x(i * 0.02), low, width, frame.bottom - low);
    context.globalAlpha = 1;
    context.fillStyle = theme.accent;
    context.fillRect(x(i * 0.02), high, width, low - high);
  }
  const at = Math.round(x(Math.min(1, tau)));
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
  context.textAlign = tau > 0.8 ? 'right' : 'left';
  context.textBaseline = 'top';
  context.fillText(`τ ${fraction(tau)}`, at + (tau > 0.8 ? -6 : 6), frame.top - 2);
}

/** The novelty at that place of the chart, to two digits. */
export function noveltyAt(x: number, width: number): number {
  const { left, right } = frameOf({ width, height: 0 });
  const share = (x - left) / Math.max(1, right - left);
  return Math.round(Math.min(1, Math.max(0, share)) * 100) / 100;
}

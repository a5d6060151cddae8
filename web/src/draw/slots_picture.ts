// The picture of the slots: circles by usage, placed by similarity, with arrivals and departures.
import { currentTheme, type Surface } from './canvas';
import type { Moment, SlotState } from '../state/moment';

/** How opaque a circle is. */
const fillOf = (glow: number): number => 0.24 + 0.7 * glow;

interface View {
  x: number;
  y: number;
  scale: number;
}

const margin = 28;
const goneStays = 0.04; // of the stream, at least 40 items: so long a gone slot can be seen

export class SlotsPicture {
  #view: View | null = null;
  #moment: Moment | null = null;

  /** Circles are never larger than their places allow. */
  #radius(usage: number, largest: number, scale: number): number {
    return Math.max(1.5, (0.035 + 0.125 * Math.sqrt(usage / largest)) * scale);
  }

  /** The slots that can be seen: living ones, and those that went a short while ago. */
  static shown(moment: Moment): SlotState[] {
    const keep = Math.max(40, moment.results.count * goneStays);
    return [...moment.slots.values()].filter(
      (slot) => slot.goneItem < 0 || moment.at - slot.goneItem < keep,
    );
  }

  /** Where a slot is on the canvas, and how large, as drawn last. */
  drawn: { slot: SlotState; x: number; y: number; radius: number; glow: number }[] = [];

  /** True while the view is still moving to where it wants to be. */
  draw(surface: Surface, moment: Moment, selected: number, isStill: boolean): boolean {
    const slots = SlotsPicture.shown(moment);
    const isMoving = this.#follow(surface, moment, slots, isStill);
    const view = this.#view;
    this.drawn = [];
    if (!view) return false;
    const { context, width, height } = surface;
    const theme = currentTheme();
    let largest = 1;
    for (const slot of slots) {
      if (slot.goneItem < 0) largest = Math.max(largest, moment.usageOf(slot));
    }
    const recency = Math.max(12, moment.results.count * 0.01);
    const keep = Math.max(40, moment.results.count * goneStays);
    for (const slot of slots) {
      const x = width / 2 + (slot.x - view.x) * view.scale;
      const y = height / 2 + (slot.y - view.y) * view.scale;
      const usage = Math.min(largest, moment.usageOf(slot));
      const radius = this.#radius(usage, largest, view.scale);
      if (slot.goneItem >= 0) {
        this.#drawGone(surface, x, y, radius, 1 - (moment.at - slot.goneItem) / keep);
        continue;
      }
      // A slot glows for a while after it took an item.
      const age = slot.lastItem < 0 ? Infinity : moment.at - 1 - slot.lastItem;
      const glow = Math.max(0, 1 - age / recency);
      this.drawn.push({ slot, x, y, radius, glow });
      context.globalAlpha = fillOf(glow);
      context.fillStyle = theme.accent;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
      context.globalAlpha = 1;
      if (radius > 3) {
        context.strokeStyle = theme.accent;
        context.lineWidth = 1;
        context.stroke();
      }
      const isNew = slot.firstItem >= 0 && moment.at - slot.firstItem < recency * 2;
      if (isNew) {
        const share = (moment.at - slot.firstItem) / (recency * 2);
        context.globalAlpha = 1 - share;
        context.lineWidth = 2;
        context.beginPath();
        context.arc(x, y, radius + 3 + 8 * share, 0, 2 * Math.PI);
        context.stroke();
        context.globalAlpha = 1;
      }
      if (slot.id === selected) {
        context.strokeStyle = theme.ink;
        context.lineWidth = 2;
        context.beginPath();
        context.arc(x, y, radius + 2, 0, 2 * Math.PI);
        context.stroke();
      }
    }
    this.#drawNames(surface);
    return isMoving;
  }

  #drawGone({ context }: Surface, x: number, y: number, radius: number, left: number): void {
    context.globalAlpha = Math.max(0, left);
    context.strokeStyle = currentTheme().warm;
    context.lineWidth = 1.25;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
    context.setLineDash([]);
    const arm = Math.min(5, Math.max(2, radius * 0.6));
    context.beginPath();
    context.moveTo(x - arm, y - arm);
    context.lineTo(x + arm, y + arm);
    context.moveTo(x + arm, y - arm);
    context.lineTo(x - arm, y + arm);
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Ids in the circles that have room for them. */
  #drawNames({ context }: Surface): void {
    const theme = currentTheme();
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const { slot, x, y, radius, glow } of this.drawn) {
      if (radius <= 4 + 3.5 * String(slot.id).length) continue;
      context.fillStyle = fillOf(glow) > 0.75 ? theme.panel : theme.ink;
      context.fillText(String(slot.id), x, y + 0.5);
    }
  }

  /** Brings the view nearer to one that holds all slots. The slots themselves never move. */
  #follow(surface: Surface, moment: Moment, slots: SlotState[], isStill: boolean): boolean {
    if (slots.length === 0) return false;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y } of slots) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    const scale = Math.min(
      (surface.width - 2 * margin) / Math.max(1.2, right - left + 0.2),
      (surface.height - 2 * margin) / Math.max(1.2, bottom - top + 0.2),
    );
    const wanted = { x: (left + right) / 2, y: (top + bottom) / 2, scale };
    const view = this.#view;
    const isNewMoment = this.#moment !== moment;
    this.#moment = moment;
    if (!view || isStill || isNewMoment) {
      this.#view = wanted;
      return false;
    }
    const pace = 0.12;
    view.x += (wanted.x - view.x) * pace;
    view.y += (wanted.y - view.y) * pace;
    view.scale += (wanted.scale - view.scale) * pace;
    const rest =
      Math.abs(wanted.x - view.x) +
      Math.abs(wanted.y - view.y) +
      Math.abs(wanted.scale / view.scale - 1);
    if (rest > 0.002) return true;
    this.#view = wanted;
    return false;
  }
}

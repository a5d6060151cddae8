// Where slots stand in the picture: like ones near to each other, and none ever moves.
//
// A new slot is put around its most similar slots, at a distance that grows with their angle, on
// the free place that fits their distances best. The rule looks at the order of slots alone, so a
// replay gives the same picture, and a slot that comes later moves nothing. A projection (principal
// directions) would put most slots on one heap, and shift all of them with each new one.

export interface Neighbour {
  slot: number;
  similarity: number;
}

interface Place {
  x: number;
  y: number;
}

const spacing = 0.3; // nearer to each other than that, slots overlap
const goldenAngle = Math.PI * (3 - Math.sqrt(5));
const directions = 20;

/** sqrt(1 − cosine) is the angle's chord, up to a factor. */
const distanceFor = (similarity: number): number =>
  Math.min(0.7, Math.max(spacing, Math.sqrt(1 - similarity)));

export class Layout {
  readonly #places = new Map<number, Place>();
  readonly #cells = new Map<string, Place[]>();

  /** Places a slot beside its neighbours; those that have no place are left out. */
  place(slot: number, neighbours: readonly Neighbour[]): Place {
    const near = neighbours
      .map(({ slot: id, similarity }) => ({ at: this.#places.get(id), similarity }))
      .filter((one): one is { at: Place; similarity: number } => one.at !== undefined)
      .map(({ at, similarity }) => ({
        at,
        distance: distanceFor(similarity),
        weight: Math.max(0.05, similarity) ** 2,
      }));
    const best = this.#best(slot, near);
    this.#places.set(slot, best);
    const cell = this.#cells.get(cellOf(best));
    if (cell) cell.push(best);
    else this.#cells.set(cellOf(best), [best]);
    return best;
  }

  /** Gives the place of a slot that went to whoever comes next. */
  remove(slot: number): void {
    const place = this.#places.get(slot);
    if (!place) return;
    this.#places.delete(slot);
    const cell = this.#cells.get(cellOf(place));
    cell?.splice(cell.indexOf(place), 1);
  }

  #best(slot: number, near: readonly { at: Place; distance: number; weight: number }[]): Place {
    const turn = slot * goldenAngle;
    if (near.length === 0) {
      // Nothing to go by: outwards along a spiral.
      const radius = 0.4 * Math.sqrt(this.#places.size);
      return { x: radius * Math.cos(turn), y: radius * Math.sin(turn) };
    }
    let best: Place = { x: 0, y: 0 };
    let least = Infinity;
    for (const anchor of near.slice(0, 3)) {
      for (let i = 0; i < 2 * directions; ++i) {
        const angle = turn + (i * 2 * Math.PI) / directions;
        const radius = anchor.distance * (i < directions ? 1 : 1.5);
        const x = anchor.at.x + radius * Math.cos(angle);
        const y = anchor.at.y + radius * Math.sin(angle);
        // The pull to the middle is weaker sideways: pictures are wider than high.
        let cost = 0.03 * Math.hypot(0.6 * x, y) + 6 * this.#crowding(x, y);
        for (const { at, distance, weight } of near) {
          cost += weight * (Math.hypot(x - at.x, y - at.y) - distance) ** 2;
        }
        if (cost < least) {
          least = cost;
          best = { x, y };
        }
      }
    }
    return best;
  }

  /** How far others reach into the free space that a slot wants. */
  #crowding(x: number, y: number): number {
    let sum = 0;
    const column = Math.floor(x / spacing);
    const row = Math.floor(y / spacing);
    for (let i = column - 1; i <= column + 1; ++i) {
      for (let j = row - 1; j <= row + 1; ++j) {
        for (const other of this.#cells.get(`${i},${j}`) ?? []) {
          sum += Math.max(0, spacing - Math.hypot(x - other.x, y - other.y));
        }
      }
    }
    return sum;
  }
}

const cellOf = ({ x, y }: Place): string => `${Math.floor(x / spacing)},${Math.floor(y / spacing)}`;

import type { FleetSensor } from '../state/fleet.ts';
import { CELL_STATES } from '../state/outliers.ts';
import type { UnitChoices } from '../units.ts';
import { drawCard, fill, SHAPES } from './cells.ts';
import type { Layout } from './layout.ts';

/** Colors as a canvas takes them, by cell state. */
export type Palette = {
  colors: string[];
  ground: string;
  card: string;
  ink: string;
  quiet: string;
  font: string;
};

export interface Scene {
  layout: Layout;
  /** by cell */
  sensors: readonly FleetSensor[];
  /** units of the values on cards */
  choices: UnitChoices;
  /** last values, oldest first */
  trailOf: (sensor: FleetSensor) => readonly TrailPoint[];
}

/** Draws cells on a canvas: all of them, or those that changed. Color by color, since changing it is what costs. */
export function createPainter(canvas: HTMLCanvasElement) {
  const context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
  /** Cells to be drawn, by cell state. */
  const byState: number[][] = Array.from({ length: CELL_STATES }, () => []);
  /** The state that each cell shows, by cell. */
  let painted = new Uint8Array(0);

  function collect(cell: number, cellState: number) {
    painted[cell] = cellState;
    byState[cellState]?.push(cell);
  }

  /** At 1.25 device pixels to one of CSS, the edge of a cell is blended with what was there. The gap has room to erase that, too. */
  function clear({ layout: { x, y, format } }: Scene, palette: Palette, cell: number) {
    const around = format.gap > 0 ? 0.5 : 0;
    const [left, top] = [Number(x[cell]) - around, Number(y[cell]) - around];
    context.fillStyle = palette.ground;
    context.fillRect(left, top, format.width + 2 * around, format.height + 2 * around);
  }

  /** @param isClean nothing was drawn there before */
  function drawState(scene: Scene, palette: Palette, cellState: number, isClean: boolean) {
    const cells = byState[cellState] ?? [];
    if (cells.length === 0) return;
    const draw = scene.layout.format.isCard ? drawCard : (SHAPES[cellState] ?? fill);
    const color = palette.colors[cellState] ?? palette.ink;
    if (!isClean) for (const cell of cells) clear(scene, palette, cell);
    context.fillStyle = color;
    context.strokeStyle = color;
    for (const cell of cells) draw(context, scene, cell, palette);
    cells.length = 0;
  }

  function drawCollected(scene: Scene, palette: Palette, { isClean }: { isClean: boolean }) {
    for (let cellState = 0; cellState < CELL_STATES; cellState += 1)
      drawState(scene, palette, cellState, isClean);
  }

  return {
    /** @param scale device pixels of a CSS pixel */
    all(scene: Scene, palette: Palette, scale: number) {
      const { width, height } = scene.layout;
      canvas.width = Math.max(1, Math.round(width * scale));
      canvas.height = Math.max(1, Math.round(height * scale));
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.fillStyle = palette.ground;
      context.fillRect(0, 0, width, height);
      painted = new Uint8Array(scene.sensors.length);
      for (const [cell, { cellState }] of scene.sensors.entries()) collect(cell, cellState);
      drawCollected(scene, palette, { isClean: true });
    },

    /** A card shows the value. A square shows only its state, which most new values leave as it is. */
    some(scene: Scene, palette: Palette, changed: readonly FleetSensor[]) {
      const { isCard } = scene.layout.format;
      for (const { cell, cellState } of changed) {
        if (cell >= 0 && (isCard || painted[cell] !== cellState)) collect(cell, cellState);
      }
      drawCollected(scene, palette, { isClean: false });
    },
  };
}

/**
 * The colors of the theme as they are now, read from the legend, so that both are the same.
 *
 * @param legend with one `[data-cell-state]` for each cell state
 */
export function readPalette(legend: HTMLElement): Palette {
  const style = getComputedStyle(legend);
  return {
    colors: Array.from({ length: CELL_STATES }, (_, cellState) => {
      const swatch = legend.querySelector(`[data-cell-state="${cellState}"]`);
      return swatch ? getComputedStyle(swatch).color : style.color;
    }),
    ground: style.getPropertyValue('--surface'),
    card: style.getPropertyValue('--off-card'),
    ink: style.getPropertyValue('--ink'),
    quiet: style.getPropertyValue('--ink-2'),
    font: style.fontFamily,
  };
}

/** `ts` in epoch ms */
export type TrailPoint = { ts: number; value: number };

/** Values of one card. */
const KEPT = 60;
/** Cards with a line at once; more of them would be too small for one. */
const MOST_TRAILS = 2000;

/** The last values of the sensors that have a card, for its line. */
export function createTrails() {
  const trails: Map<string, TrailPoint[]> = new Map();
  return {
    take(changed: readonly FleetSensor[]) {
      for (const { key, at, value } of changed) {
        if (at === 0 || (!trails.has(key) && trails.size >= MOST_TRAILS)) continue;
        const trail = trails.get(key) ?? [];
        trails.set(key, trail);
        const last = trail.at(-1);
        if (last && last.ts >= at) continue;
        trail.push({ ts: at, value });
        if (trail.length > KEPT) trail.shift();
      }
    },

    /**
     * @param key of the sensor
     * @param known values of it that were read for another reason, oldest first
     * @returns whichever reaches further back
     */
    of(key: string, known: readonly TrailPoint[]): readonly TrailPoint[] {
      const own = trails.get(key) ?? [];
      return known.length > own.length ? known : own;
    },
  };
}

const NONE = -1;

/** Finds the cell at a point. Buckets of the size of a cell keep the search short. */
export function createHits({ format, x, y, width, height }: Layout) {
  const stepX = format.width + format.gap;
  const stepY = format.height + format.gap;
  const columns = Math.ceil(width / stepX) + 1;
  const rows = Math.ceil(height / stepY) + 1;
  const first = new Int32Array(columns * rows).fill(NONE);
  const next = new Int32Array(x.length).fill(NONE);
  for (let cell = 0; cell < x.length; cell += 1) {
    const bucket = Math.floor(Number(y[cell]) / stepY) * columns + Math.floor(Number(x[cell]) / stepX);
    next[cell] = first[bucket] ?? NONE;
    first[bucket] = cell;
  }

  function inBucket(column: number, row: number, left: number, top: number) {
    if (column < 0 || row < 0 || column >= columns) return NONE;
    let cell = first[row * columns + column] ?? NONE;
    while (cell !== NONE && !covers(cell, left, top)) cell = next[cell] ?? NONE;
    return cell;
  }

  /** A gap belongs to the cell before it: no pointer falls between two. */
  const covers = (cell: number, left: number, top: number) =>
    left >= Number(x[cell]) &&
    left < Number(x[cell]) + stepX &&
    top >= Number(y[cell]) &&
    top < Number(y[cell]) + stepY;

  /**
   * @param left px
   * @param top px
   * @returns the cell there; -1: none
   */
  function at(left: number, top: number): number {
    const column = Math.floor(left / stepX);
    const row = Math.floor(top / stepY);
    for (const [dx, dy] of AROUND) {
      const cell = inBucket(column + dx, row + dy, left, top);
      if (cell !== NONE) return cell;
    }
    return NONE;
  }

  return {
    at,

    /**
     * @param dx -1 to the left, 1 to the right
     * @param dy -1 up, 1 down
     * @returns the next cell in that direction; the same one at the edge
     */
    neighbor(cell: number, dx: number, dy: number): number {
      let left = Number(x[cell]) + format.width / 2;
      let top = Number(y[cell]) + format.height / 2;
      while (left >= 0 && left <= width && top >= 0 && top <= height) {
        left += (dx * stepX) / 3;
        top += (dy * stepY) / 3;
        const found = at(left, top);
        if (found !== NONE && found !== cell) return found;
      }
      return cell;
    },
  };
}

/** A cell reaches from the bucket of its corner into those to the right and below. */
const AROUND = [
  [0, 0],
  [-1, 0],
  [0, -1],
  [-1, -1],
] as const;

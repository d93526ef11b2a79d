import { CELL_STATES } from '../../state/cells.ts';
import type { FleetSensor } from '../../state/fleet.ts';
import type { UnitChoices } from '../../units.ts';
import { drawCard, fill, SHAPES } from './cells.ts';
import type { Layout } from './layout.ts';

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
  sensors: readonly FleetSensor[];
  choices: UnitChoices;
}

/** Draws all cells, or only the changed ones, color by color, because changing the color is slow. */
export function createPainter(canvas: HTMLCanvasElement) {
  const context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
  const byState: number[][] = Array.from({ length: CELL_STATES }, () => []);
  let painted = new Uint8Array(0);

  function collect(cell: number, cellState: number) {
    painted[cell] = cellState;
    byState[cellState]?.push(cell);
  }

  /** Clears a cell and half a pixel around the cell, because at 1.25 device pixels per CSS pixel the edge of a cell is blended. */
  function clear({ layout: { x, y, format } }: Scene, palette: Palette, cell: number) {
    const around = format.gap > 0 ? 0.5 : 0;
    const [left, top] = [Number(x[cell]) - around, Number(y[cell]) - around];
    context.fillStyle = palette.ground;
    context.fillRect(left, top, format.width + 2 * around, format.height + 2 * around);
  }

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

    /** Draws changed sensors. A card shows the value. A square shows only the cell state, which most new values do not change. */
    some(scene: Scene, palette: Palette, changed: readonly FleetSensor[]) {
      const { isCard } = scene.layout.format;
      for (const { cell, cellState } of changed) {
        if (cell >= 0 && (isCard || painted[cell] !== cellState)) collect(cell, cellState);
      }
      drawCollected(scene, palette, { isClean: false });
    },
  };
}

/** Reads the colors of the theme from the elements `[data-cell-state]` of the legend, so that legend and wall are equal. */
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

const NONE = -1;

/** Creates the search for the cell at a point. Buckets as large as a cell keep the search short. */
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

  /** Returns whether a cell contains a point. A gap belongs to the cell before it, so that a pointer is never between two cells. */
  const covers = (cell: number, left: number, top: number) =>
    left >= Number(x[cell]) &&
    left < Number(x[cell]) + stepX &&
    top >= Number(y[cell]) &&
    top < Number(y[cell]) + stepY;

  /** @returns number of the cell at the point; -1: no cell */
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

    /** @returns number of the next cell in the direction (-1, 0 or 1 each); at the edge, `cell` itself */
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

/** Offsets of the buckets to search. A cell reaches from the bucket of its corner into the buckets to the right and below. */
const AROUND = [
  [0, 0],
  [-1, 0],
  [0, -1],
  [-1, -1],
] as const;

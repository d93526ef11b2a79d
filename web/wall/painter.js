import { CELL_STATES } from '../state/outliers.js';
import { drawCard, fill, SHAPES } from './cells.js';

/** @import { FleetSensor } from '../state/fleet.js' */
/** @import { Layout } from './layout.js' */
/** @import { UnitChoices } from '../units.js' */

/**
 * @typedef {{ colors: string[], ground: string, card: string, ink: string, quiet: string, font: string }} Palette colors as a canvas takes them, by cell state
 * @typedef {object} Scene
 * @property {Layout} layout
 * @property {readonly FleetSensor[]} sensors by cell
 * @property {Uint8Array} isLit by cell
 * @property {UnitChoices} choices units of the values on cards
 * @property {(sensor: FleetSensor) => readonly TrailPoint[]} trailOf last values, oldest first
 */

/** Opacity of cells that do not match the filters. */
const DIM = 0.16;

/**
 * Draws cells on a canvas: all of them, or those that changed. Color by color, since changing it is what costs.
 *
 * @param {HTMLCanvasElement} canvas
 */
export function createPainter(canvas) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
  /** Cells to be drawn, by cell state. @type {number[][]} */
  const byState = Array.from({ length: CELL_STATES }, () => []);

  /** @param {Scene} scene @param {Palette} palette @param {number} cell */
  function clear({ layout: { x, y, format } }, palette, cell) {
    context.fillStyle = palette.ground;
    context.fillRect(Number(x[cell]), Number(y[cell]), format.width, format.height);
  }

  /** @param {Scene} scene @param {Palette} palette @param {number} cellState @param {boolean} isClean nothing was drawn there before */
  function drawState(scene, palette, cellState, isClean) {
    const cells = byState[cellState] ?? [];
    if (cells.length === 0) return;
    const draw = scene.layout.format.isCard ? drawCard : (SHAPES[cellState] ?? fill);
    const color = palette.colors[cellState] ?? palette.ink;
    if (!isClean) for (const cell of cells) clear(scene, palette, cell);
    for (const lit of [1, 0]) {
      context.globalAlpha = lit ? 1 : DIM;
      context.fillStyle = color;
      context.strokeStyle = color;
      for (const cell of cells) if (scene.isLit[cell] === lit) draw(context, scene, cell, palette);
    }
    context.globalAlpha = 1;
    cells.length = 0;
  }

  /** @param {Scene} scene @param {Palette} palette @param {{ isClean: boolean }} how */
  function drawCollected(scene, palette, { isClean }) {
    for (let cellState = 0; cellState < CELL_STATES; cellState += 1)
      drawState(scene, palette, cellState, isClean);
  }

  return {
    /** @param {Scene} scene @param {Palette} palette @param {number} scale device pixels of a CSS pixel */
    all(scene, palette, scale) {
      const { width, height } = scene.layout;
      canvas.width = Math.max(1, Math.round(width * scale));
      canvas.height = Math.max(1, Math.round(height * scale));
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.fillStyle = palette.ground;
      context.fillRect(0, 0, width, height);
      for (const [cell, { cellState }] of scene.sensors.entries()) byState[cellState]?.push(cell);
      drawCollected(scene, palette, { isClean: true });
    },

    /** @param {Scene} scene @param {Palette} palette @param {readonly FleetSensor[]} changed */
    some(scene, palette, changed) {
      for (const { cell, cellState } of changed) if (cell >= 0) byState[cellState]?.push(cell);
      drawCollected(scene, palette, { isClean: false });
    },
  };
}

/** @typedef {ReturnType<typeof createPainter>} Painter */

/**
 * The colors of the theme as they are now, read from the legend, so that both are the same.
 *
 * @param {HTMLElement} legend with one `[data-cell-state]` for each cell state
 * @returns {Palette}
 */
export function readPalette(legend) {
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

/** @typedef {{ ts: number, value: number }} TrailPoint `ts` in epoch ms */

/** Values of one card. */
const KEPT = 60;
/** Cards with a line at once; more of them would be too small for one. */
const MOST_TRAILS = 2000;

/** The last values of the sensors that have a card, for its line. */
export function createTrails() {
  /** @type {Map<string, TrailPoint[]>} */
  const trails = new Map();
  return {
    /** @param {readonly FleetSensor[]} changed */
    take(changed) {
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
     * @param {string} key of the sensor
     * @param {readonly TrailPoint[]} known values of it that were read for another reason, oldest first
     * @returns {readonly TrailPoint[]} whichever reaches further back
     */
    of(key, known) {
      const own = trails.get(key) ?? [];
      return known.length > own.length ? known : own;
    },
  };
}

const NONE = -1;

/**
 * Finds the cell at a point. Buckets of the size of a cell keep the search short.
 *
 * @param {Layout} layout
 */
export function createHits({ format, x, y, width, height }) {
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

  /** @param {number} column @param {number} row @param {number} left @param {number} top */
  function inBucket(column, row, left, top) {
    if (column < 0 || row < 0 || column >= columns) return NONE;
    let cell = first[row * columns + column] ?? NONE;
    while (cell !== NONE && !covers(cell, left, top)) cell = next[cell] ?? NONE;
    return cell;
  }

  /** A gap belongs to the cell before it: no pointer falls between two. @param {number} cell @param {number} left @param {number} top */
  const covers = (cell, left, top) =>
    left >= Number(x[cell]) &&
    left < Number(x[cell]) + stepX &&
    top >= Number(y[cell]) &&
    top < Number(y[cell]) + stepY;

  /** @param {number} left px @param {number} top px @returns {number} the cell there; -1: none */
  function at(left, top) {
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
     * @param {number} cell
     * @param {number} dx -1 to the left, 1 to the right
     * @param {number} dy -1 up, 1 down
     * @returns {number} the next cell in that direction; the same one at the edge
     */
    neighbor(cell, dx, dy) {
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
const AROUND = /** @type {const} */ ([
  [0, 0],
  [-1, 0],
  [0, -1],
  [-1, -1],
]);

/** @typedef {ReturnType<typeof createHits>} Hits */

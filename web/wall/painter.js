import { CELL_STATES } from '../state/cell-state.js';
import { drawCard, fill, SHAPES } from './cells.js';

/** @import { FleetSensor } from '../state/device-index.js' */
/** @import { Layout } from './layout.js' */

/**
 * @typedef {{ colors: string[], ground: string, card: string, ink: string, quiet: string, font: string }} Palette colors as a canvas takes them, by cell state
 * @typedef {{ layout: Layout, sensors: readonly FleetSensor[], isLit: Uint8Array }} Scene `sensors`, `isLit`: by cell
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

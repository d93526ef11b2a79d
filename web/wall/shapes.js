import { OFFLINE, SILENT, UNHEARD } from '../state/cell-state.js';

/** @import { Palette, Scene } from './painter.js' */

/** @typedef {(context: CanvasRenderingContext2D, scene: Scene, cell: number, palette: Palette) => void} Draw in the colour that is set */

/** @type {Draw} */
export const fill = (context, { layout: { x, y, format } }, cell) =>
  context.fillRect(Number(x[cell]), Number(y[cell]), format.width, format.height);

/** @type {Draw} */
function hollow(context, { layout: { x, y, format } }, cell) {
  const line = format.width > 9 ? 2 : 1;
  context.lineWidth = line;
  context.strokeRect(
    Number(x[cell]) + line / 2,
    Number(y[cell]) + line / 2,
    format.width - line,
    format.height - line,
  );
}

/** @type {Draw} */
function crossed(context, { layout: { x, y, format } }, cell) {
  const line = format.width > 9 ? 1.5 : 1;
  // The ends of a stroke reach over its points; beyond its cell nobody would wipe them off.
  const [left, top] = [Number(x[cell]) + line, Number(y[cell]) + line];
  const [right, bottom] = [left + format.width - 2 * line, top + format.height - 2 * line];
  context.lineWidth = line;
  context.beginPath();
  context.moveTo(left, top);
  context.lineTo(right, bottom);
  context.moveTo(right, top);
  context.lineTo(left, bottom);
  context.stroke();
}

/** @type {Draw} */
function dot(context, { layout: { x, y, format } }, cell) {
  const size = Math.max(2, Math.round(format.width / 4));
  const middle = (format.width - size) / 2;
  context.fillRect(Number(x[cell]) + middle, Number(y[cell]) + middle, size, size);
}

/** Told apart by their shape, not by their colour alone. @type {Record<number, Draw>} */
export const SHAPES = { [SILENT]: hollow, [OFFLINE]: crossed, [UNHEARD]: dot };

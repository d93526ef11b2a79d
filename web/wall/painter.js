import { formatNumber, formatUnit } from '../format.js';
import { LOOKS, OFFLINE, SILENT, UNHEARD } from './looks.js';

/**
 * @typedef {import('../state/fleet.js').FleetSensor} FleetSensor
 * @typedef {import('./layout.js').Layout} Layout
 * @typedef {{ looks: string[], ground: string, card: string, ink: string, quiet: string, font: string }} Palette colours as a canvas takes them, by look
 * @typedef {{ layout: Layout, sensors: readonly FleetSensor[], isLit: Uint8Array }} Scene `sensors`, `isLit`: by cell
 */

/** What does not match the filters. */
const DIM = 0.16;
/** A card shows its colour at its left edge, so that its text is read as well on any. */
const EDGE = 5;

/**
 * Draws cells on a canvas: all of them, or those that changed. Colour by colour, since changing it is what costs.
 *
 * @param {HTMLCanvasElement} canvas
 */
export function createPainter(canvas) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
  /** Cells to be drawn, by look. @type {number[][]} */
  const byLook = Array.from({ length: LOOKS }, () => []);

  /** @param {Scene} scene @param {Palette} palette @param {number} cell */
  function clear({ layout: { x, y, format } }, palette, cell) {
    context.fillStyle = palette.ground;
    context.fillRect(Number(x[cell]), Number(y[cell]), format.width, format.height);
  }

  /** @param {Scene} scene @param {Palette} palette @param {number} look @param {boolean} isClean nothing was drawn there before */
  function drawLook(scene, palette, look, isClean) {
    const cells = byLook[look] ?? [];
    if (cells.length === 0) return;
    const draw = scene.layout.format.isCard ? drawCard : (SHAPES[look] ?? fill);
    const colour = palette.looks[look] ?? palette.ink;
    if (!isClean) for (const cell of cells) clear(scene, palette, cell);
    for (const lit of [1, 0]) {
      context.globalAlpha = lit ? 1 : DIM;
      context.fillStyle = colour;
      context.strokeStyle = colour;
      for (const cell of cells) if (scene.isLit[cell] === lit) draw(context, scene, cell, palette);
    }
    context.globalAlpha = 1;
    cells.length = 0;
  }

  /** @param {Scene} scene @param {Palette} palette @param {{ isClean: boolean }} how */
  function drawCollected(scene, palette, { isClean }) {
    for (let look = 0; look < LOOKS; look += 1) drawLook(scene, palette, look, isClean);
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
      for (const [cell, { look }] of scene.sensors.entries()) byLook[look]?.push(cell);
      drawCollected(scene, palette, { isClean: true });
    },

    /** @param {Scene} scene @param {Palette} palette @param {readonly FleetSensor[]} changed */
    some(scene, palette, changed) {
      for (const { cell, look } of changed) if (cell >= 0) byLook[look]?.push(cell);
      drawCollected(scene, palette, { isClean: false });
    },
  };
}

/** @typedef {ReturnType<typeof createPainter>} Painter */

/** @typedef {(context: CanvasRenderingContext2D, scene: Scene, cell: number, palette: Palette) => void} Draw in the colour that is set */

/** @type {Draw} */
const fill = (context, { layout: { x, y, format } }, cell) =>
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
const SHAPES = { [SILENT]: hollow, [OFFLINE]: crossed, [UNHEARD]: dot };

/** @type {Draw} */
function drawCard(context, scene, cell, palette) {
  const { x, y, format } = scene.layout;
  const [left, top] = [Number(x[cell]), Number(y[cell])];
  const sensor = /** @type {FleetSensor} */ (scene.sensors[cell]);
  const shape = SHAPES[sensor.look];
  context.save();
  context.beginPath();
  context.rect(left, top, format.width, format.height);
  context.clip();
  const mark = { x: [left], y: [top + 8], format: { ...format, width: 12, height: 12 } };
  const colour = context.fillStyle;
  context.fillStyle = palette.card;
  context.fillRect(left, top, format.width, format.height);
  context.fillStyle = colour;
  if (shape) shape(context, /** @type {any} */ ({ layout: mark }), 0, palette);
  else context.fillRect(left, top, EDGE, format.height);
  const text = left + (shape ? 18 : EDGE + 8);
  context.fillStyle = palette.quiet;
  context.font = `12px ${palette.font}`;
  context.fillText(sensor.name, text, top + 18);
  drawRight(context, sensor.device.name, {
    right: left + format.width - 8,
    least: text + context.measureText(sensor.name).width + 10,
    y: top + 18,
  });
  context.fillStyle = palette.ink;
  context.font = `600 ${format.height > 60 ? 18 : 15}px ${palette.font}`;
  context.fillText(
    `${formatNumber(Number.isNaN(sensor.value) ? null : sensor.value)} ${formatUnit(sensor.unit)}`,
    text,
    top + format.height - 12,
  );
  context.restore();
}

/** Only where there is room for it. @param {CanvasRenderingContext2D} context @param {string} text @param {{ right: number, least: number, y: number }} place */
function drawRight(context, text, { right, least, y }) {
  const x = right - context.measureText(text).width;
  if (x >= least) context.fillText(text, x, y);
}

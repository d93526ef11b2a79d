import { formatNumber, formatUnit } from '../format.js';
import { NO_VALUE, OFFLINE, SILENT } from '../state/cell-state.js';

/** @import { FleetSensor } from '../state/device-index.js' */
/** @import { Format } from './layout.js' */
/** @import { Palette, Scene } from './painter.js' */

/** A card shows its color at its left edge, so that its text is read as well on any. */
const EDGE = 5;
/** Room next to its text, in px. */
const MARGIN = 8;
/** As wide, both names stand in one line, else one under the other. */
const WIDE = 180;

/**
 * The names of sensor and device and the value: many sensors share a name, so every card shows the device.
 *
 * @type {Draw}
 */
export function drawCard(context, scene, cell, palette) {
  const { x, y, format } = scene.layout;
  const [left, top] = [Number(x[cell]), Number(y[cell])];
  const sensor = /** @type {FleetSensor} */ (scene.sensors[cell]);
  context.save();
  context.beginPath();
  context.rect(left, top, format.width, format.height);
  context.clip();
  const text = left + drawSign(context, { left, top, format, cellState: sensor.cellState }, palette);
  const line = { left: text, right: left + format.width - (format.width < WIDE ? 2 : MARGIN), top };
  context.fillStyle = palette.quiet;
  context.font = `${format.width < 100 ? 11 : 12}px ${palette.font}`;
  if (format.width < WIDE) nameBelow(context, sensor, line);
  else nameInLine(context, sensor, line);
  context.fillStyle = palette.ink;
  context.font = `600 ${format.width < WIDE ? 14 : 18}px ${palette.font}`;
  context.fillText(reading(sensor), text, top + format.height - (format.width < WIDE ? 9 : 12));
  context.restore();
}

/** @typedef {{ left: number, right: number, top: number }} Line px; `top` of the card */

/** @param {CanvasRenderingContext2D} context @param {FleetSensor} sensor @param {Line} line */
function nameBelow(context, { name, device }, { left, right, top }) {
  context.fillText(shortened(context, name, right - left), left, top + 15);
  context.fillText(shortened(context, device.name, right - left), left, top + 30);
}

/** The device gets what it needs, up to half of the line. @param {CanvasRenderingContext2D} context @param {FleetSensor} sensor @param {Line} line */
function nameInLine(context, { name, device }, { left, right, top }) {
  const room = right - left - 10;
  const needed = context.measureText(name).width;
  const deviceName = shortened(context, device.name, Math.max(room / 2, room - needed));
  const deviceWidth = context.measureText(deviceName).width;
  context.fillText(shortened(context, name, room - deviceWidth), left, top + 18);
  context.fillText(deviceName, right - deviceWidth, top + 18);
}

/** @param {FleetSensor} sensor */
const reading = ({ value, unit }) =>
  `${formatNumber(Number.isNaN(value) ? null : value)} ${formatUnit(unit)}`;

/**
 * The ground of the card, and on it its color or its shape.
 *
 * @param {CanvasRenderingContext2D} context with the color set
 * @param {{ left: number, top: number, format: Format, cellState: number }} card
 * @param {Palette} palette
 * @returns {number} px from its left edge to where its text begins
 */
function drawSign(context, { left, top, format, cellState }, palette) {
  const color = context.fillStyle;
  context.fillStyle = palette.card;
  context.fillRect(left, top, format.width, format.height);
  context.fillStyle = color;
  const shape = SHAPES[cellState];
  if (!shape) {
    context.fillRect(left, top, EDGE, format.height);
    return EDGE + MARGIN;
  }
  const mark = { x: [left], y: [top + 8], format: { ...format, width: 12, height: 12 } };
  shape(context, /** @type {any} */ ({ layout: mark }), 0, palette);
  return 12 + 6;
}

/**
 * @param {Pick<CanvasRenderingContext2D, 'measureText'>} context with the font set
 * @param {string} text
 * @param {number} room px
 * @returns {string} as much of it as there is room for; its end is kept, since names differ there
 */
export function shortened(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const characters = [...text];
  for (let kept = characters.length - 1; kept > 1; kept -= 1) {
    const head = Math.floor(kept / 2);
    const short = `${characters.slice(0, head).join('')}…${characters.slice(head - kept).join('')}`;
    if (context.measureText(short).width <= room) return short;
  }
  return '…';
}

/** @typedef {(context: CanvasRenderingContext2D, scene: Scene, cell: number, palette: Palette) => void} Draw in the color that is set */

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
  // The ends of a stroke reach over its points; outside of its cell nothing would erase them.
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

/** ReplayResult apart by their shape, not by their color alone. @type {Record<number, Draw>} */
export const SHAPES = { [SILENT]: hollow, [OFFLINE]: crossed, [NO_VALUE]: dot };

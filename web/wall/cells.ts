import type { FleetSensor } from '../state/fleet.ts';
import { NO_VALUE, NOT_LIVE, OFFLINE, SILENT } from '../state/outliers.ts';
import { sensorValueText } from '../units.ts';
import type { Palette, Scene, TrailPoint } from './painter.ts';

/** Width in px of the color stripe at the left edge of a card. The text stands next to the stripe, so it is legible with any color. */
const EDGE = 5;
/** Space next to the text of a card, in px. */
const MARGIN = 8;
/** Width of a card in px from which both names stand on one line. */
const WIDE = 200;
/** Minimum size of a sparkline in px. */
const LEAST_LINE = { width: 28, height: 12 };

/** Text sizes in a card in px, and positions in px from the top of the card. */
interface CardText {
  /** size of the names */
  name: number;
  /** size of the value */
  value: number;
  /** base line of the value, in px from the top of the card */
  valueY: number;
  /** upper edge of the space below the value */
  lineTop: number;
}

/** Computes the text sizes of a card, which grow with the card. */
export function cardText({ width, height }: Pick<Format, 'width' | 'height'>): CardText {
  const name = Math.round(Math.min(Math.max(height * 0.13, 11), 32));
  const value = Math.round(Math.min(Math.max(height * 0.24, 15), width * 0.13, 120));
  const names = (width < WIDE ? 2 : 1) * name * 1.3;
  const valueY = Math.min(names + 4 + value, height - 6);
  return { name, value, valueY, lineTop: valueY + 4 + value * 0.15 };
}

/**
 * Draws a card: names of sensor and device, value, and sparkline. Many sensors share a name, so every card names the
 * device.
 */
export const drawCard: Draw = (context, scene, cell, palette) => {
  const { x, y, format } = scene.layout;
  const [left, top] = [Number(x[cell]), Number(y[cell])];
  const sensor = scene.sensors[cell] as FleetSensor;
  const sizes = cardText(format);
  context.save();
  context.beginPath();
  context.rect(left, top, format.width, format.height);
  context.clip();
  const text = left + drawSign(context, { left, top, format, cellState: sensor.cellState }, palette);
  const line = { left: text, right: left + format.width - MARGIN, top, size: sizes.name };
  context.fillStyle = palette.quiet;
  context.font = `${sizes.name}px ${palette.font}`;
  if (format.width < WIDE) nameBelow(context, sensor, line);
  else nameInLine(context, sensor, line);
  context.fillStyle = palette.ink;
  context.font = `600 ${sizes.value}px ${palette.font}`;
  const reading = shortened(context, sensorValueText(sensor, scene.choices), line.right - text);
  context.fillText(reading, text, top + sizes.valueY);
  const box = lineBox(format, sizes, { text: text - left, value: context.measureText(reading).width });
  if (box) {
    context.translate(left, top);
    drawTrail(context, scene.trailOf(sensor), box, palette.quiet);
  }
  context.restore();
};

/** A line of text, in px. `top`: top of the card; `size`: text size */
type Line = { left: number; right: number; top: number; size: number };
/** A rectangle in px from the top left of the card. */
type LineBox = { left: number; top: number; width: number; height: number };

function nameBelow(
  context: CanvasRenderingContext2D,
  { name, device }: FleetSensor,
  { left, right, top, size }: Line,
) {
  context.fillText(shortened(context, name, right - left), left, top + size * 1.3);
  context.fillText(shortened(context, device.name, right - left), left, top + size * 2.5);
}

/** Draws both names on one line. The device name gets the width that the name needs, up to half of the line. */
function nameInLine(
  context: CanvasRenderingContext2D,
  { name, device }: FleetSensor,
  { left, right, top, size }: Line,
) {
  const room = right - left - 10;
  const needed = context.measureText(name).width;
  const deviceName = shortened(context, device.name, Math.max(room / 2, room - needed));
  const deviceWidth = context.measureText(deviceName).width;
  context.fillText(shortened(context, name, room - deviceWidth), left, top + size * 1.4);
  context.fillText(deviceName, right - deviceWidth, top + size * 1.4);
}

/**
 * Finds the space for the sparkline of a card: below the value, otherwise next to the value.
 *
 * @param from `text`: px from the left edge to the text; `value`: width of the value in px
 * @returns null: there is no space
 */
export function lineBox(
  { width, height }: Pick<Format, 'width' | 'height'>,
  { value, valueY, lineTop }: CardText,
  { text, value: valueWidth }: { text: number; value: number },
): LineBox | null {
  const below = { left: text, top: lineTop, width: width - text - MARGIN, height: height - lineTop - 6 };
  if (below.height >= LEAST_LINE.height && below.width >= LEAST_LINE.width) return below;
  const left = text + valueWidth + MARGIN;
  const next = { left, top: valueY - value * 0.9, width: width - left - MARGIN, height: value };
  return next.width >= LEAST_LINE.width && next.height >= LEAST_LINE.height ? next : null;
}

/** @param context canvas context, moved to the top left of the card */
function drawTrail(
  context: CanvasRenderingContext2D,
  trail: readonly TrailPoint[],
  { left, top, width, height }: LineBox,
  color: string,
) {
  const [first, last] = [trail[0], trail.at(-1)];
  // The slope between two points has no meaning.
  if (!first || !last || trail.length < 3 || last.ts <= first.ts) return;
  const values = trail.map(({ value }) => value);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  context.beginPath();
  for (const { ts, value } of trail) {
    const share = highest > lowest ? (value - lowest) / (highest - lowest) : 0.5;
    context.lineTo(left + (width * (ts - first.ts)) / (last.ts - first.ts), top + height * (1 - share));
  }
  context.strokeStyle = color;
  context.lineWidth = height > 40 ? 2 : 1.25;
  context.lineJoin = 'round';
  context.stroke();
}

/**
 * Draws the background of a card, with its color stripe or shape.
 *
 * @param context canvas context with the color of the cell
 * @returns distance in px from the left edge of the card to its text
 */
function drawSign(
  context: CanvasRenderingContext2D,
  { left, top, format, cellState }: { left: number; top: number; format: Format; cellState: number },
  palette: Palette,
): number {
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
  shape(context, { layout: mark }, 0, { ground: palette.card });
  return 12 + 6;
}

/**
 * Shortens a text in the middle. The end of the text is kept, because names often differ there.
 *
 * @param context canvas context with the font of the text
 * @param room available width in px
 * @returns the shortened text
 */
export function shortened(
  context: Pick<CanvasRenderingContext2D, 'measureText'>,
  text: string,
  room: number,
): string {
  if (context.measureText(text).width <= room) return text;
  const characters = [...text];
  const cut = (kept: number) => {
    const head = Math.floor(kept / 2);
    return `${characters.slice(0, head).join('')}…${characters.slice(head - kept).join('')}`;
  };
  // A binary search needs few measurements. Each new value draws a card, and a name has up to 128 characters.
  let [fitting, tooMany] = [1, characters.length];
  while (tooMany - fitting > 1) {
    const kept = Math.floor((fitting + tooMany) / 2);
    if (context.measureText(cut(kept)).width <= room) fitting = kept;
    else tooMany = kept;
  }
  return fitting > 1 ? cut(fitting) : '…';
}

/** Draws a cell in the current color of the canvas. */
type Draw = (context: CanvasRenderingContext2D, scene: Scene, cell: number, palette: Palette) => void;

/** Draws a shape, which needs only the position of its cell. */
type DrawShape = (
  context: CanvasRenderingContext2D,
  scene: { layout: { x: ArrayLike<number>; y: ArrayLike<number>; format: Format } },
  cell: number,
  palette: Pick<Palette, 'ground'>,
) => void;

export const fill: DrawShape = (context, { layout: { x, y, format } }, cell) =>
  context.fillRect(Number(x[cell]), Number(y[cell]), format.width, format.height);

const hollow: DrawShape = (context, { layout: { x, y, format } }, cell) => {
  const line = format.width > 9 ? 3 : format.width > 4 ? 2 : 1;
  context.lineWidth = line;
  context.strokeRect(
    Number(x[cell]) + line / 2,
    Number(y[cell]) + line / 2,
    format.width - line,
    format.height - line,
  );
};

/** Draws a filled square with a cross in the background color. The filled area keeps small cells visible. */
const crossed: DrawShape = (context, scene, cell, { ground }) => {
  const { x, y, format } = scene.layout;
  fill(context, scene, cell, { ground });
  const line = format.width > 9 ? 2 : 1;
  // A stroke extends beyond its end points. A part outside of the cell would stay, because later drawings do not erase it.
  const [left, top] = [Number(x[cell]) + line, Number(y[cell]) + line];
  const [right, bottom] = [left + format.width - 2 * line, top + format.height - 2 * line];
  const color = context.strokeStyle;
  context.strokeStyle = ground;
  context.lineWidth = line;
  context.beginPath();
  context.moveTo(left, top);
  context.lineTo(right, bottom);
  context.moveTo(right, top);
  context.lineTo(left, bottom);
  context.stroke();
  context.strokeStyle = color;
};

const dot: DrawShape = (context, { layout: { x, y, format } }, cell) => {
  const size = Math.max(2, Math.round(format.width / 4));
  const middle = (format.width - size) / 2;
  context.fillRect(Number(x[cell]) + middle, Number(y[cell]) + middle, size, size);
};

/** Shapes for cell states that must be recognizable without color. */
export const SHAPES: Record<number, DrawShape> = {
  [SILENT]: hollow,
  [OFFLINE]: crossed,
  [NO_VALUE]: dot,
  [NOT_LIVE]: hollow,
};

/** Sizes of cells in CSS pixels: cards with name, value and sparkline if there is space, otherwise squares. */
export interface Format {
  /** width of a cell */
  width: number;
  /** height of a cell */
  height: number;
  /** gap between cells of a device */
  gap: number;
  /** gap between devices */
  deviceGap: number;
  isCard: boolean;
  /** height of the heading of a site; 0: no headings */
  heading: number;
}

const HEADING_HEIGHT = 26;
/** Sizes of cards: widths in px, from a screen on a wall to a phone, and the height as a share of the width. */
const CARDS = { widest: 1600, narrowest: 84, step: 0.94, shape: 0.48, leastHeight: 54 };
/** Maximum width of a card in px, on a page that continues below the wall. */
const WIDEST_INLINE = 320;
/** Side lengths of square cells in px. In smaller cells, hollow and crossed shapes would look alike. */
const SQUARES = [64, 56, 48, 40, 32, 28, 24, 20, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5];
/** Side lengths in px of cells for a wall that must show all sensors without scrolling. */
const SPECKS = [4, 3, 2, 1];

const cardOf = (width: number): Format => ({
  width,
  height: Math.max(CARDS.leastHeight, Math.round(width * CARDS.shape)),
  gap: 4,
  deviceGap: 4,
  isCard: true,
  heading: HEADING_HEIGHT,
});

const squareOf = (size: number): Format => ({
  width: size,
  height: size,
  gap: size > 12 ? 2 : size > 3 ? 1 : 0,
  deviceGap: size > 12 ? 6 : size > 6 ? 4 : size > 4 ? 3 : size > 3 ? 2 : 1,
  isCard: false,
  heading: HEADING_HEIGHT,
});

const withoutHeading = (format: Format): Format => ({ ...format, heading: 0 });

/** @returns formats of cards, the largest card first */
function cards(): Format[] {
  const formats = [];
  for (let width = CARDS.widest; width > CARDS.narrowest; width *= CARDS.step)
    formats.push(cardOf(Math.round(width)));
  return [...formats, cardOf(CARDS.narrowest)];
}

/** Formats of cells on a page that continues below the wall, the largest first. */
export const FORMATS: readonly Format[] = [
  ...cards().filter(({ width }) => width <= WIDEST_INLINE),
  ...SQUARES.map(squareOf),
];

/** Formats of cells on a wall that has the whole window and never scrolls, the largest first. */
const FULL: readonly Format[] = [
  ...cards(),
  ...[...SQUARES, ...SPECKS].map(squareOf),
  ...[...SQUARES, ...SPECKS].map(squareOf).map(withoutHeading),
];

/** @returns formats, the largest first */
export const formatsFor = ({ isAll = false }: { isAll?: boolean }): readonly Format[] =>
  isAll ? FULL : FORMATS;

/** Factors by which cards grow. The steps between them are too small to be seen. */
const GROWTH = Array.from({ length: 20 }, (_, index) => 1.6 - index * 0.03);

/** Returns the formats of a card that is enlarged on one side, the largest first. */
export function grownTo(
  format: Format,
  side: 'width' | 'height',
  { width, isAll = false }: { width: number; isAll?: boolean },
): Format[] {
  const widest = Math.min(isAll ? CARDS.widest : WIDEST_INLINE, width);
  const limit = side === 'width' ? widest : Math.round(format.width * 0.75);
  const sizes = new Set(GROWTH.map((factor) => Math.min(Math.floor(format[side] * factor), limit)));
  return [...sizes].filter((size) => size > format[side]).map((size) => ({ ...format, [side]: size }));
}

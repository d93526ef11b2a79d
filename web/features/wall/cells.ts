import { NO_VALUE, NOT_LIVE, OFFLINE, SILENT } from '../../state/cells.ts';
import type { FleetSensor } from '../../state/fleet.ts';
import { sensorValueText } from '../../units.ts';
import type { Palette, Scene } from './painter.ts';

/** Width in px of the color stripe at the left edge of a card. The text stands next to the stripe, so it is legible with any color. */
const EDGE = 5;
const MARGIN = 8;
/** Width of a card in px from which both names stand on one line. */
const WIDE = 200;
interface CardText {
  name: number;
  value: number;
  valueY: number;
}

export function cardText({ width, height }: Pick<Format, 'width' | 'height'>): CardText {
  const name = Math.round(Math.min(Math.max(height * 0.13, 11), 32));
  const value = Math.round(Math.min(Math.max(height * 0.32, 15), width * 0.13, 120));
  const names = (width < WIDE ? 2 : 1) * name * 1.3;
  // The value stands in the middle of the space below the names.
  const valueY = Math.min(names + (height - names + value * 0.7) / 2, height - 6);
  return { name, value, valueY };
}

/** Many sensors share a name, so every card names the device. */
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
  context.restore();
};

/** A line of text, in px. `top`: top of the card; `size`: text size */
type Line = { left: number; right: number; top: number; size: number };
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

/** Draws the background of a card, with its color stripe or shape. @returns px from the left edge of the card to its text */
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

/** Shortens a text in the middle, because names often differ at their end. */
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

/** Sizes of cells in CSS pixels: cards with name and value if there is space, otherwise squares. */
export interface Format {
  width: number;
  height: number;
  gap: number;
  deviceGap: number;
  isCard: boolean;
  /** height of the heading of a site; 0: no headings */
  heading: number;
}

const HEADING_HEIGHT = 26;
const CARD_GAP = 6;
/** Sizes of cards: widths in px, from a screen on a wall to a phone, and the height as a share of the width. */
const CARDS = { widest: 1600, narrowest: 84, step: 0.94, shape: 0.4, leastHeight: 54 };
/** Maximum width of a card in px, on a page that continues below the wall. */
const WIDEST_INLINE = 320;
/** Side lengths of square cells in px. In smaller cells, hollow and crossed shapes would look alike. */
const SQUARES = [64, 56, 48, 40, 32, 28, 24, 20, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5];
/** Side lengths in px of cells for a wall that must show all sensors without scrolling. */
const SPECKS = [4, 3, 2, 1];

const cardOf = (width: number): Format => ({
  width,
  height: Math.max(CARDS.leastHeight, Math.round(width * CARDS.shape)),
  gap: CARD_GAP,
  deviceGap: CARD_GAP,
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

export const formatsFor = ({ isAll = false }: { isAll?: boolean }): readonly Format[] =>
  isAll ? FULL : FORMATS;

/** Factors by which cards grow. The steps between them are too small to be seen. */
const GROWTH = Array.from({ length: 20 }, (_, index) => 1.6 - index * 0.03);

export function higherThan(format: Format): Format[] {
  const limit = Math.round(format.width * 0.75);
  const heights = new Set(GROWTH.map((factor) => Math.min(Math.floor(format.height * factor), limit)));
  return [...heights].filter((height) => height > format.height).map((height) => ({ ...format, height }));
}

/** Returns the card that is as much wider as its columns need to fill a width in px, so that both edges of the wall are straight. */
export function fillingCard(format: Format, width: number): Format {
  const columns = columnsIn(format, width);
  return { ...format, width: Math.floor((width + format.gap) / columns) - format.gap };
}

export const columnsIn = ({ width, gap }: Format, room: number): number =>
  Math.max(1, Math.floor((room + gap) / (width + gap)));

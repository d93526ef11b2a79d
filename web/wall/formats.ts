/** Sizes of cells, in CSS pixels: cards with name, value and line in them where there is room, squares else. */
export interface Format {
  /** of a cell */
  width: number;
  /** of a cell */
  height: number;
  /** between cells of a device */
  gap: number;
  /** between devices */
  deviceGap: number;
  isCard: boolean;
  /** height of a site's heading; 0: there is no room for headings */
  heading: number;
}

const HEADING_HEIGHT = 26;
/** Widths of cards from a screen on a wall to a phone, and the part of it that is their height. */
const CARDS = { widest: 1600, narrowest: 84, step: 0.94, shape: 0.48, leastHeight: 54 };
/** Where the page continues below, a few sensors do not fill it. */
const WIDEST_INLINE = 320;
/** In a smaller cell, a hollow and a crossed shape look the same. */
const SQUARES = [64, 56, 48, 40, 32, 28, 24, 20, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5];
/** Sizes of cells where everything has to be in sight. */
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

/** @returns the largest first */
function cards(): Format[] {
  const formats = [];
  for (let width = CARDS.widest; width > CARDS.narrowest; width *= CARDS.step)
    formats.push(cardOf(Math.round(width)));
  return [...formats, cardOf(CARDS.narrowest)];
}

/** Formats of a page that continues below the wall, the largest first. */
export const FORMATS: readonly Format[] = [
  ...cards().filter(({ width }) => width <= WIDEST_INLINE),
  ...SQUARES.map(squareOf),
];

/** Formats of a wall that has the screen to itself: it never scrolls. */
const FULL: readonly Format[] = [
  ...cards(),
  ...[...SQUARES, ...SPECKS].map(squareOf),
  ...[...SQUARES, ...SPECKS].map(squareOf).map(withoutHeading),
];

/** @returns the largest first */
export const formatsFor = ({ isAll = false }: { isAll?: boolean }): readonly Format[] =>
  isAll ? FULL : FORMATS;

/** Cards grow up to this factor, in steps that nobody sees. */
const GROWTH = Array.from({ length: 20 }, (_, index) => 1.6 - index * 0.03);

/** A card made larger on one side, the largest first. */
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

/**
 * Sizes of cells, in CSS pixels: cards with name, value and line in them where there is room, squares else.
 *
 * @typedef {object} Format
 * @property {number} width of a cell
 * @property {number} height of a cell
 * @property {number} gap between cells of a device
 * @property {number} deviceGap between devices
 * @property {boolean} isCard
 * @property {number} heading height of a site's heading; 0: there is no room for headings
 */

const HEADING_HEIGHT = 26;
/** Widths of cards from a screen on a wall to a phone, and the part of it that is their height. */
const CARDS = { widest: 1600, narrowest: 84, step: 0.94, shape: 0.48, leastHeight: 54 };
/** Where the page continues below, a few sensors do not fill it. */
const WIDEST_INLINE = 320;
/** In a smaller cell, a hollow and a crossed shape look the same. */
const SQUARES = [64, 56, 48, 40, 32, 28, 24, 20, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5];
/** Sizes of cells where everything has to be in sight. */
const SPECKS = [4, 3, 2, 1];

/** @param {number} width @returns {Format} */
const cardOf = (width) => ({
  width,
  height: Math.max(CARDS.leastHeight, Math.round(width * CARDS.shape)),
  gap: 4,
  deviceGap: 4,
  isCard: true,
  heading: HEADING_HEIGHT,
});

/** @param {number} size @returns {Format} */
const squareOf = (size) => ({
  width: size,
  height: size,
  gap: size > 12 ? 2 : size > 3 ? 1 : 0,
  deviceGap: size > 12 ? 6 : size > 6 ? 4 : size > 4 ? 3 : size > 3 ? 2 : 1,
  isCard: false,
  heading: HEADING_HEIGHT,
});

/** @param {Format} format @returns {Format} */
const withoutHeading = (format) => ({ ...format, heading: 0 });

/** @returns {Format[]} the largest first */
function cards() {
  const formats = [];
  for (let width = CARDS.widest; width > CARDS.narrowest; width *= CARDS.step)
    formats.push(cardOf(Math.round(width)));
  return [...formats, cardOf(CARDS.narrowest)];
}

/** Formats of a page that continues below the wall, the largest first. @type {readonly Format[]} */
export const FORMATS = [...cards().filter(({ width }) => width <= WIDEST_INLINE), ...SQUARES.map(squareOf)];

/** Formats of a wall that has the screen to itself: it never scrolls. @type {readonly Format[]} */
const FULL = [
  ...cards(),
  ...[...SQUARES, ...SPECKS].map(squareOf),
  ...[...SQUARES, ...SPECKS].map(squareOf).map(withoutHeading),
];

/** @param {{ isAll?: boolean }} room @returns {readonly Format[]} the largest first */
export const formatsFor = ({ isAll = false }) => (isAll ? FULL : FORMATS);

/** Cards grow up to this factor, in steps that nobody sees. */
const GROWTH = Array.from({ length: 20 }, (_, index) => 1.6 - index * 0.03);

/**
 * A card made larger on one side, the largest first.
 *
 * @param {Format} format
 * @param {'width' | 'height'} side
 * @param {{ width: number, isAll?: boolean }} room
 * @returns {Format[]}
 */
export function grownTo(format, side, { width, isAll = false }) {
  const widest = Math.min(isAll ? CARDS.widest : WIDEST_INLINE, width);
  const limit = side === 'width' ? widest : Math.round(format.width * 0.75);
  const sizes = new Set(GROWTH.map((factor) => Math.min(Math.floor(format[side] * factor), limit)));
  return [...sizes].filter((size) => size > format[side]).map((size) => ({ ...format, [side]: size }));
}

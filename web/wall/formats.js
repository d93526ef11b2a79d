/**
 * Sizes of cells, in CSS pixels, the largest first: cards with name and value in them where there is room, squares else.
 *
 * @typedef {object} Format
 * @property {number} width of a cell
 * @property {number} height of a cell
 * @property {number} gap between cells of a device
 * @property {number} deviceGap between devices
 * @property {boolean} isCard
 */

const CARDS = [
  [180, 64],
  [148, 64],
  [108, 62],
  [84, 54],
];
/** Smaller than the last, a hollow cell could not be told from a crossed one. */
const SQUARES = [64, 56, 48, 40, 32, 28, 24, 20, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5];

/** @type {readonly Format[]} */
export const FORMATS = [
  ...CARDS.map(([width = 0, height = 0]) => ({ width, height, gap: 4, deviceGap: 10, isCard: true })),
  ...SQUARES.map((size) => ({
    width: size,
    height: size,
    gap: size > 12 ? 2 : 1,
    deviceGap: size > 12 ? 6 : size > 6 ? 4 : 3,
    isCard: false,
  })),
];

/**
 * The position of every cell, in CSS pixels from the top left of the wall. Cells are numbered in the order of the sites.
 *
 * @typedef {object} Layout
 * @property {Format} format
 * @property {number} width
 * @property {number} height
 * @property {Int32Array} x left edge of each cell
 * @property {Int32Array} y top edge of each cell
 * @property {Block[]} blocks one for each site
 *
 * @typedef {{ x: number, y: number, width: number }} Block where a site's heading begins, and how wide it is
 */

export const HEADING_HEIGHT = 26;
const SITE_GAP = 18;
/** So much room a site's name and count want, in px. */
const LEAST_WIDTH = 120;
/** Area of the smallest cell with its gaps, in square px. */
const LEAST_AREA = 50;
const STRIP_GAP = 12;
/** Cards show more than squares, so they may take more room where the page continues below. */
const CARDS_MORE = 1.3;

/** @param {number[]} counts @returns {number} */
const countOf = (counts) => counts.reduce((sum, count) => sum + count, 0);

/**
 * The largest cells that fit, or the smallest there are.
 *
 * @param {number[][]} sites sensors of each device of each site
 * @param {{ width: number, height: number, isAll?: boolean }} room px; where nothing fits, the wall is higher. `isAll`: there is no more below
 * @returns {Layout}
 */
export function layOut(sites, room) {
  const counts = sites.map(countOf);
  const total = countOf(counts);
  const height = Math.max(room.height, (countOf(counts) * LEAST_AREA) / room.width);
  /** @type {(least: number) => number[][]} sites in strips, by the width that each has at least */
  const stripsFor = once((least) => inStrips(counts, { width: room.width, height, gap: SITE_GAP, least }));
  const cardsMore = room.isAll ? 1 : CARDS_MORE;
  /** @type {Layout | null} */
  let last = null;
  for (const format of FORMATS) {
    const area = total * (format.width + format.gap) * (format.height + format.gap);
    const more = format.isCard ? cardsMore : 1;
    if (area > room.width * room.height * more && format !== FORMATS.at(-1)) continue;
    last = layOutIn(format, sites, room.width, stripsFor(Math.max(LEAST_WIDTH, format.width)));
    if (last.height <= room.height * more) return last;
  }
  return /** @type {Layout} */ (last);
}

/**
 * @template R
 * @param {(argument: number) => R} work
 * @returns {(argument: number) => R} the same, done once for each
 */
function once(work) {
  /** @type {Map<number, R>} */
  const results = new Map();
  return (argument) => {
    const known = results.get(argument) ?? work(argument);
    results.set(argument, known);
    return known;
  };
}

/**
 * @param {Format} format
 * @param {number[][]} sites
 * @param {number} width
 * @param {number[][]} strips widths of the sites of each
 * @returns {Layout}
 */
function layOutIn(format, sites, width, strips) {
  const total = sites.reduce((sum, devices) => sum + countOf(devices), 0);
  const x = new Int32Array(total);
  const y = new Int32Array(total);
  /** @type {Block[]} */
  const blocks = [];
  let first = 0;
  let top = 0;
  for (const widths of strips) {
    let left = 0;
    let lowest = top;
    for (const blockWidth of widths) {
      const devices = sites[blocks.length] ?? [];
      blocks.push({ x: left, y: top, width: blockWidth });
      const cells = { x, y, first };
      const block = { left, top: top + HEADING_HEIGHT, width: blockWidth };
      lowest = Math.max(lowest, flow(devices, block, format, cells));
      first += countOf(devices);
      left += blockWidth + SITE_GAP;
    }
    top = lowest + STRIP_GAP;
  }
  return { format, width, height: Math.max(0, top - STRIP_GAP), x, y, blocks };
}

/**
 * Devices one after the other like words in lines; each is a few cells high, as suits most of them, and as wide as it needs.
 *
 * @param {number[]} devices
 * @param {{ left: number, top: number, width: number }} block
 * @param {Format} format
 * @param {{ x: Int32Array, y: Int32Array, first: number }} cells
 * @returns {number} the lower edge
 */
function flow(devices, { left, top, width }, format, { x, y, first }) {
  const stepX = format.width + format.gap;
  const stepY = format.height + format.gap;
  const rows = rowsFor(devices);
  const mostColumns = Math.max(1, Math.floor((width + format.gap) / stepX));
  let cell = first;
  let line = top;
  let at = 0;
  for (const size of devices) {
    let rest = size;
    while (rest > 0) {
      // A device that is wider than its site goes on in the next line.
      const columns = Math.min(mostColumns, Math.ceil(rest / rows));
      if (at > 0 && at + columns * stepX - format.gap > width) {
        at = 0;
        line += rows * stepY - format.gap + format.deviceGap;
      }
      const here = Math.min(rest, columns * rows);
      for (let i = 0; i < here; i += 1, cell += 1) {
        x[cell] = left + at + Math.floor(i / rows) * stepX;
        y[cell] = line + (i % rows) * stepY;
      }
      at += columns * stepX - format.gap + format.deviceGap;
      rest -= here;
    }
  }
  return line + rows * stepY - format.gap;
}

/** @param {number[]} devices sensors of each @returns {number} so that most are about as high as wide */
function rowsFor(devices) {
  const middle = devices.toSorted((a, b) => a - b)[Math.floor(devices.length / 2)] ?? 1;
  return Math.max(1, Math.floor(Math.sqrt(middle)));
}

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
/** In a smaller cell, a hollow and a crossed shape look the same. */
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

/** A block as wide as this many of its heights looks best. */
const SHAPE = 1.4;

/**
 * Sites side by side in strips, all of them as wide as the wall: in a strip each site is as wide as its share, so that all are about
 * equally high and nothing is left over.
 *
 * @param {number[]} counts sensors of each site, in order
 * @param {object} room
 * @param {number} room.width px
 * @param {number} room.height px that all strips together should have
 * @param {number} room.gap px between sites
 * @param {number} room.least px that a site should be wide at least: its name wants to be read
 * @returns {number[][]} widths in px of the sites of each strip
 */
function inStrips(counts, { width, height, gap, least }) {
  /** @type {number[][]} */
  let best = [];
  let bestCost = Number.POSITIVE_INFINITY;
  const limit = Math.min(counts.length, 40);
  for (let number = 1; number <= limit; number += 1) {
    const strips = cut(counts, number).map((strip) => widthsOf(strip, { width, gap, least }));
    const cost = costOf(strips, height / number, least);
    if (cost >= bestCost) continue;
    bestCost = cost;
    best = strips;
  }
  return best;
}

/** @param {number[]} counts @param {number} number @returns {number[][]} runs of about the same sum; none is empty */
function cut(counts, number) {
  const share = counts.reduce((sum, count) => sum + count, 0) / number;
  /** @type {number[][]} */
  const strips = [[]];
  let sum = 0;
  for (const [i, count] of counts.entries()) {
    const full = sum + count / 2 > share * strips.length && strips.at(-1)?.length;
    const needed = number - strips.length >= counts.length - i;
    if (strips.length < number && (full || (needed && strips.at(-1)?.length))) strips.push([]);
    strips.at(-1)?.push(count);
    sum += count;
  }
  return strips;
}

/** @param {number[]} counts of one strip @param {{ width: number, gap: number, least: number }} room */
function widthsOf(counts, { width, gap, least: wanted }) {
  const room = width - gap * (counts.length - 1);
  const sum = counts.reduce((total, count) => total + count, 0);
  // A site of three sensors next to one of a thousand still needs room for its name.
  const least = Math.min(wanted, room / counts.length);
  const small = counts.map((count) => (room * count) / sum < least);
  const left = room - least * small.filter(Boolean).length;
  const large = counts.reduce((total, count, i) => total + (small[i] ? 0 : count), 0);
  return counts.map((count, i) => Math.floor(small[i] ? least : (left * count) / large));
}

/** @param {number[][]} strips @param {number} height of each @param {number} narrowest */
function costOf(strips, height, narrowest) {
  const widths = strips.flat();
  const cost = widths.reduce((sum, width) => {
    const tooNarrow = width < narrowest ? 4 * (narrowest / width) : 0;
    return sum + Math.abs(Math.log2(width / (SHAPE * height))) + tooNarrow;
  }, 0);
  return cost / widths.length;
}

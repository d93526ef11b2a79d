import type { Format } from './cells.ts';
import { columnsIn, fillingCard, formatsFor, higherThan } from './cells.ts';

/** The position of every cell, in CSS pixels from the top left of the wall. Cells are numbered in the order of the sites. */
export interface Layout {
  format: Format;
  width: number;
  height: number;
  /** whether the wall fits into the available height, so that nothing scrolls */
  fits: boolean;
  x: Int32Array;
  y: Int32Array;
  blocks: Block[];
}

type Block = { x: number; y: number; width: number };

/** The available space in px. `isAll`: the page has no content below the wall, so everything must fit, at worst in cells of one pixel. */
type Room = { width: number; height: number; isAll?: boolean };

const SITE_GAP = 18;
/** Minimum width of a site in px, so that its name and count fit. */
const LEAST_WIDTH = 120;
/** Area of the smallest cell with gaps, in square px, on a page that continues below the wall. */
const LEAST_AREA = 50;
const STRIP_GAP = 12;
const MOST_STRIPS = 40;
/** Factor by which cards may exceed the available height on a page that continues below, because cards show more than squares. */
const CARDS_MORE = 1.5;

const sumCounts = (counts: number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** Computes the layout with the largest cells that fit, or the smallest. @param sites number of sensors of each device of each site */
export function layOut(sites: number[][], room: Room): Layout {
  const counts = sites.map(sumCounts);
  const total = sumCounts(counts);
  const height = room.isAll ? room.height : Math.max(room.height, (total * LEAST_AREA) / room.width);
  /** Arranges sites in strips as wide as the wall, by the minimum width of a site. */
  const stripsFor: (least: number) => number[][] = once((least) =>
    inStrips(counts, { width: room.width, height, gap: SITE_GAP, least }),
  );

  function layOutAs(format: Format): Layout {
    if (!format.heading) return layOutIn(format, sites, room, null);
    const strips = format.isCard
      ? inColumns(counts, format, room.width)
      : stripsFor(Math.max(LEAST_WIDTH, format.width));
    return layOutIn(format, sites, room, strips);
  }

  const limitOf = ({ isCard }: Format): number => room.height * (isCard && !room.isAll ? CARDS_MORE : 1);

  const isGood = ({ height: needed, blocks, format }: Layout, limit: number) =>
    needed <= limit && format.width <= room.width && blocks.every((block) => block.width >= format.width);

  /** Enlarges cards in height, as far as the wall fits. */
  function grow(layout: Layout) {
    const limit = Math.max(room.height, layout.height);
    return (
      higherThan(layout.format)
        .map(layOutAs)
        .find((next) => isGood(next, limit)) ?? layout
    );
  }

  const formats = formatsFor(room);
  let last: Layout | null = null;
  for (const given of formats) {
    const format = given.isCard ? fillingCard(given, room.width) : given;
    const area = total * (format.width + format.gap) * (format.height + format.gap);
    if (area > room.width * limitOf(format) && given !== formats.at(-1)) continue;
    last = layOutAs(format);
    if (isGood(last, limitOf(format))) return format.isCard ? grow(last) : last;
  }
  return last as Layout;
}

/** @returns a function that computes the result once for each argument, and then returns the stored result */
function once<R>(work: (argument: number) => R): (argument: number) => R {
  const results: Map<number, R> = new Map();
  return (argument) => {
    const known = results.get(argument) ?? work(argument);
    results.set(argument, known);
    return known;
  };
}

/** @param strips widths of the sites of each strip; null: all sites follow each other without headings */
function layOutIn(format: Format, sites: number[][], room: Room, strips: number[][] | null): Layout {
  const total = sites.reduce((sum, devices) => sum + sumCounts(devices), 0);
  const cells = { x: new Int32Array(total), y: new Int32Array(total), first: 0 };
  const blocks: Block[] = [];
  let top = 0;
  for (const widths of strips ?? []) {
    let left = 0;
    let lowest = top;
    for (const blockWidth of widths) {
      const devices = sites[blocks.length] ?? [];
      blocks.push({ x: left, y: top, width: blockWidth });
      const block = { left, top: top + format.heading, width: blockWidth };
      lowest = Math.max(lowest, flow(devices, block, format, cells));
      cells.first += sumCounts(devices);
      left += blockWidth + (format.isCard ? format.gap : SITE_GAP);
    }
    top = lowest + STRIP_GAP;
  }
  if (!strips) top = flow(sites.flat(), { left: 0, top: 0, width: room.width }, format, cells) + STRIP_GAP;
  const height = Math.max(0, top - STRIP_GAP);
  return { format, width: room.width, height, fits: height <= room.height, x: cells.x, y: cells.y, blocks };
}

/** Places devices like words in lines, each a few cells high. Cards name their device, so they stand in plain rows. @returns lower edge in px */
function flow(
  devices: number[],
  { left, top, width }: { left: number; top: number; width: number },
  format: Format,
  { x, y, first }: { x: Int32Array; y: Int32Array; first: number },
): number {
  const stepX = format.width + format.gap;
  const stepY = format.height + format.gap;
  const rows = format.isCard ? 1 : rowsFor(devices);
  const mostColumns = Math.max(1, Math.floor((width + format.gap) / stepX));
  let cell = first;
  let line = top;
  let at = 0;
  for (const size of format.isCard ? [sumCounts(devices)] : devices) {
    let rest = size;
    while (rest > 0) {
      // A device that is wider than its site continues in the next line.
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

/** @returns number of rows of cells, with which most devices are about as high as wide */
function rowsFor(devices: number[]): number {
  const middle = devices.toSorted((a, b) => a - b)[Math.floor(devices.length / 2)] ?? 1;
  return Math.max(1, Math.floor(Math.sqrt(middle)));
}

/** Best ratio of width to height of the block of a site. */
const SHAPE = 1.4;

/** In a strip, the width of a site is its share of the sensors, so all sites are about equally high. @returns widths in px by strip */
function inStrips(
  counts: number[],
  {
    width,
    height,
    gap,
    least,
  }: {
    width: number;
    /** wanted height of all strips together in px */
    height: number;
    gap: number;
    /** minimum width of a site in px, so that its name is legible */
    least: number;
  },
): number[][] {
  let best: number[][] = [];
  let bestCost = Number.POSITIVE_INFINITY;
  const limit = Math.min(counts.length, MOST_STRIPS);
  for (let number = 1; number <= limit; number += 1) {
    const strips = cut(counts, number).map((strip) => widthsOf(strip, { width, gap, least }));
    const cost = costOf(strips, height / number, least);
    if (cost >= bestCost) continue;
    bestCost = cost;
    best = strips;
  }
  return best;
}

/** Arranges sites of cards on one grid, as low as possible, so that all cards stand in the same columns. @returns widths in px by strip */
function inColumns(counts: number[], format: Format, width: number): number[][] {
  const step = format.width + format.gap;
  const columns = columnsIn(format, width);
  const least = Math.min(columns, Math.ceil((LEAST_WIDTH + format.gap) / step));
  let best = counts.map(() => [columns]);
  let bestHeight = heightOf(
    counts.map((count) => [count]),
    best,
    format,
  );
  for (let number = 1; number <= Math.min(counts.length, MOST_STRIPS); number += 1) {
    const strips = cut(counts, number);
    if (strips.some(({ length }) => length * least > columns)) continue;
    const shares = strips.map((strip) => shareColumns(strip, columns, least));
    const height = heightOf(strips, shares, format);
    if (height >= bestHeight) continue;
    bestHeight = height;
    best = shares;
  }
  return best.map((strip) => strip.map((share) => share * step - format.gap));
}

const heightOf = (strips: number[][], shares: number[][], { height, gap, heading }: Format): number =>
  strips.reduce((sum, strip, index) => {
    const rows = Math.max(...strip.map((count, site) => Math.ceil(count / (shares[index]?.[site] ?? 1))));
    return sum + heading + rows * (height + gap) - gap + STRIP_GAP;
  }, 0);

/** Gives each site of a strip the least number of columns, and each further column to the site with the most rows. */
function shareColumns(counts: number[], columns: number, least: number): number[] {
  const shares = counts.map(() => least);
  for (let rest = columns - least * counts.length; rest > 0; rest -= 1) {
    const rows = counts.map((count, site) => count / (shares[site] ?? 1));
    const highest = rows.indexOf(Math.max(...rows));
    shares[highest] = (shares[highest] ?? 0) + 1;
  }
  return shares;
}

/** @returns consecutive groups of sites with about equal numbers of sensors; no group is empty */
function cut(counts: number[], number: number): number[][] {
  const share = counts.reduce((sum, count) => sum + count, 0) / number;
  const strips: number[][] = [[]];
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

function widthsOf(
  counts: number[],
  { width, gap, least: wanted }: { width: number; gap: number; least: number },
) {
  const room = width - gap * (counts.length - 1);
  const sum = counts.reduce((total, count) => total + count, 0);
  // A site with three sensors next to a site with a thousand sensors still needs space for its name.
  const least = Math.min(wanted, room / counts.length);
  const small = counts.map((count) => (room * count) / sum < least);
  const left = room - least * small.filter(Boolean).length;
  const large = counts.reduce((total, count, i) => total + (small[i] ? 0 : count), 0);
  return counts.map((count, i) => Math.floor(small[i] ? least : (left * count) / large));
}

/** @param height height of each strip in px @returns cost of an arrangement; a lower cost is better */
function costOf(strips: number[][], height: number, narrowest: number) {
  const widths = strips.flat();
  const cost = widths.reduce((sum, width) => {
    const tooNarrow = width < narrowest ? 4 * (narrowest / width) : 0;
    return sum + Math.abs(Math.log2(width / (SHAPE * height))) + tooNarrow;
  }, 0);
  return cost / widths.length;
}

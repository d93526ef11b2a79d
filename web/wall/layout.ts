import type { Format } from './cells.ts';
import { formatsFor, grownTo } from './cells.ts';

/** The position of every cell, in CSS pixels from the top left of the wall. Cells are numbered in the order of the sites. */
export interface Layout {
  format: Format;
  width: number;
  height: number;
  /** within the height of the room: nothing scrolls */
  fits: boolean;
  /** left edge of each cell */
  x: Int32Array;
  /** top edge of each cell */
  y: Int32Array;
  /** one for each site; none where there is no room for headings */
  blocks: Block[];
}

/** Where a site's heading begins, and how wide it is. */
type Block = { x: number; y: number; width: number };

/**
 * px; where nothing fits, the wall is higher. `isAll`: there is no more
 *  below, so everything fits, at worst in cells of a pixel without headings
 */
type Room = { width: number; height: number; isAll?: boolean };

const SITE_GAP = 18;
/** Least width of a site, for its name and count, in px. */
const LEAST_WIDTH = 120;
/** Area of the smallest cell with its gaps, in square px, where the page continues below. */
const LEAST_AREA = 50;
const STRIP_GAP = 12;
/** Up to this number of sites, every arrangement is tried. */
const FEW_SITES = 12;
/** Cards show more than squares, so they may take more room where the page continues below. */
const CARDS_MORE = 1.5;

const sumCounts = (counts: number[]): number => counts.reduce((sum, count) => sum + count, 0);

/**
 * The largest cells that fit, or the smallest there are.
 *
 * @param sites sensors of each device of each site
 */
export function layOut(sites: number[][], room: Room): Layout {
  const counts = sites.map(sumCounts);
  const total = sumCounts(counts);
  const height = room.isAll ? room.height : Math.max(room.height, (total * LEAST_AREA) / room.width);
  /** sites in strips, by the width that each has at least */
  const stripsFor: (least: number) => number[][] = once((least) =>
    inStrips(counts, { width: room.width, height, gap: SITE_GAP, least }),
  );
  /** for few sites all ways to put them in strips */
  const waysFor: (least: number) => number[][][] = once((least) => {
    const numbers = counts.length <= FEW_SITES ? counts.map((_, index) => index + 1) : [];
    const ways = numbers.map((number) =>
      cut(counts, number).map((strip) => widthsOf(strip, { width: room.width, gap: SITE_GAP, least })),
    );
    return ways.filter((strips) => strips.flat().every((width) => width >= least));
  });

  function layOutAs(format: Format): Layout {
    if (!format.heading) return layOutIn(format, sites, room, null);
    const least = Math.max(LEAST_WIDTH, format.width);
    // Cards fit or not by a few pixels, so the lowest arrangement counts.
    const ways = format.isCard ? waysFor(least) : [];
    const layouts = [stripsFor(least), ...ways].map((strips) => layOutIn(format, sites, room, strips));
    const fitting = layouts.filter(({ blocks }) => blocks.every(({ width }) => width >= format.width));
    return (fitting.length > 0 ? fitting : layouts).reduce((best, next) =>
      next.height < best.height ? next : best,
    );
  }

  /** @returns px that it may take */
  const limitOf = ({ isCard }: Format): number => room.height * (isCard && !room.isAll ? CARDS_MORE : 1);

  /** @param limit px */
  const isGood = ({ height: needed, blocks, format }: Layout, limit: number) =>
    needed <= limit && format.width <= room.width && blocks.every((block) => block.width >= format.width);

  /** Cards as wide, then as high, as the room has space for. */
  function grow(layout: Layout) {
    let grown = layout;
    for (const side of ['width', 'height'] as const) {
      const limit = Math.max(room.height, grown.height);
      const larger = grownTo(grown.format, side, room).map(layOutAs);
      grown = larger.find((next) => isGood(next, limit)) ?? grown;
    }
    return grown;
  }

  const formats = formatsFor(room);
  let last: Layout | null = null;
  for (const format of formats) {
    const area = total * (format.width + format.gap) * (format.height + format.gap);
    if (area > room.width * limitOf(format) && format !== formats.at(-1)) continue;
    last = layOutAs(format);
    if (isGood(last, limitOf(format))) return format.isCard ? grow(last) : last;
  }
  return last as Layout;
}

/** @returns the same, done once for each */
function once<R>(work: (argument: number) => R): (argument: number) => R {
  const results: Map<number, R> = new Map();
  return (argument) => {
    const known = results.get(argument) ?? work(argument);
    results.set(argument, known);
    return known;
  };
}

/** @param strips widths of the sites of each; null: all sites follow each other, without headings */
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
      left += blockWidth + SITE_GAP;
    }
    top = lowest + STRIP_GAP;
  }
  if (!strips) top = flow(sites.flat(), { left: 0, top: 0, width: room.width }, format, cells) + STRIP_GAP;
  const height = Math.max(0, top - STRIP_GAP);
  return { format, width: room.width, height, fits: height <= room.height, x: cells.x, y: cells.y, blocks };
}

/**
 * Devices one after the other like words in lines; each is a few cells high, as suits most of them, and as wide as it needs. Cards name
 * their device, so they stand in plain rows.
 *
 * @returns the lower edge
 */
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

/**
 * @param devices sensors of each
 * @returns so that most are about as high as wide
 */
function rowsFor(devices: number[]): number {
  const middle = devices.toSorted((a, b) => a - b)[Math.floor(devices.length / 2)] ?? 1;
  return Math.max(1, Math.floor(Math.sqrt(middle)));
}

/** A block as wide as this many of its heights looks best. */
const SHAPE = 1.4;

/**
 * Sites side by side in strips, all of them as wide as the wall: in a strip each site is as wide as its share, so that all are about
 * equally high and nothing is left over.
 *
 * @param counts sensors of each site, in order
 * @returns widths in px of the sites of each strip
 */
function inStrips(
  counts: number[],
  {
    width,
    height,
    gap,
    least,
  }: {
    /** px */
    width: number;
    /** px that all strips together should have */
    height: number;
    /** px between sites */
    gap: number;
    /** px that a site should be wide at least: its name wants to be read */
    least: number;
  },
): number[][] {
  let best: number[][] = [];
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

/** @returns runs of about the same sum; none is empty */
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

/** @param counts of one strip */
function widthsOf(
  counts: number[],
  { width, gap, least: wanted }: { width: number; gap: number; least: number },
) {
  const room = width - gap * (counts.length - 1);
  const sum = counts.reduce((total, count) => total + count, 0);
  // A site of three sensors next to one of a thousand still needs room for its name.
  const least = Math.min(wanted, room / counts.length);
  const small = counts.map((count) => (room * count) / sum < least);
  const left = room - least * small.filter(Boolean).length;
  const large = counts.reduce((total, count, i) => total + (small[i] ? 0 : count), 0);
  return counts.map((count, i) => Math.floor(small[i] ? least : (left * count) / large));
}

/** @param height of each */
function costOf(strips: number[][], height: number, narrowest: number) {
  const widths = strips.flat();
  const cost = widths.reduce((sum, width) => {
    const tooNarrow = width < narrowest ? 4 * (narrowest / width) : 0;
    return sum + Math.abs(Math.log2(width / (SHAPE * height))) + tooNarrow;
  }, 0);
  return cost / widths.length;
}

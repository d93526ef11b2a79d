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
export function inStrips(counts, { width, height, gap, least }) {
  /** @type {number[][]} */
  let best = [];
  let bestCost = Number.POSITIVE_INFINITY;
  const most = Math.min(counts.length, 40);
  for (let number = 1; number <= most; number += 1) {
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
  // A site of three sensors beside one of a thousand still has a name to be read.
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

import { type Reader, signedVarint } from './bytes.ts';
import { addUp, at, byWidth, codesOf, type Integers, minus, unzigzag, type Wide, zeros } from './integers.ts';
import { type Plane, packPlane, planeOf, unpackPlane } from './plane.ts';

/** In the encoding that probably takes the fewest bytes. */
export interface Column {
  /** stored differences. 0: to one reference; 1: to the number before; 2: to the difference before */
  order: number;
  /** order 0: the reference; 1 and 2: the predecessor of the first number; 2 also: the first difference */
  seeds: Wide[];
  /** bytes of the stored differences, lowest first; higher planes that are all zero are left out */
  planes: Plane[];
  estimate: number;
}

const MOST_PLANES = 8;

/** The first byte of a column holds its order in this many lowest bits, and the number of its planes in the bits above. */
const ORDER_BITS = 2;

export function columnOf(integers: Integers): Column {
  let best = column(integers, 0, [middleOf(integers)]);
  if (best.planes.length === 0) return best;
  const first = at(integers, 0);
  const tried = [column(integers, 1, [first])];
  if (integers.hi.length > 2) {
    const slope = minus(at(integers, 1), first);
    // The seed is extrapolated backward, so that the first two numbers are predicted exactly.
    tried.push(column(integers, 2, [minus(first, slope), slope]));
  }
  for (const other of tried) if (other.estimate < best.estimate) best = other;
  return best;
}

function column(integers: Integers, order: number, seeds: [Wide, Wide?]): Column {
  const { codes, bits } = codesOf(integers, order, ...seeds);
  const planes = Array.from({ length: Math.ceil(bits / 8) }, (_, rank) =>
    planeOf(rank < 4 ? codes.lo : codes.hi, 8 * (rank % 4)),
  );
  const estimate = planes.reduce((sum, plane) => sum + plane.estimate, 0);
  return { order, seeds: seeds as Wide[], planes, estimate };
}

/** The median of a few of the numbers: the differences to it need the fewest bits. */
function middleOf(integers: Integers) {
  const length = integers.hi.length;
  const few = Math.min(length, 9);
  const picked = Array.from({ length: few }, (_, i) => at(integers, Math.floor((i * length) / few)));
  return picked.sort(byWidth)[few >> 1] as Wide;
}

export const packColumn = ({ order, seeds, planes }: Column): Uint8Array[] => [
  Buffer.from([order | (planes.length << ORDER_BITS)]),
  ...seeds.map(signedVarint),
  ...planes.flatMap(packPlane),
];

export function unpackColumn(reader: Reader, count: number): Integers {
  const head = reader.byte();
  const order = head & 3;
  const planes = head >> ORDER_BITS;
  if (order > 2 || planes > MOST_PLANES) throw new RangeError(`packed samples hold a column ${head}`);
  const start = reader.signedVarint();
  const slope = order === 2 ? reader.signedVarint() : undefined;
  const integers = zeros(count);
  for (let rank = 0; rank < planes; rank++) {
    spread(unpackPlane(reader, count), rank < 4 ? integers.lo : integers.hi, 8 * (rank % 4));
  }
  unzigzag(integers);
  if (slope) addUp(integers, slope, true);
  addUp(integers, start, order > 0);
  return integers;
}

function spread(plane: Uint8Array, words: Int32Array, shift: number) {
  for (let i = 0; i < plane.length; i++) {
    const byte = plane[i] as number;
    words[i] = (words[i] as number) | (byte << shift);
  }
}

/**
 * A clock that ticks at even intervals. Each sample belongs to a tick, and a tick may have no sample. Only the differences between times
 * and ticks are stored, because they contain the jitter of one time. A difference between two times would contain the jitter of both. In
 * 2^-24 ms: `origin` is the time from the beginning of the hour to the first tick, `interval` the time between two ticks
 */
type Clock = { origin: number; interval: number };

/** Units per ms. With this resolution, 65,536 intervals are exact to 0.01 ms. */
const FRACTION = 2 ** 24;

/** In 1 / FRACTION ms. It is years from the hour, and a double is exact up to it. */
export const MAX_POSITION = 2 ** 53;

/** The median of at most this many differences estimates the interval. */
const LOOKED_AT = 63;

/** By least squares. @param offsets ms since the hour began, ascending */
export function fitClock(offsets: Float64Array, ticks: Float64Array): Clock {
  const [meanTick, meanOffset] = [meanOf(ticks), meanOf(offsets)];
  let [together, alone] = [0, 0];
  for (let i = 0; i < offsets.length; i++) {
    const tick = (ticks[i] as number) - meanTick;
    const offset = (offsets[i] as number) - meanOffset;
    together += tick * offset;
    alone += tick * tick;
  }
  const slope = alone > 0 ? Math.max(0, together / alone) : 0;
  // Half a millisecond is added, because `tickAt` cuts times to whole milliseconds.
  const first = Math.max(0, meanOffset - slope * meanTick + 0.5);
  return { origin: Math.round(first * FRACTION), interval: Math.round(slope * FRACTION) };
}

/** In ms since the hour began. @throws {RangeError} when the time is beyond the limit, so the blob is damaged */
export function tickAt({ origin, interval }: Clock, tick: number): number {
  const position = origin + interval * tick;
  if (Math.abs(position) > MAX_POSITION) throw new RangeError('a packed time is far beyond its hour');
  return Math.floor(position / FRACTION);
}

/** @param missed ticks without a sample before each sample @returns 0 1 2 3 if every tick has a sample */
export function ticksOf(missed: Int32Array | Float64Array): Float64Array {
  const ticks = new Float64Array(missed.length);
  let tick = -1;
  for (let i = 0; i < missed.length; i++) {
    tick += 1 + (missed[i] as number);
    ticks[i] = tick;
  }
  return ticks;
}

/** Ticks without a sample before each sample. @param offsets ms since the hour began, ascending */
export function missedIn(offsets: Float64Array): Int32Array {
  const missed = new Int32Array(offsets.length);
  const usual = usualInterval(offsets);
  for (let i = 1; i < offsets.length; i++) {
    const step = (offsets[i] as number) - (offsets[i - 1] as number);
    missed[i] = Math.round(step / usual) - 1;
  }
  return missed;
}

function usualInterval(offsets: Float64Array): number {
  const steps = offsets.length - 1;
  const few = Math.min(LOOKED_AT, steps);
  const step = (i: number) => (offsets[i + 1] as number) - (offsets[i] as number);
  const picked = Float64Array.from({ length: few }, (_, i) => step(Math.floor((i * steps) / few))).sort();
  const median = Number(picked[few >> 1]);
  let [sum, count] = [0, 0];
  for (let i = 0; i < steps; i++) {
    const own = step(i);
    if (own < median / 2 || own > median * 1.5) continue;
    sum += own;
    count += 1;
  }
  return sum / count;
}

function meanOf(numbers: Float64Array) {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum / numbers.length;
}

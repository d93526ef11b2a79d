/** Decoders return plain arrays, because they do not know the length in advance. Stored blobs give a `Float64Array`. */
export type Numbers = number[] | Float64Array;

/** A sorted series has strictly ascending times: one sample per instant. */
export interface Series {
  /** epoch ms, whole numbers */
  times: Numbers;
  /** finite if the samples came through ingest */
  values: Numbers;
  /** missing: revision 0, of samples that correct nothing */
  revision?: Revision;
}

/** From `from` to before `to`, in epoch ms. */
export interface Span {
  from: number;
  to: number;
}

/** A correction. Its samples replace those of earlier revisions, and its spans remove them. */
export interface Revision {
  /** epoch µs at which it was accepted */
  at: number;
  /** ascending and disjoint */
  spans: Span[];
  /** an earlier revision that this one undoes, in epoch µs; then it has neither spans nor samples */
  undoes?: number;
}

/** `conflicts`: instants at which the merged samples had different values; 0 after a correction */
type Merged = Series & { conflicts: number };

/**
 * If two values have one instant, the one with the greater 8 big-endian bytes wins. The databases choose in the same way between cells of
 * equal timestamps. Any negative value beats any positive value, -0 beats 0, and within one sign the greater magnitude wins. The choice
 * never depends on the order of arrival, so merging is commutative, associative and idempotent.
 *
 * Ingest refuses NaN. If another program has written a NaN into a blob, it counts as the NaN with the bytes 7ff8000000000000, which beats
 * +Infinity and loses to every negative value. JavaScript hides the sign and payload of a NaN, and may change them.
 */
export function greaterValue(a: number, b: number) {
  const negative = isNegative(a);
  if (negative !== isNegative(b)) return negative ? a : b;
  return negative ? Math.min(a, b) : Math.max(a, b);
}

const isNegative = (value: number) => value < 0 || Object.is(value, -0);

/** Keeps the value that `greaterValue` chooses. @returns usually the given arrays themselves, because they are sorted already */
export function sortMerge(times: Numbers, values: Numbers): Merged {
  if (isAscending(times)) return { times, values, conflicts: 0 };
  const order = Array.from(times, (_, index) => index);
  // V8 merges the sorted runs that it finds (TimSort). So concatenated sorted series cost n log(number of series).
  order.sort((a, b) => (times[a] as number) - (times[b] as number));
  return mergeInOrder(times, values, order);
}

/** For a protocol whose messages contain the changes of a sensor in chronological order. @returns as `sortMerge` */
export function sortKeepLast(times: Numbers, values: Numbers): Merged {
  if (isAscending(times)) return { times, values, conflicts: 0 };
  const last: Map<number, number> = new Map();
  const conflicts: Set<number> = new Set();
  for (let index = 0; index < times.length; index++) {
    const time = times[index] as number;
    const before = last.get(time);
    if (before !== undefined && !Object.is(values[before], values[index])) conflicts.add(time);
    last.set(time, index);
  }
  const instants = [...last.keys()].sort((a, b) => a - b);
  return {
    times: instants,
    values: instants.map((time) => values[last.get(time) as number] as number),
    conflicts: conflicts.size,
  };
}

/**
 * Overlapping batches, rows of packed hours, late samples, corrections. If a list has corrections, its result has no more revisions, so it
 * must not be merged with further rows of the same hour.
 * @param list in any order, each sorted
 */
export function mergeSeries(list: Series[]): Merged {
  // Nearly no list has a correction. The loop costs 2 ns a row, and a closure 40 ns a list.
  for (const { revision } of list) if (revision !== undefined) return mergeRevised(list);
  return mergePlain(list);
}

export const isRevised = ({ revision }: Series): boolean => revision !== undefined;

function mergePlain(list: Series[]): Merged {
  const filled = list.filter(({ times }) => times.length > 0);
  const only = filled[0];
  if (filled.length === 1 && only) return sortMerge(only.times, only.values);
  // The series are sorted by their first times. Then rows that do not overlap need no further sorting, and other rows form long runs.
  filled.sort((a, b) => (a.times[0] as number) - (b.times[0] as number));
  const length = filled.reduce((sum, { times }) => sum + times.length, 0);
  const times = new Float64Array(length);
  const values = new Float64Array(length);
  let at = 0;
  for (const series of filled) {
    times.set(series.times, at);
    values.set(series.values, at);
    at += series.times.length;
  }
  return sortMerge(times, values);
}

export function isAscending(times: Numbers): boolean {
  let previous = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < times.length; i++) {
    const time = times[i] as number;
    if (time <= previous) return false;
    previous = time;
  }
  return true;
}

function mergeInOrder(times: Numbers, values: Numbers, order: number[]): Merged {
  const outTimes: number[] = [];
  const outValues: number[] = [];
  let conflicts = 0;
  let inConflict = false;
  for (const index of order) {
    const time = times[index] as number;
    const value = values[index] as number;
    const last = outTimes.length - 1;
    if (last < 0 || outTimes[last] !== time) {
      outTimes.push(time);
      outValues.push(value);
      inConflict = false;
    } else if (!Object.is(outValues[last], value)) {
      outValues[last] = greaterValue(outValues[last] as number, value);
      // Each instant counts once, so that the number of conflicts does not depend on the order of the samples.
      if (!inConflict) conflicts++;
      inConflict = true;
    }
  }
  return { times: outTimes, values: outValues, conflicts };
}

/**
 * The greatest revision of each instant wins. Of two values with one revision the greater one wins, as in revision 0, and a value wins
 * against a span of its own revision. This is a total order, so merging stays commutative, associative and idempotent.
 */
function mergeRevised(given: Series[]): Merged {
  const list = withoutUndone(given);
  const all = list.flatMap(({ times, values, revision }) =>
    Array.from(times, (time, index) => ({ time, value: values[index] as number, at: revision?.at ?? 0 })),
  );
  all.sort((a, b) => a.time - b.time || a.at - b.at);
  const chosen: typeof all = [];
  for (const { time, value, at } of all) {
    const last = chosen.at(-1);
    if (last?.time !== time) chosen.push({ time, value, at });
    else Object.assign(last, { value: last.at === at ? greaterValue(last.value, value) : value, at });
  }
  const removed = removedAt(
    chosen.map(({ time }) => time),
    list,
  );
  const kept = chosen.filter(({ at }, index) => at >= Number(removed[index]));
  return { times: kept.map(({ time }) => time), values: kept.map(({ value }) => value), conflicts: 0 };
}

/** An undo may be undone as well, so the newest one is decided first. */
function withoutUndone(list: Series[]): Series[] {
  const undone: Set<number> = new Set();
  const reversals = list.flatMap(({ revision }) => (revision?.undoes === undefined ? [] : revision));
  for (const { at, undoes = 0 } of reversals.sort((a, b) => b.at - a.at))
    if (!undone.has(at)) undone.add(undoes);
  return list.filter(({ revision }) => revision === undefined || !undone.has(revision.at));
}

/**
 * Joins corrections of one hour. No further correction may have a revision between theirs, and none of them may be undone later.
 * @returns one correction with the greatest of their revisions; null: nothing is left of them
 */
export function joinCorrections(list: Series[]): (Series & { revision: Revision }) | null {
  const corrections = withoutUndone(list);
  const { times, values } = mergeRevised(corrections);
  const spans = joinSpans(corrections.flatMap(({ revision }) => revision?.spans ?? []));
  if (times.length === 0 && spans.length === 0) return null;
  const at = Math.max(...corrections.map(({ revision }) => revision?.at ?? 0));
  return { times, values, revision: { at, spans } };
}

function joinSpans(spans: Span[]): Span[] {
  const joined: Span[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}

/**
 * A correction hides a sample of a smaller revision if it removes its instant, or has a value for it.
 * @param corrections may include `series` itself
 * @returns the samples that none of them hides; `series` itself if that is all of them
 */
export function withoutHidden(series: Series, corrections: Series[]): Series {
  const own = series.revision?.at ?? 0;
  const hiding = withoutUndone(corrections).filter(({ revision }) => Number(revision?.at) > own);
  const times = Array.from(series.times);
  const removed = removedAt(times, hiding);
  const replaced = new Set(hiding.flatMap((correction) => Array.from(correction.times)));
  const kept = times.flatMap((time, index) =>
    Number(removed[index]) === 0 && !replaced.has(time) ? index : [],
  );
  if (kept.length === times.length) return series;
  return {
    ...series,
    times: kept.map((index) => Number(times[index])),
    values: kept.map((index) => Number(series.values[index])),
  };
}

/** @param times ascending @returns the greatest revision that removes each of them; 0: none */
function removedAt(times: number[], list: Series[]): Float64Array {
  const removed = new Float64Array(times.length);
  for (const { revision } of list) {
    for (const { from, to } of revision?.spans ?? []) {
      for (let index = indexFrom(times, from); index < times.length && Number(times[index]) < to; index++)
        removed[index] = Math.max(Number(removed[index]), revision?.at ?? 0);
    }
  }
  return removed;
}

/** @returns the index of the first time that is not before `from` */
function indexFrom(times: number[], from: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Number(times[middle]) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

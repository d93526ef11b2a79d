import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Problem } from '../../api/request.ts';
import { toProblem } from '../../api/request.ts';
import { parseTime } from '../../routes.ts';
import type { Clock } from '../../state/clock.ts';
import { useServices } from '../../state/hooks.ts';
import type { RefusedHour } from './api.ts';
import { readSummary } from './api.ts';

/** Limit in ms for a correction of the clock by an answer. After a larger correction, earlier requests used a wrong time. */
const MOVED_MS = 5000;

/** @returns time in ms by which the API clock is ahead of the clock of this machine */
const aheadOf = (clock: Pick<Clock, 'now' | 'local'>): number => clock.now() - clock.local();

/** A half-open range in epoch ms. */
export type Span = { from: number; to: number };

/** The counts of one bar. `total`: refused measurements of all codes */
export type Bin = {
  from: number;
  to: number;
  deadLetters: number;
  codes: Record<string, number>;
  total: number;
};

const HOUR_MS = 3_600_000;

/** The ranges that users can select. `value`: text in the address; `binMs`: width of a bar in ms; a narrower bar would be hard to hit */
export const RANGES = [
  { value: '1d', label: '1 d', words: '24 hours', binMs: HOUR_MS, bins: 24 },
  { value: '7d', label: '7 d', words: '7 days', binMs: 3 * HOUR_MS, bins: 56 },
  { value: '14d', label: '14 d', words: '14 days', binMs: 6 * HOUR_MS, bins: 56 },
];

const DEFAULT_RANGE = RANGES[0] as (typeof RANGES)[number];

export const rangeOf = (query: URLSearchParams): typeof DEFAULT_RANGE =>
  RANGES.find(({ value }) => value === query.get('range')) ?? DEFAULT_RANGE;

/** @returns the span of whole bins that ends with the current bin */
export function spanOf({ binMs, bins }: typeof DEFAULT_RANGE, now: number): Span {
  const to = (Math.floor(now / binMs) + 1) * binMs;
  return { from: to - bins * binMs, to };
}

/** @returns the chosen bar; null: no bar is chosen */
export function chosenBin(query: URLSearchParams, { binMs }: typeof DEFAULT_RANGE): Span | null {
  const at = parseTime(query.get('at'));
  return at === null ? null : { from: at, to: at + binMs };
}

/**
 * Merges an answer into the known hours.
 *
 * @param answer replaces the hours from its `from` to the requested end
 * @param to requested end in epoch ms
 */
export function mergeHours(
  known: RefusedHour[],
  { items, from }: { items: RefusedHour[]; from: string },
  to: number = Number.POSITIVE_INFINITY,
): RefusedHour[] {
  const begin = Date.parse(from);
  const isElsewhere = ({ hour }: RefusedHour) => {
    const at = Date.parse(hour);
    return at < begin || at >= to;
  };
  return [...known.filter(isElsewhere), ...items];
}

/** @returns bins of the span, oldest first; a bin without refusals is empty */
export function binsOf(hours: RefusedHour[], { from, to }: Span, binMs: number): Bin[] {
  const bins: Bin[] = [];
  for (let at = from; at < to; at += binMs) {
    bins.push({ from: at, to: at + binMs, deadLetters: 0, codes: {}, total: 0 });
  }
  for (const { hour, dead_letters: deadLetters, codes } of hours) {
    const bin = bins[Math.floor((Date.parse(hour) - from) / binMs)];
    if (bin) addTo(bin, deadLetters, codes);
  }
  return bins;
}

/** @returns one bin with the sum of all counts */
export function sumBins(bins: Bin[]): Bin {
  const sum: Bin = {
    from: bins[0]?.from ?? 0,
    to: bins.at(-1)?.to ?? 0,
    deadLetters: 0,
    codes: {},
    total: 0,
  };
  for (const { deadLetters, codes } of bins) addTo(sum, deadLetters, codes);
  return sum;
}

function addTo(bin: Bin, deadLetters: number, codes: Record<string, number>) {
  bin.deadLetters += deadLetters;
  for (const [code, count] of Object.entries(codes)) {
    bin.codes[code] = (bin.codes[code] ?? 0) + count;
    bin.total += count;
  }
}

/** Interval of counting new dead letters, in ms. */
const REFRESH_MS = 10_000;
const RETRY_MS = 5000;

interface Counts {
  hours: RefusedHour[];
  span: Span;
  /** time in epoch ms; all dead letters after this time are counted */
  reached: number;
  /** the problem that stopped the count; null: there is none */
  problem: Problem | null;
}

/**
 * Counts dead letters backward from now. If one answer cannot hold the range, the answer begins later than requested. The next
 * request then ends at this beginning.
 */
export function useCounts(range: (typeof RANGES)[number]) {
  const { client, clock } = useServices();
  const [round, setRound] = useState(0);
  const [counts, setCounts] = useState(() => nothingYet(range, clock.now()));

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let known = nothingYet(range, clock.now());
    let countedAt = 0;
    const show = (change: Partial<Counts>) => {
      known = { ...known, ...change };
      if (!abort.signal.aborted) setCounts(known);
    };

    async function countBack(from: number, to?: number) {
      for (let end = to; end === undefined || end > from; ) {
        const answer = await readSummary(client, { from, to: end }, abort.signal);
        const reached = Date.parse(answer.from);
        const isFirst = reached < known.reached;
        show({ hours: mergeHours(known.hours, answer, end), ...(isFirst && { reached }), problem: null });
        // An answer that reaches no earlier time would be requested forever, so the count stops.
        if (reached >= (end ?? Number.POSITIVE_INFINITY)) return;
        end = reached;
      }
    }

    async function goOn() {
      let again = REFRESH_MS;
      const now = clock.now();
      const ahead = aheadOf(clock);
      try {
        if (known.reached > known.span.from) {
          const isNew = known.reached === Number.POSITIVE_INFINITY;
          if (isNew) countedAt = now;
          await countBack(known.span.from, isNew ? undefined : known.reached);
        } else {
          show({ span: spanOf(range, now) });
          // A dead letter has the time of its receipt, but may be written later. So the last hours are counted again.
          await countBack(Math.floor(countedAt / HOUR_MS - 1) * HOUR_MS);
          countedAt = now;
        }
      } catch (error) {
        const problem = toProblem(error);
        show({ problem });
        again = problem.isTemporary ? RETRY_MS : Number.POSITIVE_INFINITY;
      }
      if (Math.abs(aheadOf(clock) - ahead) > MOVED_MS) {
        known = nothingYet(range, clock.now());
        again = 0;
      }
      if (!abort.signal.aborted && again !== Number.POSITIVE_INFINITY) timer = setTimeout(goOn, again);
    }

    setCounts(known);
    void goOn();
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, clock, range, round]);

  return { ...counts, reload: useCallback(() => setRound((count) => count + 1), []) };
}

const nothingYet = (range: (typeof RANGES)[number], now: number): Counts => ({
  hours: [],
  span: spanOf(range, now),
  reached: Number.POSITIVE_INFINITY,
  problem: null,
});

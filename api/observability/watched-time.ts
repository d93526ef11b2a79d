import { DAY_MS, dayOf } from '../../schema/rules.ts';
import type { WatchedSpan, WatchedTimeStore } from '../store/watched-time.ts';
import type { Context } from './index.ts';

/** Limit in heartbeat intervals. One heartbeat may be missed and the next may be late, or the process may restart. */
const LONGEST_BREAK_BEATS = 2.5;

/** The shortest spans are left out. */
export const MAX_UNWATCHED_SPANS = 1000;

const longestBreak = (heartbeatMs: number) => LONGEST_BREAK_BEATS * heartbeatMs;

/**
 * A process watches while it receives messages of devices and the broker, and can store them. The stored span ends at
 * the last heartbeat that was written while it watched, so the span is right even if the process is killed.
 */
export class WatchedTime {
  #store;
  #watches;
  #breakMs;
  #span: WatchedSpan | null = null;

  constructor({
    store,
    watches,
    everyMs,
  }: {
    store: Pick<WatchedTimeStore, 'write'>;
    watches: () => boolean;
    everyMs: number;
  }) {
    this.#store = store;
    this.#watches = watches;
    this.#breakMs = longestBreak(everyMs);
  }

  /**
   * The wall clock measures the break, because a monotonic clock stops while the machine sleeps. So a step of the clock
   * also begins a new span.
   * @throws `unavailable`: the span ends at the last written heartbeat
   */
  async extend(clientId: string, now: number): Promise<void> {
    if (!this.#watches()) return;
    const last = this.#span;
    const isContinued = last !== null && now >= last.until && now - last.until <= this.#breakMs;
    let from = isContinued ? last.from : now;
    for (let midnight = dayOf(from) + DAY_MS; midnight <= now; midnight += DAY_MS) {
      await this.#store.write(clientId, { from, until: midnight });
      from = midnight;
    }
    const span = { from, until: now };
    await this.#store.write(clientId, span);
    this.#span = span;
  }
}

/** epoch ms */
export type UnwatchedSpan = { from: number; to: number };

interface UnwatchedAnswer {
  /** epoch ms from which watched time is recorded; null: recording has not begun */
  since: number | null;
  /** oldest first */
  spans: UnwatchedSpan[];
  /** spans up to this length in ms may be missing */
  leftOutMs: number;
}

export class UnwatchedTime {
  #clock;
  #store;
  #historyMs;
  #breakMs;
  /** Epoch ms. Once known, it never changes. */
  #since: number | null = null;

  constructor(
    { clock, config }: Pick<Context, 'clock' | 'config'>,
    {
      store,
      everyMs,
    }: {
      store: Pick<WatchedTimeStore, 'pages' | 'first'>;
      everyMs: number;
    },
  ) {
    this.#clock = clock;
    this.#store = store;
    this.#historyMs = config.retention.historyDays * DAY_MS;
    this.#breakMs = longestBreak(everyMs);
  }

  /** Range in epoch ms, half-open. @throws `unavailable` */
  async read({ from, to }: { from: number; to: number }): Promise<UnwatchedAnswer> {
    const now = this.#clock();
    this.#since ??= await this.#store.first({ from: now - this.#historyMs, to: now });
    const spans: UnwatchedSpan[] = [];
    // Nothing is known about the time before the record began, so leave it out.
    const begin = Math.max(from - this.#breakMs, this.#since ?? now);
    const end = Math.min(to + this.#breakMs, now);
    let covered = begin;

    // Read the range with a margin on both sides. So a break at an edge of the range is judged by its full length.
    const note = (until: number) => {
      if (until - covered <= this.#breakMs) return;
      const span = { from: Math.max(covered, from), to: Math.min(until, to) };
      if (span.from < span.to) spans.push(span);
    };
    for await (const page of begin < end ? this.#store.pages({ from: begin, to: end }) : []) {
      for (const span of page) {
        note(span.from);
        covered = Math.max(covered, span.until);
      }
    }
    note(end);
    return { since: this.#since, ...longestOf(spans, this.#breakMs) };
  }
}

/** A span that is left out is shorter than a thousandth of the range, which no chart can show. */
function longestOf(spans: UnwatchedSpan[], leftOutMs: number) {
  if (spans.length <= MAX_UNWATCHED_SPANS) return { spans, leftOutMs };
  const byLength = spans.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  const [longestLeftOut] = byLength.splice(MAX_UNWATCHED_SPANS);
  return {
    spans: byLength.sort((a, b) => a.from - b.from),
    leftOutMs: Math.max(leftOutMs, longestLeftOut ? lengthOf(longestLeftOut) : 0),
  };
}

const lengthOf = ({ from, to }: UnwatchedSpan) => to - from;

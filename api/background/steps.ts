import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.ts';
import { HOUR_MS } from '../../schema/rules.ts';
import type { Page } from '../store/history/unpacked.ts';
import type { Retry } from '../store/sending/retry.ts';

/** A tenth of the full speed, and a tenth more for each hour that the work is overdue, up to half. */
const SHARE_AN_HOUR = 0.1;
const MOST_SHARE = 0.5;

/** In ms. The load that made ingest wait may be over after this time. */
const LONGEST_REST_MS = 2000;

type Rest = (ms: number, signal: AbortSignal) => Promise<unknown>;

/**
 * A step is one request, with the computation for it. A step is repeated until the database accepts the request.
 *
 * Background work does not use the congestion window of ingest. Instead, it rests after each step while requests of
 * ingest wait for the window. The rests are so long that the work keeps a tenth of its full speed, and a tenth more for
 * each hour that it is overdue, up to half. So it never stops completely.
 */
export class Steps {
  #retry;
  #isPressed;
  #overdueMs;
  #rest;
  #monotonic;
  #ending = new AbortController();

  constructor(deps: {
    /** a retry that only these steps use; `stop` ends it */
    retry: Retry;
    /** requests of ingest wait for the congestion window */
    isPressed: () => boolean;
    /** ms since the oldest piece of work became due */
    overdueMs: () => number;
    rest?: Rest | undefined;
    monotonic?: () => number;
  }) {
    const { retry, isPressed, overdueMs, rest = sleepUnless, monotonic = () => performance.now() } = deps;
    this.#retry = retry;
    this.#isPressed = isPressed;
    this.#overdueMs = overdueMs;
    this.#rest = rest;
    this.#monotonic = monotonic;
  }

  /** @param step idempotent @throws `unavailable` after `stop`; `rejected` */
  async run<T>(step: () => Promise<T>): Promise<T> {
    if (this.#ending.signal.aborted) throw new MillraceError('unavailable', 'packing ends');
    const began = this.#monotonic();
    const answer = await this.#retry.run(step);
    await this.#giveWay(this.#monotonic() - began);
    return answer;
  }

  stop() {
    this.#ending.abort();
    this.#retry.abort();
  }

  get stopped() {
    return this.#ending.signal.aborted;
  }

  async #giveWay(workedMs: number) {
    if (!this.#isPressed()) return;
    await this.#rest(
      Math.min(LONGEST_REST_MS, workedMs * (1 / speedShare(this.#overdueMs()) - 1)),
      this.#ending.signal,
    );
  }
}

const sleepUnless = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});

export const speedShare = (overdueMs: number): number =>
  Math.min(MOST_SHARE, SHARE_AN_HOUR * (1 + Math.max(0, overdueMs) / HOUR_MS));

/** One page is in memory at a time. */
export async function* iteratePages<T>(
  read: (after: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void> {
  let after: string | undefined;
  do {
    const { items, next } = await read(after);
    yield* items;
    after = next;
  } while (after);
}

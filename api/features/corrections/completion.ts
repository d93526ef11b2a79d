import { DAY_MS, HOUR_MS, MOST_CLOCK_DIFFERENCE_MS, UNDO_DAYS } from '../../../schema/rules.ts';
import { Rounds, Steps } from '../../background/index.ts';
import type { Core } from '../../feature.ts';
import type { CorrectionLog } from '../../ingest/correction-log.ts';
import type { ListedCorrection } from '../../store/corrections.ts';
import { Retry, type Store, timeOfId } from '../../store/index.ts';

/** `corrections`: interval of the rounds */
const PERIODS_MS = { corrections: 60_000 };

/** In ms. An entry that waited for the database may be listed this much later than the time of its id. */
const LISTED_WITHIN_MS = HOUR_MS;

/**
 * Reports corrections whose process ended before it notified all listeners: Kafka, alarms and live readers. Two processes may report the same
 * correction. The first round of a process checks all corrections that can still be undone.
 */
export class Completion {
  #corrections;
  #log;
  #steps;
  #from: number | null = null;

  constructor(deps: {
    corrections: Pick<Store['corrections'], 'select' | 'find'>;
    log: Pick<CorrectionLog, 'now' | 'complete'>;
    steps: Pick<Steps, 'run'>;
  }) {
    this.#corrections = deps.corrections;
    this.#log = deps.log;
    this.#steps = deps.steps;
  }

  async round() {
    const now = await this.#log.now();
    const from = this.#from ?? now - UNDO_DAYS * DAY_MS;
    const range = { from, to: now + 2 * MOST_CLOCK_DIFFERENCE_MS };
    const unfinished = await this.#steps.run(() => this.#corrections.select(null, range, isUnfinished));
    let next = now - LISTED_WITHIN_MS;
    for (const { id, runningUntil } of unfinished) {
      if (runningUntil >= now) next = Math.min(next, timeOfId(id));
      else await this.#complete(id, now);
    }
    this.#from = next;
  }

  async #complete(id: Buffer, now: number) {
    const correction = await this.#steps.run(() => this.#corrections.find(id));
    // Its process may have prolonged or finished it meanwhile.
    if (!correction || !isUnfinished(correction) || correction.runningUntil >= now) return;
    await this.#log.complete(correction);
  }
}

const isUnfinished = ({ runningUntil }: ListedCorrection) => runningUntil > 0;

export function createCompletion({ context, store, corrections: { log } }: Core) {
  const { logger, metrics, periodsOf } = context;
  const retry = new Retry({ logger, onRetry: () => metrics.retries.inc() });
  const steps = new Steps({ retry, isPressed: store.health.isPressed, overdueMs: () => 0 });
  const completion = new Completion({ corrections: store.corrections, log, steps });
  const rounds = new Rounds({
    steps,
    pauseMs: periodsOf(PERIODS_MS).corrections,
    work: () => completion.round(),
    logger,
    failed: 'corrections of ended processes could not be reported; it is tried again',
  });
  return { start: () => rounds.start(), stop: () => rounds.stop() };
}

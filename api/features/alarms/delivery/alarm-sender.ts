import type { Logger } from 'pino';
import { LogThrottle } from '../../../../common/log-throttle.ts';
import { bucketOf, DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';
import type { AlarmDeliveryStore, Delivery } from '../store/deliveries.ts';
import type { Alarm, AlarmStore } from '../store/episodes.ts';
import type { createReceivers } from './receivers.ts';

/** Age in ms at which a delivery becomes a dead letter. */
export const GIVE_UP_MS = DAY_MS;

const FIRST_PAUSE_MS = 1000;
export const LONGEST_PAUSE_MS = HOUR_MS;

const REPORT_EVERY_MS = 60_000;

export type DeliveryResult = 'delivered' | 'failed' | 'dead';

/**
 * A receiver may get the reports of two processes in the wrong order. So a delivery is complete only if the stored alarm is still the alarm
 * that was sent.
 */
export class AlarmSender {
  #deps;
  #throttle = new LogThrottle({ everyMs: REPORT_EVERY_MS });

  constructor(deps: {
    receivers: ReturnType<typeof createReceivers>;
    store: AlarmDeliveryStore;
    episodes: AlarmStore;
    clock: () => number;
    logger: Logger;
    onResult: (target: string, result: DeliveryResult) => void;
    /** from the change of the alarm to the receiver's answer */
    onDelivered: (seconds: number) => void;
  }) {
    this.#deps = deps;
  }

  /** False: the delivery is unfinished, and is attempted again later. */
  async attempt(delivery: Delivery, alarm: Alarm): Promise<boolean> {
    const { target, event, begunAt } = delivery;
    const { store, clock, onResult, onDelivered } = this.#deps;
    try {
      // A withdrawn alarm is not reported as opened.
      if (!(event === 'opened' && alarm.withdrawn)) {
        const shelvedUntil = await this.#deliver(delivery, alarm);
        if (shelvedUntil !== null) {
          await this.postpone(delivery, shelvedUntil);
          return false;
        }
      }
      onResult(target, 'delivered');
      onDelivered((clock() - begunAt) / 1000);
      await store.finish(delivery, clock());
      return true;
    } catch (error) {
      return this.#fail(delivery, reasonOf(error));
    }
  }

  /** Moves a delivery of a shelved (temporarily muted) alarm to the end of the shelving. `until`: epoch ms. */
  async postpone(delivery: Delivery, until: number) {
    const { store, clock } = this.#deps;
    const now = clock();
    await store.write(postponedTo(delivery, until), now);
    if (bucketOf(until) !== bucketOf(delivery.begunAt)) await store.finish(delivery, now);
  }

  /**
   * If another change was stored meanwhile, it sends the alarm again: the report of that change may have arrived first. So the last report
   * at the receiver is correct. Returns the epoch ms until which the alarm is shelved, and has to be sent again; null: it is delivered.
   */
  async #deliver({ key, target, event }: Delivery, alarm: Alarm): Promise<number | null> {
    const receiver = this.#deps.receivers[target];
    let sent = alarm;
    await receiver?.(sent, event);
    for (;;) {
      const stored = await this.#deps.episodes.find(key);
      if (!stored || isSameState(stored, sent)) return null;
      if (isShelved(stored, this.#deps.clock())) return stored.shelvedUntil;
      await receiver?.(stored, 'corrected', sent);
      sent = stored;
    }
  }

  /** True: the delivery has become a dead letter. */
  async #fail(delivery: Delivery, error: string): Promise<boolean> {
    const { store, clock, logger, onResult } = this.#deps;
    const now = clock();
    const isDead = now - delivery.begunAt >= GIVE_UP_MS;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** delivery.attempts, LONGEST_PAUSE_MS);
    const failed = {
      ...delivery,
      attempts: delivery.attempts + 1,
      nextAt: now + pause * (1 + Math.random() / 4),
      failedAt: isDead ? now : null,
      error,
    };
    onResult(delivery.target, isDead ? 'dead' : 'failed');
    if (this.#throttle.count(delivery.target) > 0)
      logger.warn({ target: delivery.target, reason: error }, 'an alarm could not be delivered');
    // If this write fails, the row keeps the earlier time, and the next attempt comes sooner.
    await store.write({ ...failed, nextAt: Math.round(failed.nextAt) }, now).catch(() => {});
    return isDead;
  }
}

export const isShelved = ({ shelvedUntil }: Alarm, now: number) =>
  shelvedUntil !== null && shelvedUntil > now;

export const postponedTo = (delivery: Delivery, until: number): Delivery => ({
  ...delivery,
  begunAt: until,
  nextAt: until,
  attempts: 0,
});

export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

/** The peak is not compared, because it grows all the time. */
const isSameState = (a: Alarm, b: Alarm) =>
  a.opened === b.opened && a.cleared === b.cleared && Boolean(a.withdrawn) === Boolean(b.withdrawn);

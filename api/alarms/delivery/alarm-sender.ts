import { LogThrottle } from '../../../common/log-throttle.js';
import { bucketOf, DAY_MS, HOUR_MS } from '../../../schema/rules.js';

/** @import { Logger } from 'pino' */
/** @import { AlarmDeliveryStore, Delivery } from '../../store/alarms/deliveries.js' */
/** @import { Alarm, AlarmStore } from '../../store/alarms/episodes.js' */
/** @import { createReceivers } from './receivers.js' */

/** Age at which a delivery becomes a dead letter, in ms. */
export const GIVE_UP_MS = DAY_MS;

/** The first and the longest pause between two attempts, in ms. */
const FIRST_PAUSE_MS = 1000;
export const LONGEST_PAUSE_MS = HOUR_MS;

const REPORT_EVERY_MS = 60_000;

/** @typedef {'delivered' | 'failed' | 'dead'} DeliveryResult */

/**
 * Attempts to deliver reports of alarms to receivers. A receiver may get the reports of two processes in the wrong order. So a
 * delivery is complete only if the stored alarm is still the alarm that was sent. After a day of attempts the delivery becomes a
 * dead letter.
 */
export class AlarmSender {
  #deps;
  #throttle = new LogThrottle({ everyMs: REPORT_EVERY_MS });

  /**
   * @param {object} deps
   * @param {ReturnType<typeof createReceivers>} deps.receivers
   * @param {AlarmDeliveryStore} deps.store
   * @param {AlarmStore} deps.episodes
   * @param {() => number} deps.clock epoch ms
   * @param {Logger} deps.logger
   * @param {(target: string, result: DeliveryResult) => void} deps.onResult
   * @param {(seconds: number) => void} deps.onDelivered gets the time from the change of the alarm to the receiver's answer
   */
  constructor(deps) {
    this.#deps = deps;
  }

  /**
   * Sends an alarm.
   * @param {Delivery} delivery
   * @param {Alarm} alarm as it is now
   * @returns {Promise<boolean>} false: the delivery is unfinished, and is attempted again later
   */
  async attempt(delivery, alarm) {
    const { target, event, begunAt } = delivery;
    const { store, clock, onResult, onDelivered } = this.#deps;
    try {
      // A withdrawn alarm is not reported as opened.
      if (!(event === 'opened' && alarm.withdrawn)) {
        const shelvedUntil = await this.#bring(delivery, alarm);
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

  /**
   * Moves a delivery of a shelved alarm to the end of the shelving. (Shelving mutes an alarm for a time.)
   *
   * @param {Delivery} delivery
   * @param {number} until epoch ms
   */
  async postpone(delivery, until) {
    const { store, clock } = this.#deps;
    const now = clock();
    await store.write(postponedTo(delivery, until), now);
    if (bucketOf(until) !== bucketOf(delivery.begunAt)) await store.finish(delivery, now);
  }

  /**
   * Sends the alarm. If another change of the alarm was stored meanwhile, it sends the alarm again, because the report of that
   * change may have arrived first. So the last report that the receiver gets is correct. While the alarm is shelved, the
   * repetition has to wait.
   *
   * @param {Delivery} delivery
   * @param {Alarm} alarm
   * @returns {Promise<number | null>} epoch ms until which the alarm is shelved, and has to be sent again then; null: the alarm
   *   is delivered
   */
  async #bring({ key, target, event }, alarm) {
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

  /** @param {Delivery} delivery @param {string} error @returns {Promise<boolean>} true: the delivery has become a dead letter */
  async #fail(delivery, error) {
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

/** @param {Alarm} alarm @param {number} now epoch ms */
export const isShelved = ({ shelvedUntil }, now) => shelvedUntil !== null && shelvedUntil > now;

/** @param {Delivery} delivery @param {number} until epoch ms @returns {Delivery} the delivery, with its begin moved to `until` */
export const postponedTo = (delivery, until) => ({ ...delivery, begunAt: until, nextAt: until, attempts: 0 });

/** @param {unknown} error of a receiver @returns {string} */
export function reasonOf(error) {
  const { message, cause } = /** @type {Error} */ (error);
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

/**
 * Whether both states cause the same report. The peak is not compared, because it grows all the time.
 *
 * @param {Alarm} a
 * @param {Alarm} b
 */
const isSameState = (a, b) =>
  a.opened === b.opened && a.cleared === b.cleared && Boolean(a.withdrawn) === Boolean(b.withdrawn);

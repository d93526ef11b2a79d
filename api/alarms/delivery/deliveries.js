import pLimit from 'p-limit';
import { LogThrottle } from '../../../common/log-throttle.js';
import { bucketOf, DAY_MS, DEAD_LETTER_DAYS, HOUR_MS } from '../../../schema/rules.js';
import { alarmId, deliveryId } from '../../store/index.js';

/** @import { Logger } from 'pino' */
/** @import { AlarmDeliveryStore, Delivery } from '../../store/alarms/deliveries.js' */
/** @import { Alarm, AlarmStore, EpisodeKey } from '../../store/alarms/episodes.js' */
/** @import { AlarmProgress } from '../../store/alarms/progress.js' */
/** @import { AlarmEventKind } from '../evaluation/evaluator.js' */
/** @import { createReceivers } from './receivers.js' */

/** The process that began a delivery tries it for so long alone, in ms. Then whichever process has the lease repeats it. */
const OWN_MS = 15_000;

/** After so long a delivery is a dead letter, in ms. */
const GIVE_UP_MS = DAY_MS;

/** The first and the longest pause between two attempts, in ms. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = HOUR_MS;

/** How old the deliveries are that each look finds, in ms: the attempt that gives up comes one pause after the day at the latest. */
const LOOK_BACK_MS = GIVE_UP_MS + 2 * LONGEST_PAUSE_MS;

/** The first look of a process finds all that are stored, in ms: no process may have run for days. */
const FIRST_LOOK_BACK_MS = DEAD_LETTER_DAYS * DAY_MS;

/** Deliveries at once. A receiver that hangs holds one of them for ten seconds. */
const AT_ONCE = 16;

/** Deliveries of this process in memory. Those beyond stay in the database until there is room. */
const MAX_IN_MEMORY = 10_000;

/** Alertmanager gets the open alarms again this often, in ms, and so many at once. */
const REPEAT_EVERY_MS = 60_000;
const REPEATED_AT_ONCE = 500;

/** The lease for repeating. Groups count from 0. */
const LEASE = -1;

const REPORT_EVERY_MS = 60_000;

/** @typedef {'delivered' | 'failed' | 'dead'} DeliveryResult */

/**
 * Brings what happened to alarms to the receivers of the settings, each at least once. A delivery is stored before its alarm changes, and
 * removed when the receiver has taken it. What it sends is the alarm as it is then, so a late repetition reports nothing that is not true
 * any more. A receiver may get the reports of two processes in the wrong order, so a delivery is done only when the stored alarm is still
 * the one that was sent. After a day of attempts it is a dead letter. A delivery of a shelved alarm begins when the shelving ends.
 */
export class Deliveries {
  #deps;
  #receivers;
  #throttle = new LogThrottle({ everyMs: REPORT_EVERY_MS });
  #limit = pLimit(AT_ONCE);
  /** Begun by this process, until their change is written. Nothing is left of a change that could not be. @type {WeakMap<Alarm, Delivery[]>} */
  #begun = new WeakMap();
  /** Those of this process with an attempt that waits or runs: their ids. @type {Set<string>} */
  #attempted = new Set();
  #lookBackMs = FIRST_LOOK_BACK_MS;
  #pending = 0;
  #repeatedAt = Number.NEGATIVE_INFINITY;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** @type {Promise<void>} */
  #round = Promise.resolve();
  #stopped = false;

  /**
   * @param {object} deps
   * @param {ReturnType<typeof createReceivers>} deps.receivers
   * @param {AlarmDeliveryStore} deps.store
   * @param {AlarmStore} deps.episodes
   * @param {AlarmProgress} deps.leases
   * @param {() => Promise<Alarm[]>} deps.open all open alarms
   * @param {() => number} deps.clock epoch ms
   * @param {Logger} deps.logger
   * @param {string} deps.owner
   * @param {number} deps.everyMs
   * @param {(target: string, result: DeliveryResult) => void} deps.onResult
   * @param {(seconds: number) => void} deps.onDelivered from the change of the alarm to the answer of the receiver
   */
  constructor(deps) {
    this.#deps = deps;
    this.#receivers = deps.receivers;
  }

  /** The receivers of the settings. */
  get targets() {
    return /** @type {Delivery['target'][]} */ (
      ['webhook', 'alertmanager'].filter((target) => target in this.#receivers)
    );
  }

  /** Deliveries that are not done, by the last look of this process. */
  get pending() {
    return Math.max(this.#pending, this.#attempted.size);
  }

  start() {
    if (this.targets.length > 0) this.#later();
  }

  /** Ends after the attempts under way. What is left is repeated by another process, or by the next start. */
  async stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    // Those that wait for a place return at once. If they were dropped, the round would never end.
    await this.#round;
    if (this.targets.length > 0) await this.#deps.leases.release(LEASE, this.#deps.owner).catch(() => {});
  }

  /**
   * Stores the deliveries of a change, before the alarm itself is written.
   *
   * @param {Alarm} alarm
   * @param {AlarmEventKind[]} kinds
   */
  async begin(alarm, kinds) {
    const { store, clock } = this.#deps;
    const now = clock();
    const begun = this.#deliveriesOf(alarm, kinds);
    if (isShelved(alarm, now)) {
      const end = Number(alarm.shelvedUntil);
      await Promise.all(begun.map((delivery) => store.write(postponedTo(delivery, end), now)));
      return;
    }
    await Promise.all(begun.map((delivery) => store.write(delivery, now)));
    this.#begun.set(alarm, begun);
  }

  /**
   * Moves the deliveries of a shelved alarm to another end of its shelving.
   *
   * @param {Alarm} alarm as it was before
   * @param {number} until epoch ms; the past ends the shelving now
   */
  async shelve(alarm, until) {
    const { store, clock } = this.#deps;
    const now = clock();
    if (!isShelved(alarm, now)) return;
    const before = Number(alarm.shelvedUntil);
    const waiting = await store.begunIn({ from: before, to: before + 1 });
    const id = alarmId(alarm);
    for (const delivery of waiting)
      if (alarmId(delivery.key) === id) await this.#postpone(delivery, Math.max(until, now));
  }

  /** @param {Delivery} delivery @param {number} until epoch ms */
  async #postpone(delivery, until) {
    const { store, clock } = this.#deps;
    await store.write(postponedTo(delivery, until), clock());
    if (bucketOf(until) !== bucketOf(delivery.begunAt)) await store.remove(delivery);
  }

  /** Sends what was begun for an alarm, after it is written. @param {Alarm} alarm the object that `begin` got */
  send(alarm) {
    for (const delivery of this.#begun.get(alarm) ?? []) {
      if (this.#attempted.size >= MAX_IN_MEMORY) break;
      this.#attempted.add(delivery.id);
      void this.#limit(async () => {
        if (!this.#stopped) await this.#attempt(delivery, alarm);
      }).finally(() => this.#attempted.delete(delivery.id));
    }
    this.#begun.delete(alarm);
  }

  /**
   * Sends an alarm to all receivers once, for a test button.
   *
   * @param {Alarm} alarm
   * @returns {Promise<Array<{ target: string, error: string | null }>>} `error`: why the receiver did not take it
   */
  test(alarm) {
    return Promise.all(
      this.targets.map(async (target) => {
        try {
          await this.#receivers[target]?.(alarm, 'opened');
          return { target, error: null };
        } catch (error) {
          return { target, error: reasonOf(error) };
        }
      }),
    );
  }

  /** @param {Alarm} alarm @param {AlarmEventKind[]} kinds @returns {Delivery[]} */
  #deliveriesOf(alarm, kinds) {
    const now = this.#deps.clock();
    return this.targets.flatMap((target) =>
      kinds.map((event) => ({
        id: deliveryId(target, event, alarm),
        key: keyOf(alarm),
        target,
        event,
        begunAt: now,
        attempts: 0,
        nextAt: now + OWN_MS,
        failedAt: null,
        error: null,
      })),
    );
  }

  /** @param {Delivery} delivery @param {Alarm} alarm as it is now */
  async #attempt(delivery, alarm) {
    const { target, event, begunAt } = delivery;
    const { store, clock, onResult, onDelivered } = this.#deps;
    try {
      // An alarm that has turned out not to be one is not reported.
      if (!(event === 'opened' && alarm.withdrawn)) {
        const shelvedUntil = await this.#bring(delivery, alarm);
        if (shelvedUntil !== null) {
          await this.#postpone(delivery, shelvedUntil);
          return;
        }
      }
      onResult(target, 'delivered');
      onDelivered((clock() - begunAt) / 1000);
      await store.remove(delivery);
    } catch (error) {
      await this.#fail(delivery, reasonOf(error));
    }
  }

  /**
   * Sends the alarm, and sends it again as long as another change of it was stored meanwhile. The report of that change may have come
   * first, and the receiver has to end with what is true. While the alarm is shelved that has to wait.
   *
   * @param {Delivery} delivery
   * @param {Alarm} alarm
   * @returns {Promise<number | null>} epoch ms until when the alarm is shelved, if another change of it has to be sent then
   */
  async #bring({ key, target, event }, alarm) {
    const receiver = this.#receivers[target];
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

  /** @param {Delivery} delivery @param {string} error */
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
    // If this cannot be written, the row has the earlier time, and the attempt comes sooner.
    await store.write({ ...failed, nextAt: Math.round(failed.nextAt) }, now).catch(() => {});
  }

  #later() {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#once().then(() => this.#later());
    }, this.#deps.everyMs).unref();
  }

  async #once() {
    const { leases, owner, logger } = this.#deps;
    try {
      if (!((await leases.renew(LEASE, owner)) || (await leases.take(LEASE, owner)))) return;
      await this.#retryDue();
      this.#lookBackMs = LOOK_BACK_MS;
      await this.#repeatOpen();
    } catch (error) {
      logger.debug({ reason: String(error) }, 'the deliveries of alarms could not be read');
    }
  }

  async #retryDue() {
    const { store, episodes, clock } = this.#deps;
    const now = clock();
    const begun = await store.begunIn({ from: now - this.#lookBackMs, to: now + 1 });
    const open = begun.filter(({ failedAt }) => failedAt === null);
    this.#pending = open.length;
    // One that was begun and never sent is due, too: its alarm may have been written in spite of an error.
    const due = open.filter(
      ({ id, nextAt, target }) => nextAt <= now && !this.#attempted.has(id) && target in this.#receivers,
    );
    await Promise.all(
      due.map((delivery) =>
        this.#limit(async () => {
          if (this.#stopped) return;
          const alarm = await episodes.find(delivery.key);
          if (alarm && isShelved(alarm, now)) return this.#postpone(delivery, Number(alarm.shelvedUntil));
          if (alarm && isWritten(delivery, alarm)) return this.#attempt(delivery, alarm);
          // The process died before it wrote the change. Its successor writes it, and begins the delivery again.
          if (now - delivery.begunAt > HOUR_MS) await store.remove(delivery);
        }),
      ),
    );
  }

  async #repeatOpen() {
    const { repeat } = this.#receivers;
    const { clock, open, onResult } = this.#deps;
    const now = clock();
    if (!repeat || now - this.#repeatedAt < REPEAT_EVERY_MS) return;
    this.#repeatedAt = now;
    const alarms = (await open()).filter((alarm) => !isShelved(alarm, now));
    for (let from = 0; from < alarms.length; from += REPEATED_AT_ONCE) {
      await repeat(alarms.slice(from, from + REPEATED_AT_ONCE)).catch(() =>
        onResult('alertmanager', 'failed'),
      );
    }
  }
}

/** @param {Alarm} alarm @param {number} now epoch ms */
const isShelved = ({ shelvedUntil }, now) => shelvedUntil !== null && shelvedUntil > now;

/** Whether the stored alarm has what a delivery reports. @param {Delivery} delivery @param {Alarm} alarm */
const isWritten = ({ event }, { cleared, withdrawn, acknowledgedAt }) =>
  event === 'cleared' ? cleared !== null || withdrawn : event !== 'acknowledged' || acknowledgedAt !== null;

/** @param {Delivery} delivery @param {number} until epoch ms @returns {Delivery} that begins then */
const postponedTo = (delivery, until) => ({ ...delivery, begunAt: until, nextAt: until, attempts: 0 });

/** @param {Alarm} alarm @returns {EpisodeKey} */
const keyOf = ({ device, sensor, rule, start }) => ({ device, sensor, rule, start });

/** @param {unknown} error @returns {string} */
function reasonOf(error) {
  const { message, cause } = /** @type {Error} */ (error);
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

/** Whether both report the same. A peak grows all the time, and is no change. @param {Alarm} a @param {Alarm} b */
const isSameState = (a, b) =>
  a.opened === b.opened && a.cleared === b.cleared && Boolean(a.withdrawn) === Boolean(b.withdrawn);

import type { Logger } from 'pino';
import { DAY_MS, DEAD_LETTER_DAYS } from '../../../../schema/rules.ts';
import type { AlarmEventKind } from '../evaluation/evaluator.ts';
import { type AlarmDeliveryStore, type Delivery, deliveryId } from '../store/deliveries.ts';
import { type Alarm, type AlarmStore, alarmId, type EpisodeKey } from '../store/episodes.ts';
import type { AlarmProgress } from '../store/progress.ts';
import {
  AlarmSender,
  type DeliveryResult,
  GIVE_UP_MS,
  isShelved,
  LONGEST_PAUSE_MS,
  postponedTo,
  reasonOf,
} from './alarm-sender.ts';
import { DeliveryChains } from './delivery-chains.ts';
import type { createReceivers } from './receivers.ts';

/** Time in ms in which only the process that began a delivery sends it. After that, the holder of the lease for repetitions sends it. */
const EXCLUSIVE_MS = 15_000;

/** Age in ms up to which a round reads deliveries. The last attempt may come one pause later than a day after the begin. */
const LOOK_BACK_MS = GIVE_UP_MS + 2 * LONGEST_PAUSE_MS;

/** The first round of a process looks back further, because no process may have run for days. */
const FIRST_LOOK_BACK_MS = DEAD_LETTER_DAYS * DAY_MS;

/** In ms. Alertmanager resolves alerts that are not repeated. */
const REPEAT_EVERY_MS = 60_000;
/** Limit of alarms in one request to Alertmanager. */
const REPEATED_AT_ONCE = 500;

const REMOVE_EVERY_MS = 60_000;

/** Age in ms at which a finished delivery may be removed. Clocks differ by two minutes, and a write in flight takes some seconds. */
const REMOVE_AFTER_MS = 180_000;

/** The groups of devices count from 0, so this number is free for the lease for repetitions. */
const LEASE = -1;

/**
 * Reports each change of an alarm at least once. A delivery is stored before its alarm changes, and finished when the receiver has accepted
 * it. Each attempt sends the present state of the alarm, so a late repetition reports nothing outdated. A delivery of a shelved alarm
 * begins when the shelving ends.
 */
export class Deliveries {
  #deps;
  #receivers;
  #sender;
  #chains;
  /** Deliveries whose alarm is not written yet. If that write fails, the garbage collector removes the entry together with the alarm. */
  #begun: WeakMap<Alarm, Delivery[]> = new WeakMap();
  #lookBackMs = FIRST_LOOK_BACK_MS;
  #pending = 0;
  #repeatedAt = Number.NEGATIVE_INFINITY;
  #removedAt = Number.NEGATIVE_INFINITY;
  #repeating: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: {
    receivers: ReturnType<typeof createReceivers>;
    store: AlarmDeliveryStore;
    episodes: AlarmStore;
    leases: AlarmProgress;
    open: () => Promise<Alarm[]>;
    clock: () => number;
    logger: Logger;
    owner: string;
    everyMs: number;
    onResult: (target: string, result: DeliveryResult) => void;
    /** from the change of the alarm to the receiver's answer */
    onDelivered: (seconds: number) => void;
  }) {
    const { receivers, store, episodes, clock } = deps;
    this.#deps = deps;
    this.#receivers = receivers;
    this.#sender = new AlarmSender(deps);
    this.#chains = new DeliveryChains({
      sender: this.#sender,
      store,
      episodes,
      clock,
      onError: (error) => this.#report(error),
    });
  }

  get targets() {
    return ['webhook', 'alertmanager'].filter((target) => target in this.#receivers) as Delivery['target'][];
  }

  /** As of the last round of this process. Without the lease it does not count the deliveries of other processes. */
  get pending() {
    return Math.max(this.#pending, this.#chains.size);
  }

  start() {
    if (this.targets.length > 0) this.#later();
  }

  /** Waits for the attempts under way. Another process, or the next start, repeats the remaining deliveries. */
  async stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await Promise.all([this.#chains.stop(), this.#round, this.#repeating]);
    if (this.targets.length > 0) await this.#deps.leases.release(LEASE, this.#deps.owner).catch(() => {});
  }

  async begin(alarm: Alarm, kinds: AlarmEventKind[]) {
    const { store, episodes, clock } = this.#deps;
    const now = clock();
    const begun = this.#deliveriesOf(alarm, kinds);
    if (isShelved(alarm, now)) {
      const end = Number(alarm.shelvedUntil);
      await Promise.all(begun.map((delivery) => store.write(postponedTo(delivery, end), now)));
      // A person may have changed the end of the shelving after the alarm was read. That change has not moved the deliveries
      // that were stored just now.
      const stored = await episodes.find(keyOf(alarm));
      if (stored && stored.shelvedUntil !== end) await this.shelve(alarm, Number(stored.shelvedUntil));
      return;
    }
    await Promise.all(begun.map((delivery) => store.write(delivery, now)));
    this.#begun.set(alarm, begun);
  }

  /** `alarm` has the previous end of the shelving. `until` is epoch ms; a time in the past ends the shelving now. */
  async shelve(alarm: Alarm, until: number) {
    const { store, clock } = this.#deps;
    const now = clock();
    if (!isShelved(alarm, now)) return;
    const before = Number(alarm.shelvedUntil);
    const waiting = await store.begunIn({ from: before, to: before + 1 });
    const id = alarmId(alarm);
    for (const delivery of waiting)
      if (alarmId(delivery.key) === id) await this.#sender.postpone(delivery, Math.max(until, now));
  }

  /** Must get the same object as `begin`. */
  send(alarm: Alarm) {
    this.#chains.sendBegun(this.#begun.get(alarm) ?? [], alarm);
    this.#begun.delete(alarm);
  }

  /** Sends an alarm once to all receivers, for a test button. `error`: why the receiver refused it. */
  test(alarm: Alarm): Promise<Array<{ target: string; error: string | null }>> {
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

  #deliveriesOf(alarm: Alarm, kinds: AlarmEventKind[]): Delivery[] {
    const now = this.#deps.clock();
    return this.targets.flatMap((target) =>
      kinds.map((event) => ({
        id: deliveryId(target, event, alarm),
        key: keyOf(alarm),
        target,
        event,
        begunAt: now,
        attempts: 0,
        nextAt: now + EXCLUSIVE_MS,
        failedAt: null,
        error: null,
      })),
    );
  }

  #later() {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#once().then(() => this.#later());
    }, this.#deps.everyMs).unref();
  }

  /** A round waits for no receiver. Otherwise the lease could expire while a receiver hangs. */
  async #once() {
    const { leases, owner } = this.#deps;
    try {
      if (!((await leases.renew(LEASE, owner)) || (await leases.take(LEASE, owner)))) {
        this.#pending = 0;
        return;
      }
      this.#repeatOpen();
      await this.#sendDue();
    } catch (error) {
      this.#report(error);
    }
  }

  async #sendDue() {
    const now = this.#deps.clock();
    const { busy } = this.#chains;
    const range = { from: now - this.#lookBackMs, to: now + 1 };
    const begun = await this.#deps.store.begunIn(range);
    // A delivery that was begun but never sent counts, too. Its alarm may be written although the write seemed to fail.
    const open = begun.filter(({ failedAt, target }) => failedAt === null && target in this.#receivers);
    this.#pending = open.length;
    if (open.every(({ begunAt }) => begunAt >= now - LOOK_BACK_MS)) this.#lookBackMs = LOOK_BACK_MS;
    this.#chains.sendDue(open, busy);
    if (now - this.#removedAt < REMOVE_EVERY_MS) return;
    this.#removedAt = now;
    await this.#deps.store.removeFinished(range, now - REMOVE_AFTER_MS);
  }

  #repeatOpen() {
    const { repeat } = this.#receivers;
    const now = this.#deps.clock();
    if (!repeat || this.#stopped || this.#repeating !== null) return;
    if (now - this.#repeatedAt < REPEAT_EVERY_MS) return;
    this.#repeatedAt = now;
    this.#repeating = this.#sendOpen(repeat, now)
      .catch((error) => this.#report(error))
      .finally(() => {
        this.#repeating = null;
      });
  }

  async #sendOpen(repeat: (alarms: Alarm[]) => Promise<void>, now: number) {
    const { open, onResult } = this.#deps;
    const alarms = (await open()).filter((alarm) => !isShelved(alarm, now));
    for (let from = 0; from < alarms.length && !this.#stopped; from += REPEATED_AT_ONCE) {
      await repeat(alarms.slice(from, from + REPEATED_AT_ONCE)).catch(() =>
        onResult('alertmanager', 'failed'),
      );
    }
  }

  #report(error: unknown) {
    this.#deps.logger.debug(
      { reason: String(error) },
      'the deliveries of alarms could not be read or written',
    );
  }
}

const keyOf = ({ device, sensor, rule, start }: Alarm): EpisodeKey => ({ device, sensor, rule, start });

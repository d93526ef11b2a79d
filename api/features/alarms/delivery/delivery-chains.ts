import pLimit from 'p-limit';
import type { AlarmDeliveryStore, Delivery } from '../store/deliveries.ts';
import { type Alarm, type AlarmStore, alarmId } from '../store/episodes.ts';
import { type AlarmSender, isShelved } from './alarm-sender.ts';

/** Limit of chains that one target gets concurrently. A receiver that hangs occupies each of them for ten seconds. */
const AT_ONCE = 16;

/** Limit of deliveries in memory for each target, and of remembered finished chains. Further deliveries wait in the database. */
const MAX_IN_MEMORY = 10_000;

/**
 * Age in ms at which a delivery is finished unsent if its change is not written. The change is written right after it, and times out much
 * sooner. If the write failed, its repetition stores the delivery again.
 */
const ABANDONED_MS = 120_000;

/**
 * The deliveries of one alarm to one target are a chain: each waits until the earlier ones are complete or dead letters. Each target has
 * its own limit, so a receiver that hangs does not delay the others.
 */
export class DeliveryChains {
  #deps;
  #limits: Record<Delivery['target'], ReturnType<typeof pLimit>> = {
    webhook: pLimit(AT_ONCE),
    alertmanager: pLimit(AT_ONCE),
  };
  #jobs: Map<string, Promise<void>> = new Map();
  #sizes: Record<Delivery['target'], number> = { webhook: 0, alertmanager: 0 };
  /** As far as this process knows, these chains have no unfinished delivery. */
  #finished: Set<string> = new Set();
  #stopped = false;

  constructor(deps: {
    sender: AlarmSender;
    store: AlarmDeliveryStore;
    episodes: AlarmStore;
    clock: () => number;
    onError: (error: unknown) => void;
  }) {
    this.#deps = deps;
  }

  get size() {
    return this.#sizes.webhook + this.#sizes.alertmanager;
  }

  get busy(): Set<string> {
    return new Set(this.#jobs.keys());
  }

  async stop() {
    this.#stopped = true;
    await Promise.all(this.#jobs.values());
  }

  /** `begun`: deliveries of one alarm that this process has just begun. */
  sendBegun(begun: Delivery[], alarm: Alarm) {
    for (const [chain, deliveries] of chainsOf(begun))
      this.#add(chain, deliveries, () => this.#attemptBegun(chain, deliveries, alarm));
  }

  /** `busy`: chains that were being sent before these rows were read, so the rows may be old. */
  sendDue(stored: Delivery[], busy: Set<string>) {
    const now = this.#deps.clock();
    for (const [chain, deliveries] of chainsOf(stored)) {
      const isBusy = busy.has(chain) || this.#jobs.has(chain);
      if (!isBusy && Number(deliveries[0]?.nextAt) <= now)
        this.#add(chain, deliveries, () => this.#attemptDue(deliveries));
    }
  }

  /**
   * If the target has too many deliveries in memory, the job is dropped, and the next round reads its deliveries again. A job returns false
   * if some deliveries are unfinished.
   */
  #add(chain: string, deliveries: Delivery[], job: () => Promise<boolean>) {
    const { target } = deliveries[0] as Delivery;
    if (this.#sizes[target] >= MAX_IN_MEMORY) return;
    const limit = this.#limits[target];
    this.#sizes[target] += deliveries.length;
    const before = this.#jobs.get(chain) ?? Promise.resolve();
    const ended: Promise<void> = before
      .then(() => limit(job))
      .catch((error) => {
        this.#deps.onError(error);
        return false;
      })
      .then((isFinished) => {
        this.#remember(chain, isFinished);
        this.#sizes[target] -= deliveries.length;
        if (this.#jobs.get(chain) === ended) this.#jobs.delete(chain);
      });
    this.#jobs.set(chain, ended);
  }

  #remember(chain: string, isFinished: boolean) {
    this.#finished.delete(chain);
    if (!isFinished) return;
    // Later deliveries of a chain that is removed here wait for the next round, which reads the whole chain.
    if (this.#finished.size >= MAX_IN_MEMORY) this.#finished.clear();
    this.#finished.add(chain);
  }

  async #attemptBegun(chain: string, deliveries: Delivery[], alarm: Alarm): Promise<boolean> {
    if (this.#stopped) return false;
    const { sender, store, clock } = this.#deps;
    if (deliveries[0]?.event !== 'opened' && !this.#finished.has(chain)) {
      // Another process may still be sending an earlier delivery of the chain. So this process sends nothing now, and the next
      // round reads the whole chain.
      const now = clock();
      await Promise.all(deliveries.map((delivery) => store.write({ ...delivery, nextAt: now }, now)));
      return false;
    }
    for (const delivery of deliveries)
      if (this.#stopped || !(await sender.attempt(delivery, alarm))) return false;
    return true;
  }

  /** `deliveries`: all unfinished deliveries of a chain. False: some are still unfinished. */
  async #attemptDue(deliveries: Delivery[]): Promise<boolean> {
    const { sender, store, episodes, clock } = this.#deps;
    let isFinished = true;
    for (const delivery of deliveries) {
      const now = clock();
      if (this.#stopped || delivery.nextAt > now) return false;
      const alarm = await episodes.find(delivery.key);
      if (alarm && isShelved(alarm, now)) {
        isFinished = false;
        await sender.postpone(delivery, Number(alarm.shelvedUntil));
      } else if (alarm && isWritten(delivery, alarm)) {
        if (!(await sender.attempt(delivery, alarm))) return false;
      } else {
        isFinished = false;
        // The process ended, or lost the database, before it wrote the change. The next evaluation begins a delivery of its own,
        // perhaps of another alarm, because it has more samples.
        if (now - delivery.begunAt > ABANDONED_MS) await store.finish(delivery, now);
      }
    }
    return isFinished;
  }
}

/** Rank among events that begin in the same ms. */
const rankOf = (event: string): number => (event === 'opened' ? 0 : event === 'cleared' ? 2 : 1);

const byOrder = (a: Delivery, b: Delivery) => a.begunAt - b.begunAt || rankOf(a.event) - rankOf(b.event);

function chainsOf(deliveries: Delivery[]): Map<string, Delivery[]> {
  const chains: Map<string, Delivery[]> = new Map();
  for (const delivery of [...deliveries].sort(byOrder)) {
    const chain = `${delivery.target}.${alarmId(delivery.key)}`;
    const earlier = chains.get(chain);
    if (earlier) earlier.push(delivery);
    else chains.set(chain, [delivery]);
  }
  return chains;
}

const isWritten = ({ event }: Delivery, { cleared, withdrawn, acknowledgedAt }: Alarm) =>
  event === 'cleared' ? cleared !== null || withdrawn : event !== 'acknowledged' || acknowledgedAt !== null;

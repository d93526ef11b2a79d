import type { LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import { type DeviceBytes, groupOf, type SensorBytes } from '../../../schema/ids.ts';
import type { Listener } from '../../live/hub.ts';
import { EVERY_DEVICE, type Live } from '../../live/index.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Fleet } from '../../store/devices/index.ts';
import type { LatestRow } from '../../store/devices/latest-rows.ts';
import { latestItem } from '../items.ts';
import { FanOut } from './fan-out.ts';
import type { Judge, Reader } from './index.ts';
import { createResync, type Entry, LatestCache } from './latest-cache.ts';
import { follows, type Subscription } from './subscription.ts';

export interface ChannelDeps {
  /** pages of the stored newest values */
  storedPages: (subscription: Subscription) => AsyncIterator<LatestRow[]>;
  live: Pick<Live, 'listen' | 'onMissed'>;
  /** null: values are not judged */
  judge: () => Judge | null;
  limit: LimitFunction;
  periods: { coalesce: number; resync: number };
  clock: () => number;
  logger: Logger;
  metrics: Metrics;
}

/**
 * The shared state of all stream clients (readers) with the same subscription: the cache of their newest values, and the events that carry
 * the changes of the cache.
 */
export class Channel {
  #subscription;
  #live;
  #judge;
  #limit;
  #metrics;
  #cache;
  #fanOut;
  #resync;
  #open = true;
  #loaded = false;
  #resyncPosition = 0;
  #cleanUps: Array<() => void> = [];
  /** Rejects if the cache cannot be loaded. */
  readonly loading: Promise<void>;

  constructor(subscription: Subscription, deps: ChannelDeps) {
    const { live, limit, periods, clock, logger, metrics } = deps;
    this.#subscription = subscription;
    this.#live = live;
    const judge = deps.judge();
    this.#judge = judge;
    this.#limit = limit;
    this.#metrics = metrics;
    this.#cache = new LatestCache(judge ? (key, item) => judge.judge(key, item) : undefined);
    this.#fanOut = new FanOut({ cache: this.#cache, coalesceMs: periods.coalesce, clock });
    this.#resync = createResync({
      pages: () => deps.storedPages(subscription),
      takePage: (read) => this.#takePage(read),
      begin: () => {
        this.#resyncPosition = this.#cache.position;
        this.#cache.beginResync();
      },
      end: () => this.#cache.endResync(this.#resyncPosition),
      everyMs: periods.resync,
      logger,
    });
    this.loading = this.#load();
    this.loading.catch(() => this.end());
  }

  /**
   * Sends a reader the changes since its last event, or a snapshot if that event (`lastId`) is unknown. After that, the reader gets every
   * change.
   */
  join(reader: Reader, lastId: string) {
    this.#fanOut.join(reader, lastId);
  }

  leave(reader: Reader) {
    this.#fanOut.leave(reader);
  }

  entries(): Entry[] {
    return this.#cache.all();
  }

  /** New readers must not get a retired device any more. */
  removeDevice(device: string) {
    this.#cache.removeDevice(device);
  }

  end() {
    this.#open = false;
    this.#fanOut.end();
    this.#resync.stop();
    for (const cleanUp of this.#cleanUps.splice(0)) cleanUp();
  }

  /** Subscribes first, then reads all values. In this order no change between the two steps is lost. */
  async #load() {
    const { everything, devices, sensors } = this.#subscription;
    const followed = everything
      ? [EVERY_DEVICE]
      : [...new Set([...devices.keys(), ...[...sensors.values()].map(deviceOf)])];
    this.#cleanUps.push(this.#live.onMissed(this.#resync.refreshNow));
    if (this.#judge) this.#cleanUps.push(this.#judge.onChange(this.#judgeAgain));
    this.#cleanUps.push(await this.#live.listen(followed, this.#onItems));
    if (!this.#open) return this.end();
    await this.#resync.start();
    this.#loaded = true;
  }

  #onItems: Listener = (items, committedAt) => {
    for (const item of items) {
      if (follows(this.#subscription, item) && this.#cache.update(item, committedAt)) this.#fanOut.sendSoon();
    }
  };

  #judgeAgain = () => {
    if (this.#cache.judgeAgain()) this.#fanOut.sendSoon();
  };

  #takePage(read: () => Promise<LatestRow[] | null>): Promise<boolean> {
    return this.#limit(async () => {
      const since = this.#cache.position;
      const rows = await read();
      if (!this.#open || rows === null) return false;
      let changes = 0;
      for (const row of rows) if (this.#cache.refresh(latestItem(row), since)) changes++;
      if (!this.#loaded || this.#cache.position === since) return true;
      this.#metrics.resynced.inc(changes);
      this.#fanOut.sendSoon();
      return true;
    });
  }
}

const deviceOf = ({ device }: { device: { id: string } }) => device.id;

const PAGE = 1000;

export async function* snapshotOf(
  fleet: Fleet,
  groups: number,
  { everything, devices, sensors }: Subscription,
): AsyncGenerator<LatestRow[]> {
  if (everything) yield* wholeFleet(fleet);
  for (const { bytes } of devices.values()) {
    yield await fleet.latestOfDevice({ group: groupOf(bytes, groups), bytes });
  }
  const byGroup: Map<number, Array<{ device: DeviceBytes; sensor: SensorBytes }>> = new Map();
  for (const { device, sensor } of sensors.values()) {
    const group = groupOf(device.bytes, groups);
    const keys = byGroup.get(group) ?? [];
    byGroup.set(group, keys);
    keys.push({ device: device.bytes, sensor: sensor.bytes });
  }
  for (const [group, keys] of byGroup) yield await fleet.latestOfSensors(group, keys);
}

async function* wholeFleet(fleet: Fleet) {
  let after = null;
  do {
    const page: Awaited<ReturnType<typeof fleet.latestPage>> = await fleet.latestPage({
      filter: {},
      after,
      limit: PAGE,
    });
    yield page.rows;
    after = page.next;
  } while (after);
}

import { randomBytes } from 'node:crypto';
import type { LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import { groupOf } from '../../../schema/ids.ts';
import type { Listener } from '../../live/hub.ts';
import { EVERY_DEVICE, type Live } from '../../live/index.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Fleet } from '../../store/devices/index.ts';
import type { LatestRow } from '../../store/devices/latest-rows.ts';
import type { Store } from '../../store/index.ts';
import type { RouteDeps } from '../api.ts';
import { latestItem } from '../items.ts';
import { createDelta, createSnapshot, type Frames, readEventId } from './frames.ts';
import type { Reader } from './index.ts';
import { createResync, type Entry, LatestCache } from './latest-cache.ts';
import { follows, type Subscription } from './subscription.ts';

export interface ChannelDeps {
  store: Pick<Store, 'fleet'>;
  live: Live;
  /** judges how unusual each value is */
  baselines: Pick<RouteDeps['baselines'], 'judge' | 'onChange'>;
  groups: number;
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
export function createChannel(subscription: Subscription, deps: ChannelDeps) {
  const { store, live, baselines, groups, limit, periods, clock, logger, metrics } = deps;
  const id = randomBytes(8).toString('hex');
  const cache = new LatestCache((key, item) => baselines.judge(key, item));
  const readers: Set<Reader> = new Set();
  let timer: NodeJS.Timeout | undefined;
  let sentAt = Number.NEGATIVE_INFINITY;
  /** newest snapshot, shared by readers that join at the same time */
  let snapshot: Frames | undefined;
  let open = true;
  let loaded = false;
  let resyncPosition = 0;
  const cleanUps: Array<() => void> = [];

  /** The first change of a quiet channel is sent at once. Later changes wait until `periods.coalesce` is over. */
  function sendSoon() {
    if (!open) return;
    timer ??= setTimeout(sendAll, Math.max(0, sentAt + periods.coalesce - performance.now()));
  }

  function sendAll() {
    timer = undefined;
    sentAt = performance.now();
    const { position } = cache;
    /** by the position of readers; nearly all readers have the same position */
    const deltas: Map<number, Frames> = new Map();
    for (const reader of readers) {
      if (reader.busy || reader.position === position) continue;
      const delta =
        deltas.get(reader.position) ??
        createDelta(cache.since(reader.position), { channel: id, position }, clock);
      deltas.set(reader.position, delta);
      void send(reader, delta);
    }
    cache.markSent();
  }

  async function send(reader: Reader, frames: Frames) {
    await reader.send(frames);
    if (reader.isOpen() && reader.position < cache.position) sendSoon();
  }

  const onItems: Listener = (items, committedAt) => {
    for (const item of items) if (follows(subscription, item) && cache.update(item, committedAt)) sendSoon();
  };

  function judgeAgain() {
    if (cache.judgeAgain()) sendSoon();
  }

  const resync = createResync({
    pages: () => snapshotOf(store.fleet, groups, subscription),
    takePage: (read) =>
      limit(async () => {
        const since = cache.position;
        const rows = await read();
        if (!open || rows === null) return false;
        let changes = 0;
        for (const row of rows) if (cache.refresh(latestItem(row), since)) changes++;
        if (!loaded || cache.position === since) return true;
        metrics.resynced.inc(changes);
        sendSoon();
        return true;
      }),
    begin() {
      resyncPosition = cache.position;
      cache.beginResync();
    },
    end: () => cache.endResync(resyncPosition),
    everyMs: periods.resync,
    logger,
  });

  /** Subscribes first, then reads all values. In this order no change between the two steps is lost. */
  async function load() {
    const devices = subscription.everything
      ? [EVERY_DEVICE]
      : [...new Set([...subscription.devices.keys(), ...[...subscription.sensors.values()].map(deviceOf)])];
    cleanUps.push(baselines.onChange(judgeAgain), live.onMissed(resync.refreshNow));
    cleanUps.push(await live.listen(devices, onItems));
    if (!open) return end();
    await resync.start();
    loaded = true;
  }

  function end() {
    open = false;
    clearTimeout(timer);
    resync.stop();
    for (const cleanUp of cleanUps.splice(0)) cleanUp();
  }

  const loading = load();
  loading.catch(end);

  function currentSnapshot() {
    const { position } = cache;
    if (snapshot?.position !== position) {
      snapshot = createSnapshot(cache.all(), { channel: id, position });
    }
    return snapshot;
  }

  return {
    /** Rejects if the cache cannot be loaded. */
    loading,

    /**
     * Sends a reader the changes since its last event, or a snapshot if that event (`lastId`) is unknown. After that, the reader gets every
     * change.
     */
    join(reader: Reader, lastId: string) {
      const last = readEventId(lastId);
      readers.add(reader);
      if (last?.channel === id && last.position <= cache.position) {
        reader.position = last.position;
        if (last.position < cache.position) sendSoon();
      } else void send(reader, currentSnapshot());
    },

    entries: (): Entry[] => cache.all(),

    /** New readers must not get a retired device any more. */
    removeDevice: (device: string) => cache.removeDevice(device),

    leave: (reader: Reader) => readers.delete(reader),

    end,
  };
}

export type Channel = ReturnType<typeof createChannel>;

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
  const byGroup: Map<number, Array<{ device: Buffer; sensor: Buffer }>> = new Map();
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

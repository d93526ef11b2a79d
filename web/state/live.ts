import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Stream, StreamListeners, StreamStatus, Target } from '../api/stream/index.ts';
import { FIGURES_ALONE } from '../api/stream/index.ts';
import type { Delta, LatestItem, ProcessHealth, RefusedDevice, Stats, StatsThen } from '../api/types.ts';
import type { OpenAlarms } from './alarms.ts';
import type { FleetFilter, FleetSensor } from './fleet.ts';
import { createFleet } from './fleet.ts';
import { createChangeQueue, createInputQueue, createRecentValues, createScreenTimes } from './frames.ts';
import { useServices } from './hooks.ts';

/** Number of pipeline statistics that are kept for the sparklines, one per second. */
const STATS_KEPT = 300;

/** The health of the processes from the last event. */
interface Health {
  /** empty before the first event */
  processes: ProcessHealth[];
  /** time of the last event in epoch ms by the clock of the machine; before the first event, time when the page was opened */
  receivedAt: number;
  /** time of the last event with an ingest process, in epoch ms by the clock of the machine */
  ingestAt: number;
}

/** @returns the key of a sensor, from device id and sensor id */
export const keyOf = ({ device_id, sensor_id }: { device_id: string; sensor_id: string }): string =>
  `${device_id}/${sensor_id}`;

/**
 * Creates the store of the live data of the server: newest values by sensor, pipeline statistics, state of the connection.
 * Listeners of a sensor are notified at most once per animation frame. While the page follows the whole fleet, `fleet` holds
 * all sensors with their newest values. Earlier values, for sparklines, are then kept only for the sensors that were passed to
 * `seed`.
 */
export function createLive({
  openStream,
  requestFrame,
  isHidden = () => false,
}: {
  openStream: (listeners: Omit<StreamListeners, 'onRefused'>) => Stream;
  requestFrame: (run: () => void) => void;
  /** returns whether the page is hidden, so that no frames are drawn */
  isHidden?: () => boolean;
}) {
  const status = signal<StreamStatus>('connecting');
  const stats = signal<Stats[]>([]);
  const openedAt = Date.now();
  const health = signal<Health>({ processes: [], receivedAt: openedAt, ingestAt: openedAt });
  const alarmChanges = signal(0);
  const openAlarms = signal<OpenAlarms | null>(null);
  const refusedDevices = signal<RefusedDevice[]>([]);
  const sensors = createRecentValues();
  const changed = createChangeQueue(requestFrame);
  const fleet = createFleet();
  const screen = createScreenTimes({ requestFrame, afterPaint: (run) => setTimeout(run) });
  const watchers: Set<(changed: readonly FleetSensor[]) => void> = new Set();
  let whole = false;
  let isFollowed = false;
  let isRequested = false;
  let resumedAt = openedAt;

  function notifyWatchers() {
    isRequested = false;
    const drained = fleet.drain();
    for (const watcher of [...watchers]) watcher(drained);
  }

  function notifySoon() {
    if (isRequested) return;
    isRequested = true;
    requestFrame(notifyWatchers);
  }

  const input = createInputQueue({
    take(text, arrivedAt, isLast) {
      const { items, committed_at, sent_at }: Partial<Delta> & { items: LatestItem[] } = JSON.parse(text);
      const isOfSnapshot = sent_at === undefined;
      if (committed_at && sent_at && !isHidden()) {
        screen.arrived(Date.parse(sent_at) - Date.parse(committed_at), arrivedAt);
      }
      for (const item of items) {
        const key = keyOf(item);
        if (whole && fleet.take(key, item, isOfSnapshot)) notifySoon();
        if (whole && !sensors.get(key)) continue;
        if (sensors.take(item)) changed.notify(key);
      }
      if (whole && isLast) fleet.noteRead();
    },
    requestFrame,
    isHidden,
  });

  const stream = openStream({
    // A snapshot of a device may still wait in the queue when the page already follows the whole fleet. So `isLast` counts only
    // if the page already followed the whole fleet when the text arrived.
    onItems: (text, isLast) => input.push(text, isLast && whole),
    onStats({ health: processes, ...next }) {
      const receivedAt = Date.now();
      screen.sum(receivedAt);
      const takes = processes.some(({ role }) => role !== 'http');
      health.value = { processes, receivedAt, ingestAt: takes ? receivedAt : health.peek().ingestAt };
      stats.value = [...stats.peek().slice(1 - STATS_KEPT), next];
    },
    onStatus(next) {
      if (status.peek() === 'paused' && next !== 'paused') resumedAt = Date.now();
      status.value = next;
    },
    onAlarm() {
      alarmChanges.value++;
    },
  });

  /** @param target target that replaces the earlier subscription; without devices and sensors, the whole fleet */
  function follow(target: Target) {
    whole = !target.devices && !target.sensors;
    isFollowed = true;
    stream.follow(target);
  }

  return {
    status,
    stats,
    /** Number of alarm changes since the page was opened. */
    alarmChanges,
    /** The open alarms; null: unknown yet. The header keeps the alarms up to date. */
    openAlarms,
    /** Devices with refused messages in the last minutes. The header keeps them up to date. */
    refusedDevices,
    health,
    screenTimes: screen.figures,
    /** Notes that the page was hidden just now. */
    noteHidden: screen.noteHidden,
    fleet,
    follow,
    /** Subscribes to the pipeline statistics, unless a view has subscribed already. */
    begin() {
      if (!isFollowed) follow(FIGURES_ALONE);
    },
    /** Subscribes only to the pipeline statistics, for a large fleet whose outliers the server ranks. */
    followFigures() {
      whole = false;
      fleet.setFilter({});
      stream.follow(FIGURES_ALONE);
    },
    /** Limits the kept sensors by a filter, for a fleet that is too large. */
    setFilter(wanted: FleetFilter) {
      fleet.setFilter(wanted);
      stream.again();
    },
    /** @returns time in epoch ms, by the clock of the machine, when the page was opened or last became visible */
    resumedAt: () => resumedAt,
    /** Removes a device that was retired. */
    forget(id: string) {
      fleet.forget(id);
      stream.again();
    },
    /** Requests a new snapshot, because the event stream does not report retired devices. */
    readAgain() {
      fleet.noteAsked();
      stream.again();
    },
    stop() {
      isFollowed = false;
      stream.stop();
    },
    /** Adds the items of a page, which count until the event stream sends newer values. */
    seed: (items: LatestItem[]) => items.forEach(sensors.take),
    /**
     * Adds earlier values of a sensor.
     *
     * @param before values from before the page was opened, oldest first
     */
    seedBefore(key: string, before: { ts: number; value: number }[]) {
      if (sensors.takeBefore(key, before)) changed.notify(key);
    },
    /** @returns number of decimals for all values of the type */
    decimals: (item: LatestItem): number => sensors.decimals(item),
    sensor: (key: string) => sensors.get(key),
    /** Calls the listener when the sensor with the key changes. The returned function ends the subscription. */
    subscribe: changed.subscribe,
    /**
     * @param watcher receives all changed sensors of the fleet, once per animation frame
     * @returns a function that ends the subscription
     */
    watch(watcher: (changed: readonly FleetSensor[]) => void): () => void {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    /** Notifies the watchers of changes that did not come from the event stream. */
    notifyWatchers: notifySoon,
  };
}

export type Live = ReturnType<typeof createLive>;

/** Pipeline statistics at one moment. `at`: time in epoch ms by the clock of the page */
export type Moment = Stats & { at: number };

/** The time span of the charts, in ms. */
export const SPAN_MS = 300_000;

/** Maximum distance in ms of two moments that count as one moment, because statistics arrive once a second. */
const SAME_MS = 500;

/**
 * @param items statistics, oldest first; the newest is placed at `now`, because the clock of the server may differ
 * @param now current time in epoch ms
 */
export function toMoments(items: StatsThen[], now: number): Moment[] {
  const newest = Date.parse(items.at(-1)?.ts ?? '');
  return items.map(({ ts, ...stats }) => ({ ...stats, at: now - (newest - Date.parse(ts)) }));
}

/**
 * @param then moments that replace moments of `first` with an equal time
 * @returns moments sorted by time, limited to the time span of the charts
 */
export function joinMoments(first: Moment[], then: Moment[]): Moment[] {
  const begin = then[0]?.at ?? Number.POSITIVE_INFINITY;
  const all = [...first.filter(({ at }) => at < begin - SAME_MS), ...then];
  const oldest = (all.at(-1)?.at ?? 0) - SPAN_MS;
  return all.filter(({ at }) => at >= oldest);
}

/**
 * @returns statistics of the last minutes, oldest first: from the API before the page was opened, then from the
 *   stream
 */
export function useRecentStats(): Moment[] {
  const { client, clock, live } = useServices();
  const [moments, setMoments] = useState<Moment[]>([]);
  const status = live.status.value;

  useEffect(() => {
    const before = live.stats.peek();
    return live.stats.subscribe((all) => {
      const stats = all.at(-1);
      if (stats && all !== before) setMoments((known) => joinMoments(known, [{ ...stats, at: clock.now() }]));
    });
  }, [clock, live]);

  // After a lost connection, or while nobody saw the page, the statistics from the API fill the gap, so they are read again.
  const isLost = status === 'reconnecting' || status === 'paused';
  useEffect(() => {
    if (isLost) return undefined;
    const abort = new AbortController();
    client.recentStats(abort.signal).then(
      ({ items }) => setMoments((known) => joinMoments(known, toMoments(items, clock.now()))),
      () => {},
    );
    return () => abort.abort();
  }, [client, clock, isLost]);
  return moments;
}

/** Keeps the event stream open for views without sensors, so that pipeline statistics and connection state are known. */
export function useFiguresAlone() {
  useFollowed(NO_SENSORS);
}

type SensorIds = { device_id: string; sensor_id: string };

const NO_SENSORS: readonly SensorIds[] = [];

/** Follows the newest values of some sensors. Without sensors, the event stream stays open for the state of the connection. */
export function useFollowed(sensors: readonly SensorIds[]) {
  const { live } = useServices();
  const keys = [...new Set(sensors.map(keyOf))].sort().join(' ');
  useEffect(() => {
    if (keys === '') return live.follow(FIGURES_ALONE);
    return live.follow({ sensors: keys.split(' ').map((key) => key.split('/') as [string, string]) });
  }, [live, keys]);
}

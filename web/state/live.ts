import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { StreamStatus, Target } from '../api/stream.ts';
import { createStream } from '../api/stream.ts';
import type { Delta, LatestItem, ProcessHealth, Stats, StatsThen } from '../api/types.ts';
import type { OpenAlarms } from './alarms.ts';
import type { FleetFilter, FleetSensor } from './fleet.ts';
import { createFleet } from './fleet.ts';
import { createChangeQueue, createInputQueue, createRecentValues, createScreenTimes } from './frames.ts';
import { useServices } from './hooks.ts';

/** Seconds of pipeline figures kept for the sparklines on top. */
const STATS_KEPT = 300;

/** The nil UUID (RFC 9562, section 5.9), which no name maps to. Its follower receives the figures of the pipeline only. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** The health of the processes by the last event. */
interface Health {
  /** none before the first event */
  processes: ProcessHealth[];
  /** epoch ms by the machine's own clock; before the first event, when the page was opened */
  receivedAt: number;
  /** the same of the last event with a process that takes measurements */
  ingestAt: number;
}

/** @returns a sensor belongs to its device: both make the key */
export const keyOf = ({ device_id, sensor_id }: { device_id: string; sensor_id: string }): string =>
  `${device_id}/${sensor_id}`;

/**
 * The live data of the server: newest values by sensor, figures of the pipeline, state of the connection.
 * Values are published once a frame, to the listeners of their sensor only. While the whole fleet is followed, all of it is in `fleet`, and of single
 * sensors only those that were seeded keep what came before.
 */
export function createLive({
  EventSource,
  requestFrame,
  onRefused,
  isHidden = () => false,
}: {
  EventSource: typeof globalThis.EventSource;
  requestFrame: (run: () => void) => void;
  /** the connection was refused; the session may have ended */
  onRefused: () => void;
  /** whether frames are drawn at all */
  isHidden?: () => boolean;
}) {
  const status = signal<StreamStatus>('connecting');
  const stats = signal<Stats[]>([]);
  const openedAt = Date.now();
  const health = signal<Health>({ processes: [], receivedAt: openedAt, ingestAt: openedAt });
  const alarmChanges = signal(0);
  const openAlarms = signal<OpenAlarms | null>(null);
  const sensors = createRecentValues();
  const changed = createChangeQueue(requestFrame);
  const fleet = createFleet();
  const screen = createScreenTimes({ requestFrame, afterPaint: (run) => setTimeout(run) });
  const watchers: Set<(changed: readonly FleetSensor[]) => void> = new Set();
  let whole = false;
  let isFollowed = false;
  let isRequested = false;

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

  const stream = createStream({
    EventSource,
    // The snapshot of a device may wait here while the whole fleet is followed already.
    onItems: (text, isLast) => input.push(text, isLast && whole),
    onStats({ health: processes, ...next }) {
      const receivedAt = Date.now();
      screen.sum(receivedAt);
      const takes = processes.some(({ role }) => role !== 'http');
      health.value = { processes, receivedAt, ingestAt: takes ? receivedAt : health.peek().ingestAt };
      stats.value = [...stats.peek().slice(1 - STATS_KEPT), next];
    },
    onStatus(next) {
      status.value = next;
    },
    onAlarm() {
      alarmChanges.value++;
    },
    onRefused,
  });

  /** @param target replaces what was followed; neither devices nor sensors: the whole fleet */
  function follow(target: Target) {
    whole = !target.devices && !target.sensors;
    isFollowed = true;
    stream.follow(target);
  }

  return {
    status,
    stats,
    /** Number of changes of alarms since the page was opened. */
    alarmChanges,
    /** The open alarms; null: not known yet. The header keeps them up to date. */
    openAlarms,
    health,
    /** How long values took from their commit to the screen. */
    screenTimes: screen.figures,
    /** Notes that the page was hidden just now. */
    noteHidden: screen.noteHidden,
    fleet,
    follow,
    /** Follows the figures of the pipeline, unless a view follows something. */
    begin() {
      if (!isFollowed) follow({ devices: [NOBODY] });
    },
    /** For a fleet whose values the server ranks: only the figures of the pipeline. */
    followFigures() {
      whole = false;
      fleet.setFilter({});
      stream.follow({ devices: [NOBODY] });
    },
    /** For a fleet that is too large: keeps these sensors only. */
    setFilter(wanted: FleetFilter) {
      fleet.setFilter(wanted);
      stream.again();
    },
    /** Begins with a snapshot again: the stream does not report what was retired. */
    readAgain() {
      fleet.noteAsked();
      stream.again();
    },
    stop() {
      isFollowed = false;
      stream.stop();
    },
    /** @param items of a page: known before the stream sends newer ones */
    seed: (items: LatestItem[]) => items.forEach(sensors.take),
    /** @param before what a sensor measured before this page was opened, oldest first */
    seedBefore(key: string, before: { ts: number; value: number }[]) {
      if (sensors.takeBefore(key, before)) changed.notify(key);
    },
    /** @returns decimals that suit all of its type */
    decimals: (item: LatestItem): number => sensors.decimals(item),
    sensor: (key: string) => sensors.get(key),
    /** Calls the listener when the sensor of the key changes. The function that it returns ends it. */
    subscribe: changed.subscribe,
    /**
     * @param watcher receives all changed sensors of the fleet, once a frame
     * @returns ends it
     */
    watch(watcher: (changed: readonly FleetSensor[]) => void): () => void {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    /** Notifies the watchers of changes that did not come from the stream. */
    notifyWatchers: notifySoon,
  };
}

export type Live = ReturnType<typeof createLive>;

/** `at`: epoch ms by the clock that the whole page shows */
export type Moment = Stats & { at: number };

/** The time span of the charts, in ms. */
export const SPAN_MS = 300_000;

/** Figures come once a second. Two moments this close are the same one. */
const SAME_MS = 500;

/**
 * @param items the newest counts as now, whatever the server's clock
 * @param now epoch ms
 */
export function toMoments(items: StatsThen[], now: number): Moment[] {
  const newest = Date.parse(items.at(-1)?.ts ?? '');
  return items.map(({ ts, ...stats }) => ({ ...stats, at: now - (newest - Date.parse(ts)) }));
}

/**
 * @param then win where both know of a moment
 * @returns in order of time, none older than the charts reach
 */
export function joinMoments(first: Moment[], then: Moment[]): Moment[] {
  const begin = then[0]?.at ?? Number.POSITIVE_INFINITY;
  const all = [...first.filter(({ at }) => at < begin - SAME_MS), ...then];
  const oldest = (all.at(-1)?.at ?? 0) - SPAN_MS;
  return all.filter(({ at }) => at >= oldest);
}

/** @returns the last minutes, the oldest first: those before the page was opened, then those of the stream */
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

  // A lost connection leaves a gap, which the server fills.
  const isLost = status === 'reconnecting';
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

/** For views that show no sensor: the connection stays, and with it the figures and whether it holds. */
export function useFiguresAlone() {
  const { live } = useServices();
  useEffect(() => live.follow({ devices: [NOBODY] }), [live]);
}

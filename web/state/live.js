import { signal } from '@preact/signals';
import { createStream } from '../api/stream.js';
import { createFleet } from './fleet.js';
import { createChangeQueue, createInputQueue, createRecentValues, createScreenTimes } from './frames.js';

/** @import { Alarm, Delta, LatestItem, ProcessHealth, Stats } from '../api/types.js' */
/** @import { StreamStatus, Target } from '../api/stream.js' */
/** @import { FleetSensor, Narrowing } from './fleet.js' */

/** Seconds of pipeline figures kept for the sparklines on top. */
const STATS_KEPT = 300;

/** The nil UUID (RFC 9562, section 5.9), which no name maps to. Its follower receives the figures of the pipeline only. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * The health of the processes by the last event.
 *
 * @typedef {object} Health
 * @property {ProcessHealth[]} processes none before the first event
 * @property {number} receivedAt epoch ms by the machine's own clock; before the first event, when the page was opened
 * @property {number} ingestAt the same of the last event with a process that takes measurements
 */

/** @param {{ device_id: string, sensor_id: string }} item @returns {string} a sensor belongs to its device: both make the key */
export const keyOf = ({ device_id, sensor_id }) => `${device_id}/${sensor_id}`;

/**
 * The live data of the server: newest values by sensor, figures of the pipeline, state of the connection.
 * Values are published once a frame, to the listeners of their sensor only. While the whole fleet is followed, all of it is in `fleet`, and of single
 * sensors only those that were seeded keep what came before.
 *
 * @param {object} deps
 * @param {typeof globalThis.EventSource} deps.EventSource
 * @param {(run: () => void) => void} deps.requestFrame
 * @param {() => void} deps.onRefused the connection was refused; the session may have ended
 * @param {() => boolean} [deps.isHidden] whether frames are drawn at all
 */
export function createLive({ EventSource, requestFrame, onRefused, isHidden = () => false }) {
  const status = signal(/** @type {StreamStatus} */ ('connecting'));
  const stats = signal(/** @type {Stats[]} */ ([]));
  const openedAt = Date.now();
  const health = signal(/** @type {Health} */ ({ processes: [], receivedAt: openedAt, ingestAt: openedAt }));
  const alarmChanges = signal(0);
  const openAlarms = signal(/** @type {readonly Alarm[]} */ ([]));
  const sensors = createRecentValues();
  const changed = createChangeQueue(requestFrame);
  const fleet = createFleet();
  const screen = createScreenTimes({ requestFrame, afterPaint: (run) => setTimeout(run) });
  /** @type {Set<(changed: readonly FleetSensor[]) => void>} */
  const watchers = new Set();
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
      /** @type {Partial<Delta> & { items: LatestItem[] }} */
      const { items, committed_at, sent_at } = JSON.parse(text);
      if (committed_at && sent_at && !isHidden()) {
        screen.arrived(Date.parse(sent_at) - Date.parse(committed_at), arrivedAt);
      }
      for (const item of items) {
        const key = keyOf(item);
        if (whole && fleet.take(key, item)) notifySoon();
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
    onItems: input.push,
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

  /** @param {Target} target replaces what was followed; neither devices nor sensors: the whole fleet */
  function follow(target) {
    whole = !target.devices && !target.sensors;
    isFollowed = true;
    stream.follow(target);
  }

  return {
    status,
    stats,
    /** Number of changes of alarms since the page was opened. */
    alarmChanges,
    /** The open alarms. The header keeps them up to date. */
    openAlarms,
    health,
    /** How long values took from their commit to the screen. */
    screenTimes: screen.figures,
    fleet,
    follow,
    /** Follows the figures of the pipeline, unless a view follows something. */
    begin() {
      if (!isFollowed) follow({ devices: [NOBODY] });
    },
    /** For a fleet whose values the server ranks: only the figures of the pipeline. */
    followFigures() {
      whole = false;
      fleet.narrow({});
      stream.follow({ devices: [NOBODY] });
    },
    /** @returns {boolean} whether the whole fleet is followed, and not a part of it */
    followsAll: () => whole,
    /** For a fleet that is too large: keeps these sensors only. @param {Narrowing} wanted */
    narrow(wanted) {
      fleet.narrow(wanted);
      stream.again();
    },
    stop() {
      isFollowed = false;
      stream.stop();
    },
    /** @param {LatestItem[]} items of a page: known before the stream sends newer ones */
    seed: (items) => items.forEach(sensors.take),
    /** @param {string} key @param {{ ts: number, value: number }[]} before what a sensor measured before this page was opened, oldest first */
    seedBefore(key, before) {
      if (sensors.takeBefore(key, before)) changed.notify(key);
    },
    /** @param {LatestItem} item @returns {number} decimals that suit all of its type */
    decimals: (item) => sensors.decimals(item),
    /** @param {string} key */
    sensor: (key) => sensors.get(key),
    /** @param {string} key @param {() => void} listener @returns {() => void} ends it */
    subscribe: changed.subscribe,
    /**
     * @param {(changed: readonly FleetSensor[]) => void} watcher receives all changed sensors of the fleet, once a frame
     * @returns {() => void} ends it
     */
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    /** Notifies the watchers of changes that did not come from the stream. */
    notifyWatchers: notifySoon,
  };
}

/** @typedef {ReturnType<typeof createLive>} Live */

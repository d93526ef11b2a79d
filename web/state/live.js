import { createStream } from '../api/stream.js';
import { createFleet } from './fleet.js';
import { createChangeQueue, createInputQueue, createScreenTimes } from './frames.js';
import { createObservable } from './observable.js';
import { createRecentValues } from './recent-values.js';

/** @import { StreamStatus, Target } from '../api/stream.js' */
/** @import { Delta, LatestItem, Stats } from '../api/types.js' */
/** @import { FleetSensor } from './device-index.js' */
/** @import { Narrowing } from './fleet.js' */

/** Seconds of pipeline figures kept for the sparklines on top. */
const STATS_KEPT = 300;

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
  const status = createObservable(/** @type {StreamStatus} */ ('connecting'));
  const stats = createObservable(/** @type {Stats[]} */ ([]));
  const sensors = createRecentValues();
  const changed = createChangeQueue(requestFrame);
  const fleet = createFleet();
  const screen = createScreenTimes({ requestFrame, afterPaint: (run) => setTimeout(run) });
  /** @type {Set<(changed: readonly FleetSensor[]) => void>} */
  const watchers = new Set();
  let whole = false;
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
    take(text, arrivedAt) {
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
    },
    requestFrame,
    isHidden,
  });

  const stream = createStream({
    EventSource,
    onItems: input.push,
    onStats(next) {
      screen.sum(Date.now());
      stats.set([...stats.get().slice(1 - STATS_KEPT), next]);
    },
    onStatus: status.set,
    onRefused,
  });

  return {
    status,
    stats,
    /** How long values took from their commit to the screen. */
    screenTimes: screen.figures,
    fleet,
    /** @param {Target} target replaces what was followed; neither devices nor sensors: the whole fleet */
    follow(target) {
      whole = !target.devices && !target.sensors;
      stream.follow(target);
    },
    /** For a fleet that is too large: keeps these sensors only. @param {Narrowing} wanted */
    narrow(wanted) {
      fleet.narrow(wanted);
      stream.again();
    },
    stop: stream.stop,
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

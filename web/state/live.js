import { createStream } from '../api/stream.js';
import { createFrameQueue } from './frame-queue.js';
import { createObservable } from './observable.js';
import { createRecentValues } from './recent-values.js';

/**
 * @typedef {import('../api/types.js').LatestItem} LatestItem
 * @typedef {import('../api/types.js').Stats} Stats
 */

/** Seconds of pipeline figures kept for the sparklines on top. */
const STATS_KEPT = 300;

/** @param {{ device_id: string, sensor_id: string }} item @returns {string} a sensor belongs to its device: both make the key */
export const keyOf = ({ device_id, sensor_id }) => `${device_id}/${sensor_id}`;

/**
 * What the server tells by itself: newest values by sensor, figures of the pipeline, state of the connection.
 * Values are taken in at once and told once a frame, to the sensors concerned only.
 *
 * @param {{ EventSource: typeof globalThis.EventSource, requestFrame: (run: () => void) => void }} parts
 */
export function createLive({ EventSource, requestFrame }) {
  const status = createObservable(/** @type {import('../api/stream.js').StreamStatus} */ ('connecting'));
  const stats = createObservable(/** @type {Stats[]} */ ([]));
  const sensors = createRecentValues();
  const changed = createFrameQueue(requestFrame);

  const stream = createStream({
    EventSource,
    onItems(items) {
      for (const item of items) {
        if (sensors.take(item)) changed.tell(keyOf(item));
      }
    },
    onStats: (next) => stats.set([...stats.get().slice(1 - STATS_KEPT), next]),
    onStatus: status.set,
  });

  return {
    status,
    stats,
    follow: stream.follow,
    isFollowing: stream.isFollowing,
    stop: stream.stop,
    /** @param {LatestItem[]} items of a page: what is known before the stream says more */
    seed: (items) => items.forEach(sensors.take),
    /** @param {string} key */
    sensor: (key) => sensors.get(key),
    /** @param {string} key @param {() => void} listener @returns {() => void} ends it */
    subscribe: changed.subscribe,
    /** @param {(keys: string[]) => void} listener told of all changes of a frame @returns {() => void} ends it */
    subscribeAll: changed.subscribeAll,
  };
}

/** @typedef {ReturnType<typeof createLive>} Live */

import { formatTime } from '../../../common/times.js';

/** @import { Entry } from './latest-cache.js' */

/**
 * Limit of items in one event; further items go to the next event. A browser handles these items within 2 ms, so they fit
 * between two frames of the dashboard. Measured p95 of script time in a frame: 7.4 ms with 1000 items, 4.6 ms with 250.
 */
const MAX_ITEMS = 250;

/**
 * The content of an event id. A reader that got the event with this id has all changes up to this position.
 *
 * @typedef {{ channel: string, position: number }} Until
 */

/**
 * Events that belong together, as bytes that any number of readers share. Only the last event has an id. If a reader gets only
 * some of the events, it continues from the previous id.
 *
 * @typedef {{ position: number, count: number, frame: (index: number) => Buffer }} Frames
 */

/** @param {Entry[]} entries @param {Until} until */
export const createSnapshot = (entries, until) =>
  createFrames('snapshot', entries, until, (shown) => ({ items: itemsOf(shown) }));

/**
 * Creates the events of changes. Each event has the time when it was made, and the commit time of its oldest value. Both times
 * are from one clock, so a reader can compute the delay of the values.
 *
 * @param {Entry[]} entries
 * @param {Until} until
 * @param {() => number} clock epoch ms
 * @param {() => number} [elapsed] ms of the clock that `committedAt` uses
 */
export const createDelta = (entries, until, clock, elapsed = () => performance.now()) =>
  createFrames('delta', entries, until, (shown) => {
    const now = clock();
    const oldest = shown.reduce(
      (least, { committedAt }) => Math.min(least, committedAt),
      Number.POSITIVE_INFINITY,
    );
    const age = elapsed() - oldest;
    return {
      items: itemsOf(shown),
      committed_at: Number.isFinite(age) ? formatTime(now - age) : null,
      sent_at: formatTime(now),
    };
  });

/** @param {Entry[]} entries */
const itemsOf = (entries) => entries.map(({ item }) => item);

/**
 * Creates events, each one when the first reader needs it. If an entry has changed again by then, a later event contains it.
 *
 * @param {'snapshot' | 'delta'} event
 * @param {Entry[]} entries
 * @param {Until} until
 * @param {(shown: Entry[]) => object} dataOf
 * @returns {Frames}
 */
function createFrames(event, entries, { channel, position }, dataOf) {
  const count = Math.max(1, Math.ceil(entries.length / MAX_ITEMS));
  /** @type {Buffer[]} */
  const frames = [];

  /** @param {number} index */
  function make(index) {
    const shown = entries
      .slice(index * MAX_ITEMS, (index + 1) * MAX_ITEMS)
      .filter((entry) => entry.position <= position);
    const id = index === count - 1 ? `id: ${channel}-${position}\n` : '';
    return Buffer.from(`${id}event: ${event}\ndata: ${JSON.stringify(dataOf(shown))}\n\n`);
  }

  return {
    position,
    count,
    frame(index) {
      frames[index] ??= make(index);
      return frames[index];
    },
  };
}

/** @param {string} id `Last-Event-ID` of a reader @returns {{ channel: string, position: number } | null} */
export function readEventId(id) {
  const [, channel, position] = /^([0-9a-f]{16})-(\d{1,16})$/.exec(id) ?? [];
  return channel && position ? { channel, position: Number(position) } : null;
}

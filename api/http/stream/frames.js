import { formatTime } from '../../../common/times.js';

/** @import { Entry } from './latest-cache.js' */

/** Items of one event: a browser takes them in within 2 ms, so that they fit between two frames of a wall. Of 1000, its frames had a p95 of 7.4 ms of scripts, of 250 one of 4.6. */
const MOST_ITEMS = 250;

/** What an id says: told is all up to here. @typedef {{ channel: string, position: number }} Until */

/**
 * Events that say one thing together, as bytes that any number of readers share. The last of them alone has an id: who
 * has not got that far goes on from the id before.
 *
 * @typedef {{ position: number, count: number, frame: (at: number) => Buffer }} Frames
 */

/** @param {Entry[]} entries @param {Until} until */
export const createSnapshot = (entries, until) =>
  createFrames('snapshot', entries, until, (shown) => ({ items: itemsOf(shown) }));

/**
 * Each event says when it was made, and when the oldest of its values was committed, so that a reader can tell how long
 * that took to reach him: two times of one clock.
 *
 * @param {Entry[]} entries
 * @param {Until} until
 * @param {() => number} clock epoch ms
 * @param {() => number} [elapsed] ms, of the clock of `committedAt`
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
 * Each is made when the first reader asks for it. What has changed again by then is left to the events after these.
 *
 * @param {'snapshot' | 'delta'} event
 * @param {Entry[]} entries
 * @param {Until} until
 * @param {(shown: Entry[]) => object} dataOf
 * @returns {Frames}
 */
function createFrames(event, entries, { channel, position }, dataOf) {
  const count = Math.max(1, Math.ceil(entries.length / MOST_ITEMS));
  /** @type {Buffer[]} */
  const made = [];

  /** @param {number} at */
  function make(at) {
    const shown = entries
      .slice(at * MOST_ITEMS, (at + 1) * MOST_ITEMS)
      .filter((entry) => entry.position <= position);
    const id = at === count - 1 ? `id: ${channel}-${position}\n` : '';
    return Buffer.from(`${id}event: ${event}\ndata: ${JSON.stringify(dataOf(shown))}\n\n`);
  }

  return {
    position,
    count,
    frame(at) {
      made[at] ??= make(at);
      return made[at];
    },
  };
}

/** @param {string} id of an event, as a reader gives it back @returns {{ channel: string, position: number } | null} */
export function readEventId(id) {
  const [, channel, position] = /^([0-9a-f]{16})-(\d{1,16})$/.exec(id) ?? [];
  return channel && position ? { channel, position: Number(position) } : null;
}

/** Items of one event. */
const MOST_ITEMS = 1000;

/**
 * Events that say one thing together, as bytes that any number of readers share. The last of them alone has an id: who
 * has not got that far goes on from the id before.
 *
 * @typedef {{ position: number, count: number, frame: (at: number) => Buffer }} Frames
 */

/**
 * Each is made when the first reader asks for it. What has changed again by then is left to the events after these.
 *
 * @param {'snapshot' | 'delta'} event
 * @param {import('./known.js').Entry[]} entries
 * @param {{ channel: string, position: number }} until what an id says: told is all up to here
 * @returns {Frames}
 */
export function createFrames(event, entries, { channel, position }) {
  const count = Math.max(1, Math.ceil(entries.length / MOST_ITEMS));
  /** @type {Buffer[]} */
  const made = [];

  /** @param {number} at */
  function make(at) {
    const items = entries
      .slice(at * MOST_ITEMS, (at + 1) * MOST_ITEMS)
      .filter((entry) => entry.position <= position)
      .map(({ item }) => item);
    const id = at === count - 1 ? `id: ${channel}-${position}\n` : '';
    return Buffer.from(`${id}event: ${event}\ndata: ${JSON.stringify({ items })}\n\n`);
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

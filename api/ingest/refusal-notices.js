/** Between two lines of the log about refusals, in ms: one device that sends rubbish all day must not fill it. */
const EVERY_MS = 10_000;

/**
 * Tells whoever reads the log that something was refused or dropped, and why: the newest case, and how many there were
 * since the line before. The device itself hears nothing of it, since MQTT 3.1.1 has no word for that.
 *
 * @param {{ logger: import('pino').Logger, clock: () => number }} parts `clock` in epoch ms
 */
export function createRefusalNotices({ logger, clock }) {
  let toldAt = Number.NEGATIVE_INFINITY;
  let since = 0;

  /** @param {string} what @param {string} topic */
  function note(what, topic) {
    since++;
    if (clock() - toldAt < EVERY_MS) return;
    logger.warn({ topic, refused: since }, `${what}, on ${shown(topic)}`);
    toldAt = clock();
    since = 0;
  }

  return {
    /** @param {string} topic @param {Record<string, number>} codes refused measurements by code */
    refused(topic, codes) {
      const counts = Object.entries(codes).map(([code, count]) => `${count} ${code}`);
      note(`refused: ${counts.join(', ')}`, topic);
    },
    /** @param {string} topic */
    foreign: (topic) => note('dropped: a topic outside the contract', topic),
  };
}

/** @typedef {ReturnType<typeof createRefusalNotices>} RefusalNotices */

/** A topic is a stranger's text: in quotes, cut, nothing in it that moves a cursor. @param {string} topic */
const shown = (topic) =>
  JSON.stringify(topic.length > 80 ? `${topic.slice(0, 80)}…` : topic).replaceAll(/\p{C}/gu, '?');

import { refusalText } from '../../common/errors.js';
import { printable } from '../../common/printable.js';

/** @import { Logger } from 'pino' */
/** @import { Refusal } from '../../common/errors.js' */

/** Minimum time between two log lines about refusals, in ms. One broken device must not fill the log. */
const EVERY_MS = 10_000;

const UNKNOWN_TOPIC = 'topic outside the contract';

/**
 * Logs refused and dropped messages with their reason. It logs the first case at once. A second line sums up the cases of the next
 * seconds. The device gets no error, because MQTT 3.1.1 has none.
 *
 * @param {{ logger: Logger, everyMs?: number }} deps
 */
export function createRefusalNotices({ logger, everyMs = EVERY_MS }) {
  /** Cases since the last line, by reason. @type {Map<string, number>} */
  const more = new Map();
  let lastTopic = '';
  /** @type {Refusal | undefined} */
  let lastRefusal;
  let isResting = false;

  function rest() {
    isResting = true;
    // The end of the process does not wait for this line.
    setTimeout(sumUp, everyMs).unref();
  }

  function sumUp() {
    isResting = false;
    if (more.size === 0) return;
    const refused = total(more.values());
    const counts = listed([...more]);
    logger.warn(
      { topic: lastTopic, refused, ...reasonOf(lastRefusal) },
      `and ${refused} more: ${counts}; the last on ${shown(lastTopic)}${reasonText(lastRefusal)}`,
    );
    more.clear();
    rest();
  }

  /** @param {string} topic @param {[reason: string, count: number][]} counts @param {string} words @param {Refusal} [refusal] */
  function note(topic, counts, words, refusal) {
    if (isResting) {
      for (const [reason, count] of counts) more.set(reason, (more.get(reason) ?? 0) + count);
      lastTopic = topic;
      lastRefusal = refusal;
      return;
    }
    const refused = total(counts.map(([, count]) => count));
    logger.warn(
      { topic, refused, ...reasonOf(refusal) },
      `${words}, on ${shown(topic)}${reasonText(refusal)}`,
    );
    rest();
  }

  return {
    /**
     * @param {string} topic
     * @param {Record<string, number>} codes refused measurements by code
     * @param {Refusal} first of them
     */
    refused(topic, codes, first) {
      const counts = Object.entries(codes);
      note(topic, counts, `refused: ${listed(counts)}`, first);
    },
    /** @param {string} topic */
    unknownTopic: (topic) => note(topic, [[UNKNOWN_TOPIC, 1]], `dropped: a ${UNKNOWN_TOPIC}`),
  };
}

/** @typedef {ReturnType<typeof createRefusalNotices>} RefusalNotices */

/** @param {Refusal} [refusal] @returns {Partial<Refusal>} members of the log line */
const reasonOf = (refusal) => (refusal ? { path: refusal.path, rule: refusal.rule } : {});

/** @param {Refusal} [refusal] @returns {string} end of the log line */
const reasonText = (refusal) => (refusal ? `: ${printable(refusalText(refusal))}` : '');

/** @param {[reason: string, count: number][]} counts */
const listed = (counts) => counts.map(([reason, count]) => `${count} ${reason}`).join(', ');

/** @param {Iterable<number>} counts */
const total = (counts) => [...counts].reduce((sum, count) => sum + count, 0);

/** A client chose the topic, so the log shows it in quotes, shortened, and without control characters. @param {string} topic */
const shown = (topic) =>
  JSON.stringify(topic.length > 80 ? `${topic.slice(0, 80)}…` : topic).replaceAll(/\p{C}/gu, '?');

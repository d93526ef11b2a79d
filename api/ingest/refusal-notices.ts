import { refusalText } from '../../common/errors.js';
import { printable } from '../../common/printable.js';

/** @import { Logger } from 'pino' */
/** @import { Refusal } from '../../common/errors.js' */

/** Minimum time between two log lines about refusals, in ms. Without this limit one broken device could fill the log. */
const EVERY_MS = 10_000;

/** The reason as the dashboard and `GET /unmatched-topics` name it. */
const UNMATCHED_TOPIC = 'unmatched topic';

/**
 * Logs refused and dropped messages with their reason. The first refusal is logged at once. A second line sums up the
 * refusals of the next seconds. A device with MQTT 3.1.1 gets no error, because this version of MQTT cannot report it.
 */
export class RefusalNotices {
  #logger;
  #everyMs;
  /** Number of refused measurements and dropped messages since the last log line, by reason. @type {Map<string, number>} */
  #more = new Map();
  #lastTopic = '';
  /** @type {Refusal | undefined} */
  #lastRefusal;
  #isResting = false;

  /** @param {{ logger: Logger, everyMs?: number }} deps */
  constructor({ logger, everyMs = EVERY_MS }) {
    this.#logger = logger;
    this.#everyMs = everyMs;
  }

  /**
   * Logs the refused measurements of a message.
   *
   * @param {string} topic
   * @param {Record<string, number>} codes refused measurements by code
   * @param {Refusal} first first refusal of the message
   */
  refused(topic, codes, first) {
    const counts = Object.entries(codes);
    this.#note(topic, counts, `refused: ${listed(counts)}`, first);
  }

  /** Logs a message on a topic that neither the contract nor a mapping has. @param {string} topic */
  unknownTopic(topic) {
    this.#note(topic, [[UNMATCHED_TOPIC, 1]], `dropped: an ${UNMATCHED_TOPIC}`);
  }

  /** Delays the next log line until `everyMs` has passed. */
  #rest() {
    this.#isResting = true;
    // `unref`: the end of the process does not wait for this log line.
    setTimeout(() => this.#sumUp(), this.#everyMs).unref();
  }

  /** Logs one line for all refused and dropped messages since the last line. */
  #sumUp() {
    this.#isResting = false;
    if (this.#more.size === 0) return;
    const refused = total(this.#more.values());
    const counts = listed([...this.#more]);
    this.#logger.warn(
      { topic: this.#lastTopic, refused, ...reasonOf(this.#lastRefusal) },
      `and ${refused} more: ${counts}; the last on ${shown(this.#lastTopic)}${reasonText(this.#lastRefusal)}`,
    );
    this.#more.clear();
    this.#rest();
  }

  /** @param {string} topic @param {[reason: string, count: number][]} counts @param {string} words @param {Refusal} [refusal] */
  #note(topic, counts, words, refusal) {
    if (this.#isResting) {
      for (const [reason, count] of counts) this.#more.set(reason, (this.#more.get(reason) ?? 0) + count);
      this.#lastTopic = topic;
      this.#lastRefusal = refusal;
      return;
    }
    const refused = total(counts.map(([, count]) => count));
    this.#logger.warn(
      { topic, refused, ...reasonOf(refusal) },
      `${words}, on ${shown(topic)}${reasonText(refusal)}`,
    );
    this.#rest();
  }
}

/** @param {Refusal} [refusal] @returns {Partial<Refusal>} the reason of the refusal, as members of the log line */
const reasonOf = (refusal) => (refusal ? { path: refusal.path, rule: refusal.rule } : {});

/** @param {Refusal} [refusal] @returns {string} the reason of the refusal, as the end of the log message */
const reasonText = (refusal) => (refusal ? `: ${printable(refusalText(refusal))}` : '');

/** @param {[reason: string, count: number][]} counts */
const listed = (counts) => counts.map(([reason, count]) => `${count} ${reason}`).join(', ');

/** @param {Iterable<number>} counts */
const total = (counts) => [...counts].reduce((sum, count) => sum + count, 0);

/** Formats a topic for the log: in quotes, shortened, and without control characters, because a client chose it. @param {string} topic */
const shown = (topic) =>
  JSON.stringify(topic.length > 80 ? `${topic.slice(0, 80)}…` : topic).replaceAll(/\p{C}/gu, '?');

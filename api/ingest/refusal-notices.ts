import type { Logger } from 'pino';
import { type Refusal, refusalText } from '../../common/errors.ts';
import { printable } from '../../common/printable.ts';

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
  /** Number of refused measurements and dropped messages since the last log line, by reason. */
  #more: Map<string, number> = new Map();
  #lastTopic = '';
  #lastRefusal: Refusal | undefined;
  #isResting = false;

  constructor({ logger, everyMs = EVERY_MS }: { logger: Logger; everyMs?: number }) {
    this.#logger = logger;
    this.#everyMs = everyMs;
  }

  /**
   * Logs the refused measurements of a message.
   * @param codes refused measurements by code
   * @param first first refusal of the message
   */
  refused(topic: string, codes: Record<string, number>, first: Refusal) {
    const counts = Object.entries(codes);
    this.#note(topic, counts, `refused: ${listed(counts)}`, first);
  }

  /** Logs a message on a topic that neither the contract nor a mapping has. */
  unknownTopic(topic: string) {
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

  #note(topic: string, counts: [reason: string, count: number][], words: string, refusal?: Refusal) {
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

/** @returns the reason of the refusal, as members of the log line */
const reasonOf = (refusal?: Refusal): Partial<Refusal> =>
  refusal ? { path: refusal.path, rule: refusal.rule } : {};

/** @returns the reason of the refusal, as the end of the log message */
const reasonText = (refusal?: Refusal): string => (refusal ? `: ${printable(refusalText(refusal))}` : '');

const listed = (counts: [reason: string, count: number][]) =>
  counts.map(([reason, count]) => `${count} ${reason}`).join(', ');

const total = (counts: Iterable<number>) => [...counts].reduce((sum, count) => sum + count, 0);

/** Formats a topic for the log: in quotes, shortened, and without control characters, because a client chose it. */
const shown = (topic: string) =>
  JSON.stringify(topic.length > 80 ? `${topic.slice(0, 80)}…` : topic).replaceAll(/\p{C}/gu, '?');

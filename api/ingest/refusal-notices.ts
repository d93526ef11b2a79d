import type { Logger } from 'pino';
import { type Refusal, refusalText } from '../../common/errors.ts';
import { printable } from '../../common/printable.ts';

/** Without this limit one broken device could fill the log. */
const LOG_INTERVAL_MS = 10_000;

/** as the dashboard names it */
const UNMATCHED_TOPIC = 'unmatched topic';

/**
 * The first refusal is logged at once, and a second line sums up the next seconds. A device with MQTT 3.1.1 gets no
 * error, because this version cannot report it.
 */
export class RefusalNotices {
  #logger;
  #everyMs;
  /** refused measurements and dropped messages since the last log line, by reason */
  #more: Map<string, number> = new Map();
  #lastTopic = '';
  #lastRefusal: Refusal | undefined;
  #isResting = false;

  constructor({ logger, everyMs = LOG_INTERVAL_MS }: { logger: Logger; everyMs?: number }) {
    this.#logger = logger;
    this.#everyMs = everyMs;
  }

  refused(topic: string, codes: Record<string, number>, first: Refusal) {
    const counts = Object.entries(codes);
    this.#note(topic, counts, `refused: ${listed(counts)}`, first);
  }

  unknownTopic(topic: string) {
    this.#note(topic, [[UNMATCHED_TOPIC, 1]], `dropped: an ${UNMATCHED_TOPIC}`);
  }

  #rest() {
    this.#isResting = true;
    // The end of the process does not wait for this log line.
    setTimeout(() => this.#sumUp(), this.#everyMs).unref();
  }

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

const reasonOf = (refusal?: Refusal): Partial<Refusal> =>
  refusal ? { path: refusal.path, rule: refusal.rule } : {};

const reasonText = (refusal?: Refusal): string => (refusal ? `: ${printable(refusalText(refusal))}` : '');

const listed = (counts: [reason: string, count: number][]) =>
  counts.map(([reason, count]) => `${count} ${reason}`).join(', ');

const total = (counts: Iterable<number>) => [...counts].reduce((sum, count) => sum + count, 0);

/** A client chose the topic, so it is shortened and has no control characters. */
const shown = (topic: string) =>
  JSON.stringify(topic.length > 80 ? `${topic.slice(0, 80)}…` : topic).replaceAll(/\p{C}/gu, '?');

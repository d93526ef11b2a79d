import { KAFKA_SETTINGS } from '../../schema/kafka/index.ts';
import { bucketOf, HOUR_MS } from '../../schema/rules.ts';
import { ALSO, reportLines } from '../../simulator/verify/report.ts';
import { compareTopic, readTopics } from '../../simulator/verify/topic.ts';
import { startApi } from '../support/processes/api-process.ts';
import { until } from '../support/until.ts';
import type { World } from './world.ts';

/** All hours are closed for a process whose clock is ahead by this. */
const AHEAD_MS = 4 * HOUR_MS;
const COMPLETE_WITHIN_MS = 300_000;
const START_MS = 120_000;

/**
 * Completes the hours of the ledgers, and compares the topics with each ledger.
 * @returns a report of each ledger that differs. The order of records is not compared: after a kill, the last messages of the dead process
 * come later.
 */
export async function compareKafka({ settings, config }: World, ledgers: string[]): Promise<string[]> {
  const ahead = await startApi(
    { ...settings, MQTT_PORT: '0', AHEAD_MS: String(AHEAD_MS) },
    { script: 'test/support/processes/api-ahead.ts', withinMs: START_MS },
  );
  try {
    const watermark = bucketOf(Date.now()) + HOUR_MS;
    const { topic, until: complete } = await until(
      async () => {
        const read = await readTopics(config.of(KAFKA_SETTINGS), () => {});
        return read.until !== null && read.until >= watermark ? read : null;
      },
      { withinMs: COMPLETE_WITHIN_MS, what: 'the watermark' },
    );
    const reports = [];
    for (const path of ledgers) {
      const result = await compareTopic({ ledgerPath: path, topic, range: { to: Number(complete) } });
      const { disorder: _, ...compared } = result.found;
      if (Object.values(compared).some(({ count }) => count > 0))
        reports.push([path, ...reportLines(result, ALSO.kafka)].join('\n'));
    }
    return reports;
  } finally {
    await ahead.kill();
  }
}

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createStreamStore } from '../../../api/features/kafka/store.ts';
import { topicName } from '../../../schema/kafka/index.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { makeTopics, readTopic, startTestKafka } from '../../support/kafka/index.ts';
import { readMetric } from '../../support/metrics.ts';
import { startCommand } from '../../support/processes/api-process.ts';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';
import { samplesOf, usePackedSystem } from '../../support/system/packed.ts';
import { until } from '../../support/until.ts';

const PREFIX = 'out';
const kafka = await startTestKafka();
const { clock, system, store, send, newHour, closeHour } = usePackedSystem({
  settings: { STREAM_KAFKA: kafka.address, STREAM_TOPIC_PREFIX: PREFIX, LATEST_GROUPS: '2' },
  periods: { stream: 100 },
});
/** A process that commits and sends nothing to Kafka, as one that is killed between the two. */
let silent: TestSystem;

beforeAll(async () => {
  await makeTopics(kafka.address, PREFIX);
  silent = await startTestSystem({
    settings: { CQL_KEYSPACE: system().config.cql.keyspace, LATEST_GROUPS: '2' },
    clock: () => clock.now,
  });
});

afterAll(async () => {
  await silent?.stop();
  await kafka.dispose();
});

async function streamed(
  device: string,
): Promise<Array<{ ts: number; value: number; late: boolean; source: string | undefined }>> {
  const records = await readTopic(kafka.address, topicName(PREFIX, 'batches'));
  return records.flatMap(({ value, headers }) => {
    const batch = JSON.parse(String(value));
    if (batch.device !== device) return [];
    return batch.sensors.flatMap(({ samples }: { samples: [number, number][] }) =>
      samples.map(([ts, sampleValue]: [number, number]) => ({
        ts,
        value: sampleValue,
        late: batch.late,
        source: headers['source'],
      })),
    );
  });
}

const untilStreamed = (device: string, count: number) =>
  until(
    async () => {
      const found = await streamed(device);
      return new Set(found.map(({ ts }) => ts)).size >= count ? found : null;
    },
    { what: `${count} samples of ${device} in Kafka` },
  );

async function post(to: TestSystem, device: string, samples: Array<{ ts: number; value: number }>) {
  const response = await to.post(
    `/measurements?device=${device}`,
    samples.map((sample) => ({ sensor_id: 's', ...sample })),
  );
  expect(response.status).toBe(200);
}

test('Streaming to Kafka: a message is committed: its record has the samples, the key and the headers', async () => {
  const hour = newHour();
  const samples = samplesOf(hour, 3);
  await send('hot-1', samples);
  await untilStreamed('hot-1', 3);
  const records = await readTopic(kafka.address, topicName(PREFIX, 'batches'));
  const record = records.find(({ value }) => String(value).includes('"hot-1"'));
  const batch = JSON.parse(String(record?.value));
  expect(record?.key).toBe(batch.device_id);
  expect(record?.headers).toEqual({
    format: 'json',
    digest: batch.digest,
    bucket: String(hour),
    late: 'false',
    committed_at: String(Date.parse(batch.committed_at)),
    source: 'hot',
  });
  expect(batch).toMatchObject({ kind: 'batch', device: 'hot-1', bucket: new Date(hour).toISOString() });
  expect(batch.sensors).toEqual([
    {
      sensor_id: expect.any(String),
      sensor: 's',
      samples: samples.map(({ ts, value }) => [ts, value]),
    },
  ]);
});

test('Streaming to Kafka: a process ends after its commit: the samples are sent once when the hour is complete', async () => {
  const hour = newHour();
  await post(silent, 'lost', samplesOf(hour, 5));
  await send('kept', samplesOf(hour, 4));
  await untilStreamed('kept', 4);
  // Kafka has answered, so the block is noted as sent.
  await until(async () => (await readMetric(system(), 'iot_stream_queue_bytes')) === 0);
  await closeHour(hour);
  const lost = await streamed('lost');
  expect(lost.map(({ ts, value }) => ({ ts, value }))).toEqual(samplesOf(hour, 5));
  expect(lost.every(({ source, late }) => source === 'completion' && !late)).toBe(true);
  // A block that is noted as sent is not sent again.
  expect(await streamed('kept')).toHaveLength(4);
});

test('Streaming to Kafka: Kafka is away: messages are still acknowledged, and all samples reach the topic afterwards', async () => {
  const hour = newHour();
  await kafka.kill();
  for (let index = 0; index < 20; index++) await send('away', samplesOf(hour, 10, index * 10));
  await kafka.start();
  const found = await untilStreamed('away', 200);
  expect(found.map(({ ts }) => ts)).toEqual(samplesOf(hour, 200).map(({ ts }) => ts));
});

test('Streaming to Kafka: a value is replaced: the topic of corrections has the correction, and the completion does not send it again', async () => {
  const hour = newHour();
  await send('corrected', samplesOf(hour, 1));
  const answer = await system().post('/corrections?device=corrected', [
    { sensor_id: 's', ts: hour, value: 7 },
  ]);
  expect(answer.status).toBe(200);
  const { items } = await system().get('/corrections?device=corrected');
  const corrections = async () =>
    (await readTopic(kafka.address, topicName(PREFIX, 'corrections'))).map(({ key, value }) => ({
      ...JSON.parse(String(value)),
      key,
    }));
  const [found] = await until(async () => ((await corrections()).length > 0 ? corrections() : null));
  expect(found).toMatchObject({ kind: 'correction', correction: 'replace', id: items[0].id, samples: 1 });
  expect(found.key).toBe(items[0].device_id);
  await closeHour(hour);
  expect(await corrections()).toHaveLength(1);
});

test('Streaming to Kafka: an hour is complete: the watermark of each shard is the end of the hour', async () => {
  const hour = newHour();
  await closeHour(hour);
  const records = await readTopic(kafka.address, topicName(PREFIX, 'watermarks'));
  const newest = new Map(records.map(({ key, value }) => [key, JSON.parse(String(value))]));
  expect([...newest.keys()].sort()).toEqual(['0', '1']);
  for (const [shard, watermark] of newest) {
    const end = new Date(hour + HOUR_MS).toISOString();
    expect(watermark).toEqual({
      kind: 'watermark',
      shard: Number(shard),
      shards: 2,
      until: end,
      topics: { batches: end, events: end, 'dead-letters': end, alarms: end, corrections: end },
    });
  }
});

describe('npm run stream', () => {
  async function stream(prefix: string, ...args: string[]) {
    const kafkaSettings = { STREAM_KAFKA: kafka.address, STREAM_TOPIC_PREFIX: prefix };
    const settings = { ...system().databaseSettings, ...kafkaSettings };
    const { code, output } = await startCommand('api/features/kafka/command.ts', settings, args).ended;
    return { code, output };
  }

  test('npm run stream: status, init, init, status: Kafka topics are missing, then created, then present', async () => {
    const batches = topicName('made', 'batches');
    expect((await stream('made', 'status')).output).toContain(
      `✕ ${batches}: missing; npm run stream -- init`,
    );
    const first = await stream('made', 'init', '--partitions', '2');
    expect(first).toMatchObject({ code: 0, output: expect.stringContaining(`✓ made  ${batches}`) });
    // Samples committed since then may be only in the topics of another prefix.
    const [, from = ''] = /^ {2}npm run stream -- replay --from (\S+)$/m.exec(first.output) ?? [];
    const groups = [0, 1].map((group) => createStreamStore(store().session).streamedUntil(group));
    expect(Date.parse(from)).toBe(Math.min(...(await Promise.all(groups)).map(Number)));
    const again = await stream('made', 'init');
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining(`✓ is there  ${batches}`) });
    expect(again.output).not.toContain('replay');
    const { code, output } = await stream('made', 'status');
    expect(code === 0 ? '' : output).toBe('');
    expect(output).toContain(`✓ ${batches}: 0 records in 2 partitions`);
    expect(output).toMatch(/^Complete until \d{4}-\d\d-\d\dT/m);
    expect(output).toMatch(/^Backlog of events: no closed hour$/m);
    // The heartbeat may be of the time when Kafka was away.
    expect(output).toMatch(/^Waiting in \S+: \d+ of 67108864 bytes, for \d+\.\d s/m);
  });
});

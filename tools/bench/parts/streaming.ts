import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { findLockHolder } from '../../../infra/engine/process/lock.ts';
import { startKafka } from '../../../infra/kafka/index.ts';
import type { Environment } from '../environment/index.ts';
import type { Line } from '../environment/pipeline.ts';
import { loadOf } from '../load/shapes.ts';
import { measureRate, type Rate } from '../measure/rate.ts';
import { alternate, medianOf, type Round } from '../measure/rounds.ts';
import { figure, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

/** A minute of one sensor, the simulator's collar, and a single reading. */
const LOADS = ['1x60', '4x10', '1x1'];

const PREFIX = 'bench';
const PARTITIONS = 6;

const LOOK_MS = 250;

const DRAINS_MS = 60_000;

type Name = 'none' | 'streaming';

const NAMES: Name[] = ['none', 'streaming'];

/** `skipped`: blocks that the full queue did not accept */
type StreamedLoad = { shape: string; rounds: Round<Name, Rate>[]; skipped: number };

/**
 * Measures the cost of streaming to Kafka at the highest rate. Kafka runs on the same machine, so its CPU time counts too.
 * @param options `engineDir`: folder of Kafka's jars
 */
export const createStreamingPart = ({
  loads = LOADS,
  devices,
  engineDir,
}: {
  loads?: string[];
  devices?: number;
  engineDir?: string;
} = {}): Part<StreamedLoad[]> => ({
  name: 'streaming',
  title: 'Streaming out to a Kafka on the same machine',

  async run({ environment, flags, status }) {
    const kafka = await openKafka(environment, engineDir ?? join(readSettings().dataDir, 'engine'), status);
    const plain = await environment.pipeline('no-streaming');
    const more = { STREAM_KAFKA: kafka.address, STREAM_TOPIC_PREFIX: PREFIX };
    const streamed = await environment.pipeline('streaming', undefined, { more });
    streamed.pids['kafka'] = kafka.pid;
    const lines = { none: plain, streaming: streamed };
    const timing = { database: environment.database, warmMs: flags.warmMs, forMs: flags.runMs };
    const measured: StreamedLoad[] = [];
    try {
      for (const load of loads) {
        const shape = loadOf(load, devices);
        const before = await skippedBlocks(streamed);
        const measure = async (name: Name) => {
          const rate = await measureRate(lines[name], shape, timing);
          if (name === 'streaming') await drain(streamed);
          return rate;
        };
        // Each variant runs once before the rounds. Otherwise registration and a cold start would make the first round slower.
        for (const name of NAMES) {
          status(`${load}, ${name}: warming up`);
          await measure(name);
        }
        const onStatus = (text: string) => status(`${load}, ${text}`);
        const rounds = await alternate({ names: NAMES, rounds: flags.rounds, measure, onStatus });
        measured.push({ shape: load, rounds, skipped: (await skippedBlocks(streamed)) - before });
      }
    } finally {
      for (const name of ['streaming', 'no-streaming', 'kafka']) await environment.close(name);
    }
    return measured;
  },

  tables: (measured) => [
    {
      head: [
        'thousand samples/s',
        'none',
        'streaming',
        'ratio',
        'ingest µs, none',
        'streaming',
        'Kafka µs',
        'blocks left to the completion',
        'steal',
      ],
      rows: measured.map(({ shape, rounds, skipped }) => [
        shape,
        figure(medianOf(rounds, (results) => results.none.rate / 1000)),
        figure(medianOf(rounds, (results) => results.streaming.rate / 1000)),
        figure(medianOf(rounds, (results) => results.streaming.rate / results.none.rate)),
        figure(medianOf(rounds, (results) => Number(results.none.cpu['ingest']))),
        figure(medianOf(rounds, (results) => Number(results.streaming.cpu['ingest']))),
        figure(medianOf(rounds, (results) => Number(results.streaming.cpu['kafka']))),
        String(skipped),
        stealOf(rounds),
      ]),
    },
  ],
});

export const streaming = createStreamingPart();

const openKafka = (environment: Environment, engineDir: string, onStatus: (text: string) => void) =>
  environment.variant('kafka', async (home) => {
    const engine = await startKafka({ dataDir: home, port: await steadyPort(), engineDir, onStatus });
    const address = engine.contactPoint;
    await makeTopics(address);
    const pid = Number((await findLockHolder(join(await realpath(home), 'kafka')))?.java);
    return { address, pid, close: () => engine.stop() };
  });

/** The Kafka client is imported here, because other parts and the reports do not need it. */
async function makeTopics(address: string) {
  const { Admin } = await import('@platformatic/kafka');
  const { TOPICS, topicName } = await import('../../../schema/kafka/index.ts');
  const kinds = Object.keys(TOPICS) as Array<keyof typeof TOPICS>;
  const admin = new Admin({ clientId: 'bench', bootstrapBrokers: [address] });
  try {
    const topics = kinds.map((kind) => topicName(PREFIX, kind));
    await admin.createTopics({ topics, partitions: PARTITIONS, replicas: 1 });
  } finally {
    await admin.close();
  }
}

const skippedBlocks = async (line: Line) => (await line.metrics())('iot_stream_skipped_total');

/**
 * Blocks that waited at the end of a run would slow the next run.
 * @throws {MillraceError} `failed`: blocks still wait after the time limit
 */
async function drain(line: Line) {
  const deadline = performance.now() + DRAINS_MS;
  while ((await line.metrics())('iot_stream_queue_bytes') > 0) {
    if (performance.now() > deadline)
      throw new MillraceError('failed', `Kafka did not take what waited within ${DRAINS_MS / 1000} s.`);
    await sleep(LOOK_MS);
  }
}

import { Admin } from '@platformatic/kafka';
import { runCommand } from '../../../common/command.ts';
import { readCommandSettings } from '../../../common/dev-addresses.ts';
import { MillraceError } from '../../../common/errors.ts';
import {
  type CommandGroup,
  type CommandLine,
  type GroupValues,
  parseGroup,
  usageError,
} from '../../../common/flags.ts';
import type { Config } from '../../../common/settings/config.ts';
import { DATABASE_SETTINGS, namedSettings } from '../../../common/settings/index.ts';
import { createStatusLine } from '../../../common/status-line.ts';
import { formatTime, parseTime } from '../../../common/times.ts';
import {
  connectionOptions,
  KAFKA_SETTINGS,
  type KafkaSettings,
  Schemas,
  TOPICS,
  type TopicKind,
  TopicRefused,
  topicName,
  usedTopics,
} from '../../../schema/kafka/index.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { openDatabase } from '../../database.ts';
import { createContext, createLogger, isSilent } from '../../observability/index.ts';
import type { Store } from '../../store/index.ts';
import { backlogOf } from './backlog.ts';
import { createStreamStore } from './store.ts';
import { StreamOut } from './stream-out.ts';

const COMMAND = 'npm run stream --';

const COMMANDS = {
  init: {
    help: 'makes the topics with their settings, and registers the schemas at SCHEMA_REGISTRY_URL; a topic that exists stays as it is',
    examples: [`${COMMAND} init`, `${COMMAND} init --partitions 12 --replicas 3`],
    flags: {
      partitions: { type: 'integer', help: 'partitions of each topic', fallback: 6, min: 1 },
      replicas: { type: 'integer', help: 'copies of each partition; Kafka decides by default', min: 1 },
    },
  },
  status: {
    help: 'shows the records and the backlog of each topic, what waits in each process, and until when all is complete',
    examples: [`${COMMAND} status`],
    flags: {},
  },
  replay: {
    help: 'sends all blocks, events, dead letters, alarms and corrections of a range again; each hour that it touches is sent whole',
    examples: [
      `${COMMAND} replay --from 2026-11-21T00:00:00Z --to 2026-11-22T00:00:00Z`,
      `${COMMAND} replay --from 2026-11-21T00:00:00Z`,
    ],
    flags: {
      from: { type: 'text', help: 'ISO 8601 or epoch ms' },
      to: { type: 'text', help: 'the first instant that does not count; default: now' },
    },
  },
} satisfies Record<string, Omit<CommandLine, 'command'>>;

const GROUP: CommandGroup<typeof COMMANDS> = {
  command: COMMAND,
  help: 'Keeps the topics of Kafka that STREAM_KAFKA names. Each command answers --help.',
  examples: [`${COMMAND} init`, `${COMMAND} status`],
  commands: COMMANDS,
  settings: [...DATABASE_SETTINGS, ...namedSettings(KAFKA_SETTINGS, ['STREAM_KAFKA', 'SCHEMA_REGISTRY_URL'])],
};

const CLIENT_ID = 'millrace-stream';

/** TOPIC_ALREADY_EXISTS in Kafka's protocol. */
const TOPIC_EXISTS = 36;

/** In ListOffsets, this requests the newest offset of a partition. */
const NEWEST = -1n;

/** The command commits no samples. */
const NO_COMMITS = { openStamps: undefined };

// npm run stream: creates the topics, shows the progress and replays records of streaming out, with the settings of npm start.
await runCommand(async () => {
  const { command, flags } = parseGroup(GROUP, process.argv.slice(2));
  const config = readCommandSettings('database', { further: ['STREAM_KAFKA'] });
  if (!config.of(KAFKA_SETTINGS).kafka) {
    throw new MillraceError(
      'usage',
      'STREAM_KAFKA must name a Kafka, such as STREAM_KAFKA=127.0.0.1:9092. If npm run dev runs with --kafka and another DATA_DIR, set the same.',
    );
  }
  const print = (text: string) => process.stdout.write(`${text}\n`);
  if (command === 'init') return init(config, flags, print);
  if (command === 'status') return status(config, print);
  return replay(config, flags, print);
});

/** @throws `broker_away` */
async function withAdmin<T>(stream: KafkaSettings, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new Admin({ ...connectionOptions(stream, CLIENT_ID), retries: 3, retryDelay: 500 });
  try {
    return await work(admin);
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new MillraceError('broker_away', `Kafka at ${stream.kafka}: ${reason}`, { cause: error });
  } finally {
    await admin.close();
  }
}

async function init(
  config: Config,
  { partitions, replicas = -1 }: GroupValues<typeof COMMANDS>,
  print: (text: string) => void,
) {
  const stream = config.of(KAFKA_SETTINGS);
  const made: Set<TopicKind> = new Set();
  await withAdmin(stream, async (admin) => {
    for (const kind of usedTopics(stream)) {
      const name = topicName(stream.prefix, kind);
      const configs = Object.entries(TOPICS[kind].settings).map(([setting, value]) => ({
        name: setting,
        value,
      }));
      const isNew = await admin.createTopics({ topics: [name], partitions, replicas, configs }).then(
        () => true,
        (error) => {
          if (error.findBy?.('apiCode', TOPIC_EXISTS)) return false;
          throw error;
        },
      );
      print(`${isNew ? '✓ made' : '✓ is there'}  ${name}: ${TOPICS[kind].holds}`);
      if (isNew) made.add(kind);
    }
  });
  await registerSchemas(stream, print);
  if (made.has('batches')) await printReplay(config, print);
}

/**
 * Streaming out stores its progress without the names of topics, so new topics do not get records that were sent to topics with other
 * names.
 */
async function printReplay(config: Config, print: (text: string) => void) {
  // The topics can be created before the tables of the database exist.
  const database = await openDatabase(quietContext(config), NO_COMMITS).catch(() => null);
  if (!database) return;
  const { store } = database;
  try {
    const begun = await readBegun(config, store);
    if (begun.length === 0) return;
    const from = formatTime(Math.min(...begun.map(({ until }) => until)));
    print('Records that went to other topics are not in these. Restart the processes, then send them again:');
    print(`  ${COMMAND} replay --from ${from}`);
  } finally {
    await store.close();
  }
}

/** Registers schemas that the registry lacks. @throws `broker_away` */
async function registerSchemas(stream: KafkaSettings, print: (text: string) => void) {
  const schemas = new Schemas(stream, createLogger('silent'));
  for (const { subject, id, isNew } of await toMillraceError(() => schemas.loadAll()))
    print(`${isNew ? '✓ registered' : '✓ is there'}  schema ${id} of ${subject}`);
}

/** @throws `broker_away` if Kafka refuses a topic, or the registry its schema */
async function toMillraceError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TopicRefused)) throw error;
    throw new MillraceError('broker_away', error.message, { cause: error });
  }
}

async function status(config: Config, print: (text: string) => void) {
  const stream = config.of(KAFKA_SETTINGS);
  await withAdmin(stream, async (admin) => {
    const kinds = usedTopics(stream);
    const names = kinds.map((kind) => topicName(stream.prefix, kind));
    const existing = new Set(await admin.listTopics());
    for (const name of names) {
      if (!existing.has(name)) {
        print(`✕ ${name}: missing; ${COMMAND} init makes it`);
        continue;
      }
      const { topics } = await admin.metadata({ topics: [name] });
      const count = topics.get(name)?.partitionsCount ?? 0;
      const partitions = Array.from({ length: count }, (_, partitionIndex) => ({
        partitionIndex,
        timestamp: NEWEST,
      }));
      const [listed] = await admin.listOffsets({ topics: [{ name, partitions }] });
      const records = (listed?.partitions ?? []).reduce((sum, { offset }) => sum + offset, 0n);
      print(`✓ ${name}: ${records} records in ${count} partitions since it was made`);
    }
  });
  const { store } = await openDatabase(quietContext(config), NO_COMMITS);
  try {
    await printProgress(config, store, print);
  } finally {
    await store.close();
  }
}

async function printProgress(config: Config, store: Store, print: (text: string) => void) {
  const groups = config.retention.latestGroups;
  const begun = await readBegun(config, store);
  if (begun.length < groups) print(`${groups - begun.length} of ${groups} shards have not begun`);
  const now = Date.now();
  for (const { topic, hours, shards } of backlogOf(begun, now)) {
    const closed = `${hours} closed ${hours === 1 ? 'hour' : 'hours'}, in ${shards} of ${groups} shards`;
    print(`Backlog of ${topic}: ${hours === 0 ? 'no closed hour' : closed}`);
  }
  const rows = (await store.processes.all()).filter((row) => !isSilent(row, now));
  for (const { clientId, stats } of rows) {
    const { stream } = JSON.parse(stats);
    if (stream)
      print(
        `Waiting in ${clientId}: ${stream.queue_bytes} of ${stream.queue_limit} bytes, for ${(stream.lag_ms / 1000).toFixed(1)} s${stream.ok ? '' : '; its last request failed'}`,
      );
  }
  if (begun.length === 0) return;
  const until = Math.min(...begun.map((shard) => shard.until));
  const hours = ((now - until) / HOUR_MS).toFixed(1);
  print(`Complete until ${formatTime(until)}, ${hours} hours ago; one to two hours are normal`);
}

/** The progress of each shard of devices that has begun streaming. */
async function readBegun({ retention }: Config, store: Store) {
  const streaming = createStreamStore(store.session);
  const all = await Promise.all(
    Array.from({ length: retention.latestGroups }, async (_, group) => {
      const until = await streaming.streamedUntil(group);
      return until === null ? null : { until, topics: await streaming.topicsUntil(group) };
    }),
  );
  return all.filter((shard) => shard !== null);
}

async function replay(config: Config, flags: GroupValues<typeof COMMANDS>, print: (text: string) => void) {
  const from = parseTime(flags.from ?? '');
  const to = flags.to === undefined ? Date.now() : parseTime(flags.to);
  if (from === null || to === null || from >= to) {
    throw usageError(`${COMMAND} replay`, ['--from and --to are times, and --from is before --to']);
  }
  // The other commands do not need the features, which load most of the API.
  const { announcedKinds } = await import('../index.ts');
  const statusLine = createStatusLine(process.stderr);
  const context = quietContext(config);
  const { store, clockGuard } = await openDatabase(context, NO_COMMITS);
  const streamOut = new StreamOut(context, {
    store,
    clockGuard,
    isPressed: () => false,
    outbox: null,
    announced: announcedKinds(store),
    pauseMs: 1000,
  });
  try {
    const { blocks, others } = await toMillraceError(() =>
      streamOut.replay({ from, to }, (sent) => statusLine.update(`${sent} blocks sent`)),
    );
    statusLine.clear();
    print(
      `${blocks} ${blocks === 1 ? 'block' : 'blocks'} sent again, and ${others} events, dead letters, alarms and corrections, from ${formatTime(from)} to before ${formatTime(to)}`,
    );
  } finally {
    statusLine.clear();
    await streamOut.stop();
    await store.close();
  }
}

function quietContext(config: Config) {
  return createContext({ config, version: '', logger: createLogger('silent') });
}

import { MillraceError } from '../../common/errors.ts';
import { type CommandLine, type Flag, parseFlags, usageError } from '../../common/flags.ts';
import type { Config } from '../../common/settings/config.ts';
import { DATABASE_SETTINGS, namedSettings } from '../../common/settings/index.ts';
import { parseTime } from '../../common/times.ts';
import { KAFKA_SETTINGS } from '../../schema/kafka/index.ts';
import { compareLedger, type Result } from './compare.ts';
import type { Stored } from './device.ts';
import { ALSO, progressText, reportLines } from './report.ts';
import type { readTopics } from './topic.ts';

const FLAGS = {
  ledger: { type: 'text', help: 'file that npm run simulator -- --ledger has written' },
  from: { type: 'text', help: "ISO 8601 or epoch ms; default the ledger's first sample" },
  kafka: {
    type: 'switch',
    help: 'compare with the topics of STREAM_KAFKA, up to their watermark, instead of the database',
  },
  to: { type: 'text', help: 'the first instant that does not count; default after the last sample' },
} satisfies Record<string, Flag>;

const COMMAND = 'npm run compare --';

const LINE: CommandLine<typeof FLAGS> = {
  command: COMMAND,
  help: "Compares a simulator's ledger with the database, sample by sample and in both directions.",
  examples: [
    `${COMMAND} --ledger fleet.ledger`,
    `${COMMAND} --ledger fleet.ledger --kafka`,
    `${COMMAND} --ledger fleet.ledger --from 2026-11-21T00:00:00Z`,
  ],
  flags: FLAGS,
  settings: [...DATABASE_SETTINGS, ...namedSettings(KAFKA_SETTINGS, ['STREAM_KAFKA'])],
};

/** @returns `from` and `to` in epoch ms @throws `usage` */
function readFlags(argv: string[]): { ledger: string; kafka: boolean; from?: number; to?: number } {
  const { ledger, kafka, from, to } = parseFlags(LINE, argv);
  const problems = [];
  if (ledger === undefined) problems.push('--ledger is needed');
  const range = { from: readTime(from), to: readTime(to) };
  for (const [name, time] of Object.entries(range)) {
    if (time === null) problems.push(`--${name} is a time such as 2026-11-21T00:00:00Z`);
  }
  if (problems.length > 0) throw usageError(COMMAND, problems);
  return {
    ledger: String(ledger),
    kafka: Boolean(kafka),
    from: range.from ?? undefined,
    to: range.to ?? undefined,
  };
}

const readTime = (text: string | undefined): number | null | undefined =>
  text === undefined ? undefined : parseTime(text);

type Settings = Pick<Config, 'cql' | 'retention' | 'of'>;

export interface CommandDeps {
  readSettings: () => Settings;
  /** closed at the end */
  openStore: (settings: Settings) => Promise<Stored & { close: () => Promise<unknown> }>;
  readTopics: typeof readTopics;
  print: (text: string) => void;
  statusLine: { update: (text: string) => void; clear: () => void };
}

/**
 * Compares a simulator's ledger with the database or Kafka in both directions, sample by sample.
 * @param argv without node and script
 * @throws `failed`: ledger and store differ, or there is nothing to compare; `usage`, `help`, `bad_settings`, `unavailable`
 */
export async function compareCommand(argv: string[], deps: CommandDeps) {
  const { ledger, kafka, from, to } = readFlags(argv);
  const settings = deps.readSettings();
  try {
    const compare = kafka ? compareWithTopic : compareWithDatabase;
    const result = await compare(settings, ledger, { from, to }, deps);
    deps.statusLine.clear();
    for (const line of reportLines(result, kafka ? ALSO.kafka : ALSO.database)) deps.print(line);
    // A comparison without samples must not look like a passed comparison.
    if (result.acknowledged === 0)
      throw new MillraceError('failed', 'Nothing in this ledger is acknowledged.');
    if (!result.agree)
      throw new MillraceError('failed', `The ledger and ${kafka ? 'Kafka' : 'the database'} differ.`);
  } finally {
    deps.statusLine.clear();
  }
}

type Range = { from?: number | undefined; to?: number | undefined };

async function compareWithDatabase(
  settings: Settings,
  ledgerPath: string,
  range: Range,
  { openStore, statusLine }: CommandDeps,
): Promise<Result> {
  const store = await openStore(settings);
  try {
    return await compareLedger({
      ledgerPath,
      store,
      groups: settings.retention.latestGroups,
      range,
      onProgress: (progress) => statusLine.update(progressText(progress)),
    });
  } finally {
    await store.close();
  }
}

async function compareWithTopic(
  settings: Settings,
  ledgerPath: string,
  { from, to }: Range,
  { readTopics, statusLine }: CommandDeps,
): Promise<Result> {
  const stream = settings.of(KAFKA_SETTINGS);
  if (!stream.kafka) throw new MillraceError('usage', '--kafka needs STREAM_KAFKA.');
  const { topic, until } = await readTopics(stream, (records) =>
    statusLine.update(`Reading Kafka: ${records} records`),
  );
  const end = to ?? until;
  if (end === null) {
    throw new MillraceError('failed', 'There is no watermark of each group yet. --to compares anyway.');
  }
  // A dynamic import: a comparison with the database needs no Kafka client.
  const { compareTopic } = await import('./topic.ts');
  return compareTopic({ ledgerPath, topic, range: { from, to: end } });
}

import { MillraceError } from '../../common/errors.js';
import { parseFlags, usageError } from '../../common/flags.js';
import { DATABASE_SETTINGS } from '../../common/settings/index.js';
import { parseTime } from '../../common/times.js';
import { compareLedger } from './compare.js';
import { ALSO, progressText, reportLines } from './report.js';

/** @import { CommandLine, Flag } from '../../common/flags.js' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Result } from './compare.js' */
/** @import { Stored } from './device.js' */
/** @import { readTopics } from './topic.js' */

/** @satisfies {Record<string, Flag>} */
const FLAGS = {
  ledger: { type: 'text', help: 'file that npm run simulator -- --ledger has written' },
  from: { type: 'text', help: "ISO 8601 or epoch ms; default the ledger's first sample" },
  kafka: {
    type: 'switch',
    help: 'compare with the topics of STREAM_KAFKA, up to their watermark, instead of the database',
  },
  to: { type: 'text', help: 'the first instant that does not count; default after the last sample' },
};

const COMMAND = 'npm run compare --';

/** @type {CommandLine<typeof FLAGS>} */
const LINE = {
  command: COMMAND,
  help: "Compares a simulator's ledger with the database, sample by sample and in both directions.",
  examples: [
    `${COMMAND} --ledger fleet.ledger`,
    `${COMMAND} --ledger fleet.ledger --kafka`,
    `${COMMAND} --ledger fleet.ledger --from 2026-11-21T00:00:00Z`,
  ],
  flags: FLAGS,
  settings: [...DATABASE_SETTINGS, 'STREAM_KAFKA'],
};

/**
 * @param {string[]} argv without node and script
 * @returns {{ ledger: string, kafka: boolean, from?: number, to?: number }} `from` and `to` in epoch ms
 * @throws {MillraceError} `usage`
 */
function readFlags(argv) {
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

/** @param {string | undefined} text @returns {number | null | undefined} epoch ms; null: the text is no time */
const readTime = (text) => (text === undefined ? undefined : parseTime(text));

/** @typedef {Pick<Config, 'cql' | 'retention' | 'stream'>} Settings */

/**
 * @typedef {object} CommandDeps
 * @property {() => Settings} readSettings
 * @property {(settings: Settings) => Promise<Stored & { close: () => Promise<unknown> }>} openStore the store is closed at the end
 * @property {typeof readTopics} readTopics
 * @property {(text: string) => void} print prints a line of the result
 * @property {{ update: (text: string) => void, clear: () => void }} statusLine
 */

/**
 * Runs `npm run compare`: compares a simulator's ledger with the database or Kafka in both directions, sample by sample.
 *
 * @param {string[]} argv without node and script
 * @param {CommandDeps} deps
 * @throws {MillraceError} `failed`: ledger and store differ, or there is nothing to compare; `usage`, `help`, `bad_settings`,
 *   `unavailable`
 */
export async function compareCommand(argv, deps) {
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

/** @typedef {{ from?: number | undefined, to?: number | undefined }} Range epoch ms */

/** @param {Settings} settings @param {string} ledgerPath @param {Range} range @param {CommandDeps} deps @returns {Promise<Result>} */
async function compareWithDatabase(settings, ledgerPath, range, { openStore, statusLine }) {
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

/** @param {Settings} settings @param {string} ledgerPath @param {Range} range @param {CommandDeps} deps @returns {Promise<Result>} */
async function compareWithTopic({ stream }, ledgerPath, { from, to }, { readTopics, statusLine }) {
  if (!stream.kafka) throw new MillraceError('usage', '--kafka needs STREAM_KAFKA.');
  const { topic, until } = await readTopics(stream, (records) =>
    statusLine.update(`Reading Kafka: ${records} records`),
  );
  const end = to ?? until;
  if (end === null) {
    throw new MillraceError('failed', 'There is no watermark of each group yet. --to compares anyway.');
  }
  // A dynamic import: a comparison with the database needs no Kafka client.
  const { compareTopic } = await import('./topic.js');
  return compareTopic({ ledgerPath, topic, range: { from, to: end } });
}

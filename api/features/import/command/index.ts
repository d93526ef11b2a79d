// cspell:ignore Uhrzeit
import { existsSync } from 'node:fs';
import { runCommand } from '../../../../common/command.ts';
import { readCommandSettings } from '../../../../common/dev-addresses.ts';
import { MillraceError } from '../../../../common/errors.ts';
import { type CommandLine, type Flag, parseLine } from '../../../../common/flags.ts';
import { DATABASE_SETTINGS } from '../../../../common/settings/index.ts';
import { createStatusLine } from '../../../../common/status-line.ts';
import { abortOnStop } from '../../../../common/stop-signal.ts';
import { openDatabase } from '../../../database.ts';
import { createFindNewest, createReading } from '../../../history/reading/index.ts';
import { createIngest } from '../../../ingest/index.ts';
import { createContext, createLogger } from '../../../observability/index.ts';
import { ingestSlots } from '../../index.ts';
import { destinationOf, FILE_OPTIONS, formatOf, parseFileOptions } from '../files.ts';
import { importOne, REFUSED_SUFFIX } from './import-one.ts';

const FILE_FLAGS: Record<string, Flag & { type: 'text' }> = Object.fromEntries(
  Object.entries(FILE_OPTIONS).map(([option, field]) => [
    option.replaceAll('_', '-'),
    { type: 'text', help: helpOf(field.meta()?.description ?? ''), group: 'How the file is written:' },
  ]),
);

function helpOf(description: string): string {
  const text = description.replace(/\.$/, '');
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

const FLAGS = {
  device: { type: 'text', help: 'the device of all rows, if the file does not name it' },
  'dry-run': { type: 'switch', help: 'shows the first samples as they will be stored, and stores nothing' },
  replace: { type: 'switch', help: 'replaces what is stored for the times of the file' },
  restart: { type: 'switch', help: 'begins at the first row, also where an earlier run was stopped' },
  ...FILE_FLAGS,
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run import --',
  help: 'Stores measurements of CSV, NDJSON and Parquet files at their original times. The same file twice changes nothing.',
  examples: [
    'npm run import -- old.csv --device old-logger --dry-run',
    'npm run import -- old.csv --device old-logger',
    'npm run import -- alt.csv --device logger-7 --time Zeit --time-format day-first --zone Europe/Berlin --decimal comma',
    'npm run import -- 2025/*.parquet',
  ],
  flags: FLAGS,
  settings: [...DATABASE_SETTINGS, 'AUTO_REGISTER', 'HISTORY_DAYS'],
  words: { usage: 'FILE…', rule: 'one file or more', least: 1, most: Number.POSITIVE_INFINITY },
};

/**
 * With `*.csv`, a shell lists this file and the path that it belongs to. It must not be imported: the import of the other path replaces it.
 */
const isRefusedFile = (paths: string[], path: string) =>
  path.endsWith(REFUSED_SUFFIX) && paths.includes(path.slice(0, -REFUSED_SUFFIX.length));

// npm run import: it writes to the database with the settings of npm start, as an additional ingest process.
await runCommand(async () => {
  const { flags, words: paths } = parseLine(LINE, process.argv.slice(2));
  const fileFlags = Object.entries(flags).filter(([flag]) => flag in FILE_FLAGS);
  const options = parseFileOptions(
    Object.fromEntries(
      fileFlags.flatMap(([flag, text]) =>
        text === undefined ? [] : [[flag.replaceAll('-', '_'), String(text)]],
      ),
    ),
  );
  const files = paths
    .filter((path) => !isRefusedFile(paths, path))
    .map((path) => ({ path, format: formatOf(path) }));
  for (const { path } of files) {
    if (!existsSync(path)) throw new MillraceError('usage', `${path} does not exist.`);
  }
  const config = readCommandSettings('database');
  const statusLine = createStatusLine(process.stderr);
  const signal = abortOnStop();
  const context = createContext({ config, version: '', logger: createLogger('silent') });
  const slots = ingestSlots(context.config);
  const database = await openDatabase(context, slots);
  const { store } = database;
  const ingest = createIngest(context, { ...database, ...slots });
  const corrections = ingest.corrections(createFindNewest(createReading(store), context));
  const destination = destinationOf(store, ingest, corrections);
  try {
    await ingest.start();
    let refused = 0;
    for (const file of files) {
      refused += await importOne(destination, file, {
        flags,
        options,
        cql: config.cql,
        statusLine,
        signal,
      });
    }
    if (refused > 0)
      throw new MillraceError(
        'failed',
        flags['dry-run']
          ? 'Some lines would not be stored.'
          : 'Some lines are not stored. The files above list them.',
      );
  } finally {
    statusLine.clear();
    ingest.abort();
    await store.close();
  }
});

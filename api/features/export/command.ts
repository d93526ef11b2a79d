import { runCommand } from '../../../common/command.ts';
import { readCommandSettings } from '../../../common/dev-addresses.ts';
import { type CommandLine, type Flag, parseFlags, usageError } from '../../../common/flags.ts';
import type { Config } from '../../../common/settings/config.ts';
import { DATABASE_SETTINGS } from '../../../common/settings/index.ts';
import { createStatusLine } from '../../../common/status-line.ts';
import { abortOnStop } from '../../../common/stop-signal.ts';
import { parseMoment } from '../../../common/times.ts';
import { identifyDevice } from '../../../schema/ids.ts';
import { DAY_MS } from '../../../schema/rules.ts';
import { createReading } from '../../history/reading/index.ts';
import { connectStore } from '../../store/index.ts';
import type { SensorSelection } from '../shared/columns/sensors.ts';
import { writeDataset } from './dataset.ts';

const FLAGS = {
  out: { type: 'text', help: 'the directory of the data set; files of the same days are replaced' },
  site: { type: 'text', help: 'only sensors of this site' },
  type: { type: 'text', help: 'only sensors of this type' },
  device: { type: 'text', help: 'only sensors of this device, by id or name' },
  from: { type: 'text', help: 'the first day, by a time in it: ISO 8601 or 30d; default all of history' },
  to: { type: 'text', help: 'only days that begin before this time; default after the newest' },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run export --',
  help: 'Writes samples as Parquet files, one for each site and whole UTC day: DIR/site=NAME/day=2026-11-21/part-0.parquet.',
  examples: ['npm run export -- --out data', 'npm run export -- --out data --site berlin --from 30d'],
  flags: FLAGS,
  settings: DATABASE_SETTINGS,
};

// npm run export: it reads the database with the settings of npm start, so it also works while no other process runs.
await runCommand(async () => {
  const { out: directory, ...given } = parseFlags(LINE, process.argv.slice(2));
  if (directory === undefined) throw usageError(LINE.command, ['--out must name a directory']);
  const selection = readSelection(given);
  const config = readCommandSettings('database');
  const range = readRange(given, config, Date.now());
  const statusLine = createStatusLine(process.stderr);
  const signal = abortOnStop();
  const store = await connectStore({
    cql: config.cql,
    retention: config.retention,
    observe: () => {},
    onStaleIndex: () => {},
  });
  try {
    const { files, samples, bytes } = await writeDataset(
      { store, reading: createReading(store), groups: config.retention.latestGroups },
      {
        directory,
        selection,
        range,
        oldest: () => oldestAt(config, Date.now()),
        signal,
        onFile: (progress) => statusLine.update(`${progress.samples} samples written; ${progress.path}`),
      },
    );
    statusLine.clear();
    console.log(`${samples} samples in ${files} files, ${bytes} bytes: ${directory}`);
  } finally {
    statusLine.clear();
    await store.close();
  }
});

/** @throws `usage` */
function readSelection({ site, type, device: ref }: Record<string, string | undefined>): SensorSelection {
  if (ref === undefined) return { site, type };
  const device = identifyDevice(ref);
  if (!device) throw usageError(LINE.command, ['--device is the id or the name of a device']);
  return { site, type, device };
}

/** @throws `usage` */
function readRange(given: Record<string, string | undefined>, config: Config, now: number) {
  const [from, to] = [parseMoment(given['from'], now), parseMoment(given['to'], now)];
  const problems = [];
  if (from === null) problems.push('--from is ISO 8601, or a duration such as 30d');
  if (to === null) problems.push('--to is ISO 8601, or a duration such as 30d');
  if (problems.length > 0) throw usageError(LINE.command, problems);
  return {
    from: Math.max(from ?? 0, oldestAt(config, now)),
    to: Math.min(to ?? Number.POSITIVE_INFINITY, now + config.ingest.maxClockSkewMs),
  };
}

/** Retention removes samples before this time, in epoch ms. */
function oldestAt({ retention }: Config, now: number): number {
  return now - retention.historyDays * DAY_MS;
}

import {
  createWriteStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { MillraceError } from '../../../../common/errors.ts';
import type { Config } from '../../../../common/settings/config.ts';
import type { StatusLine } from '../../../../common/status-line.ts';
import { type Destination, importFile } from '../files.ts';
import type { MergedLine, Progress, RefusedLine, StoredRow } from '../importer.ts';
import type { FileOptions } from '../options.ts';
import { withFlags } from './flag-text.ts';
import { proposalLines, proposeFor, siteOfPath } from './proposal.ts';

/** The file of refused lines has the name of the imported file with this suffix. */
export const REFUSED_SUFFIX = '.refused.csv';

/** Returns the number of refused samples and lines. @throws `failed` after a stop */
export async function importOne(
  destination: Destination,
  file: Parameters<typeof importFile>[1],
  {
    flags,
    options,
    cql,
    statusLine,
    signal,
  }: {
    flags: {
      device: string | undefined;
      'dry-run': boolean | undefined;
      replace: boolean | undefined;
      restart: boolean | undefined;
    };
    options: FileOptions;
    cql: Config['cql'];
    statusLine: StatusLine;
    signal: AbortSignal;
  },
): Promise<number> {
  const { path } = file;
  const dryRun = flags['dry-run'] === true;
  const replacing = flags.replace ? { by: 'npm run import', reason: path } : null;
  const state = createState(path, {
    device: flags.device ?? null,
    options,
    replaces: replacing !== null,
    cql,
  });
  const skip = dryRun || flags.restart ? 0 : state.read();
  const refusals = createRefusedFile(dryRun ? null : `${path}${REFUSED_SUFFIX}`, skip > 0);
  if (skip > 0) statusLine.print(`${path}: continues after row ${skip}`);
  const began = performance.now();
  const proposed = () =>
    proposalLines(proposeFor(file), {
      path,
      given: { device: flags.device, ...options },
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
  const site = siteOfPath(path);
  const run = {
    ...(site !== null && { site }),
    ...options,
    device: flags.device,
    skip,
    dryRun,
    replacing,
    signal,
    onRefused: refusals.add,
    onProgress: (progress: Progress) => {
      if (!dryRun) state.write(progress.rows);
      statusLine.update(`${path}: ${progressText(progress, began)}`);
    },
  };
  const { progress, first, mergedLines } = await importFile(destination, file, run).catch((error) => {
    statusLine.clear();
    if (!(error instanceof MillraceError) || error.code !== 'bad_file') throw error;
    throw new MillraceError('bad_file', [`${path}: ${withFlags(error.message)}`, ...proposed()].join('\n'), {
      cause: error,
    });
  });
  statusLine.clear();
  if (dryRun) for (const line of shownRows(first)) console.log(line);
  const reasons = await refusals.end();
  for (const line of reasons) console.log(line);
  for (const line of mergedText(mergedLines)) console.log(line);
  const verb = dryRun ? 'would be stored' : 'stored';
  const merged = progress.merged > 0 ? `, ${progress.merged} merged into another of the same time` : '';
  console.log(
    `${path}: ${progress.rows} rows, ${progress.samples} samples ${verb}${merged}, ${progress.refused} refused`,
  );
  if (dryRun || progress.samples === 0) for (const line of proposed()) console.log(line);
  if (signal.aborted) throw new MillraceError('failed', 'Stopped. The same command continues.');
  if (!dryRun) state.remove();
  return progress.refused;
}

const progressText = ({ rows, samples, refused }: Progress, began: number) =>
  `${rows} rows, ${samples} samples, ${refused} refused, ${Math.round((samples / (performance.now() - began)) * 1000)} samples/s`;

const shownRows = (rows: StoredRow[]) =>
  rows.map(({ line, device, sensor, ts, local, value, type, unit, site }) =>
    [
      `line ${line}`,
      ts,
      ...(local ? [`(${local})`] : []),
      device,
      sensor,
      value,
      unit ?? '',
      type ?? '',
      site ?? '',
    ]
      .join('  ')
      .trimEnd(),
  );

const mergedText = (lines: MergedLine[]) =>
  lines
    .slice(0, MAX_SHOWN)
    .map((merged) => `line ${merged.line}: has the time and sensor of line ${merged.same_as}`);

/**
 * The number of committed rows is valid only for the same size and modification time of the file, the same options, and the same database.
 */
function createState(
  path: string,
  {
    device,
    options,
    replaces,
    cql,
  }: { device: string | null; options: FileOptions; replaces: boolean; cql: Config['cql'] },
) {
  const place = `${path}.import.json`;
  const { size, mtimeMs } = statSync(path);
  const { keyspace, contactPoints, localPort } = cql;
  const target = { device, keyspace, contactPoints: contactPoints ?? [`127.0.0.1:${localPort}`] };
  const subject = {
    size,
    mtimeMs,
    ...target,
    ...(Object.keys(options).length > 0 && { options }),
    ...(replaces && { replaces }),
  };
  return {
    read(): number {
      try {
        const { rows, ...known } = JSON.parse(readFileSync(place, 'utf8'));
        return Number.isInteger(rows) && isDeepStrictEqual(known, subject) ? rows : 0;
      } catch {
        return 0; // There is no valid state. Rows that are imported again change nothing.
      }
    },
    write(rows: number) {
      writeFileSync(`${place}.new`, `${JSON.stringify({ ...subject, rows })}\n`);
      renameSync(`${place}.new`, place);
    },
    remove: () => rmSync(place, { force: true }),
  };
}

/** Limit of refused lines that are shown if no file collects them. */
const MAX_SHOWN = 20;

/**
 * The first refused line creates the file. With `path` null the lines are shown instead. `continues`: an earlier import may have begun the
 * file.
 */
function createRefusedFile(path: string | null, continues: boolean) {
  // An import that begins with the first row makes the refused lines of an earlier import out of date.
  if (path !== null && !continues) rmSync(path, { force: true });
  let file: ReturnType<typeof createWriteStream> | undefined;
  const shown: string[] = [];
  return {
    add({ line, code, rule: text }: RefusedLine) {
      const rule = withFlags(text);
      if (path === null) {
        if (shown.length < MAX_SHOWN) shown.push(`line ${line}: ${code}: ${rule}`);
        return;
      }
      if (!file) {
        const isNew = !existsSync(path);
        file = createWriteStream(path, { flags: 'a' });
        if (isNew) file.write('line,code,rule\n');
      }
      file.write(`${line},${code},"${rule.replaceAll('"', '""')}"\n`);
    },
    async end(): Promise<string[]> {
      if (!file) return shown;
      await new Promise((resolve) => file?.end(() => resolve(undefined)));
      return [`The refused lines are in ${path}`];
    },
  };
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { parse } from 'csv-parse';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { charsetOf, decodeText } from '../../../../common/encodings.ts';
import { MillraceError, messageOf } from '../../../../common/errors.ts';
import { bucketOf } from '../../../../schema/rules.ts';
import type { Operation } from '../../../http/contract/operation.ts';
import { audit, bodyOf, json, readQuery } from '../../../http/index.ts';
import type { Route } from '../../../http/route.ts';
import { sendTable } from '../../shared/files/index.ts';
import { LINE_COLUMNS, type LineResult, LinesPlan, type TreeLine, treeLines } from '../tree/index.ts';
import { SCHEMAS } from './schemas.ts';
import { type Deps, editorOf } from './shared.ts';

/** About 200,000 lines. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Lines that are planned or stored at a time. In between, other requests can run. */
const LINES_AT_ONCE = 2000;

const MAX_LISTED = 1000;

const IMPORT = {
  dry_run: z.enum(['true', 'false'], 'true or false').default('false').meta({
    description: 'With `true` the API stores nothing, and answers with what the lines would change.',
  }),
};

const getTree =
  ({ tree, http: { limits } }: Deps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const columns = [...LINE_COLUMNS];
    const read = () => slicesOf(treeLines(tree));
    await sendTable(req, res, { limit: limits.exports, type: 'text/csv', name: 'assets', columns, read });
  };

const postTree =
  ({ log, context: { clock, logger } }: Deps): RequestHandler =>
  async (req, res) => {
    const isDryRun = readQuery(req, IMPORT).dry_run === 'true';
    const body = bodyOf(req, res, MAX_BYTES, { compressed: true });
    if (!req.is('text/csv')) throw new MillraceError('unknown_format', 'Send text/csv.');
    const text = decodeText(await body.read(), charsetOf(req.headers['content-type']));
    const hour = bucketOf(clock());
    const results: LineResult[] = [];
    await log.refresh();
    const whole = isDryRun ? new LinesPlan(log.tree, hour) : null;
    for await (const lines of slicesOf(readLines(text))) {
      if (whole) results.push(...lines.map((line) => whole.add(line)));
      else results.push(...(await storeLines(log, editorOf(res), lines, hour)));
    }
    if (!isDryRun) audit(logger, res, 'assets were imported', `lines: ${results.length}`);
    res.json(reportOf(results, isDryRun));
  };

/** @returns the results of the first plan, because a plan after a conflict finds the changes of this import that are already stored */
async function storeLines(log: Deps['log'], editor: string, lines: TreeLine[], hour: number) {
  let results: LineResult[] | undefined;
  await log.edit(editor, (tree) => {
    const plan = new LinesPlan(tree, hour);
    const planned = lines.map((line) => plan.add(line));
    results ??= planned;
    return plan.changes;
  });
  return results ?? [];
}

/** @throws `malformed` */
async function* readLines(text: string): AsyncGenerator<TreeLine, void> {
  const delimiter = /^[^,\r\n]*;/.test(text) ? ';' : ',';
  const options = {
    delimiter,
    bom: true,
    info: true,
    trim: true,
    skip_empty_lines: true,
    relax_column_count: true,
  };
  let header: string[] | null = null;
  try {
    for await (const { record, info } of parse(text, options) as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>) {
      if (header) yield toLine(header, record, info.lines);
      else header = checkHeader(record);
    }
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    throw new MillraceError('malformed', `The file is not valid CSV: ${messageOf(error)}`, { cause: error });
  }
  if (!header) throw new MillraceError('malformed', HEADER);
}

const HEADER = `The first line names the columns: ${LINE_COLUMNS.join(', ')}. Only path is needed.`;

function checkHeader(record: string[]): string[] {
  const names = record.map((name) => name.trim().toLowerCase());
  const isKnown = names.every((name) => (LINE_COLUMNS as readonly string[]).includes(name));
  if (!isKnown || !names.includes('path') || new Set(names).size < names.length)
    throw new MillraceError('malformed', HEADER);
  return names;
}

function toLine(header: string[], record: string[], line: number): TreeLine {
  const cells = Object.fromEntries(header.map((name, index) => [name, plainText(record[index] ?? '')]));
  const { path = '', level = '', device = '', sensor = '' } = cells;
  return { line, path, level, device, sensor };
}

/** An exported text that a spreadsheet would evaluate as a formula has an apostrophe in front. */
const plainText = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell);

async function* slicesOf<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T[], void> {
  let slice: T[] = [];
  for await (const item of items) {
    slice.push(item);
    if (slice.length < LINES_AT_ONCE) continue;
    yield slice;
    await nextTurn();
    slice = [];
  }
  yield slice;
}

function reportOf(results: LineResult[], isDryRun: boolean) {
  const count = (outcome: LineResult['outcome']) =>
    results.filter((result) => result.outcome === outcome).length;
  return {
    dry_run: isDryRun,
    created: count('created'),
    placed: count('placed'),
    unchanged: count('unchanged'),
    refused: count('refused'),
    lines: results.filter(({ outcome }) => outcome !== 'unchanged').slice(0, MAX_LISTED),
  };
}

const exportTree: Operation = {
  id: 'exportAssetTree',
  tag: 'assets',
  scope: 'read',
  summary: 'The whole tree as CSV',
  description:
    'Each asset has a line, then its devices and sensors, then its children. `POST /asset-tree` reads this file.',
  answers: {
    200: {
      'text/csv': {
        text: 'Columns path, level, device and sensor.',
        example:
          'path,level,device,sensor\nPlant 1,site,,\nPlant 1/Hall 2,area,,\nPlant 1/Hall 2,,press-7,\n',
      },
    },
  },
  problems: ['bad_parameter', 'busy'],
};

const importTree: Operation = {
  id: 'importAssetTree',
  tag: 'assets',
  scope: 'admin',
  summary: 'Creates assets, and places devices and sensors, by a CSV file',
  description: `A line without a device is an asset: it is created if it is missing, and so are its ancestors. The default of a level is the one below the parent. A line
with a device places the device, or with a sensor only the sensor. A first place is valid for all times, a later one from the present hour on. A line removes nothing.

The answer lists refused lines. The others are stored. After a failure send the file again: lines that are stored already change nothing.`,
  query: IMPORT,
  body: {
    'text/csv': {
      text: 'The first line names the columns. Only `path` is needed.',
      example: 'path,level,device,sensor\nPlant 1,site,,\nPlant 1/Hall 2,area,,\nPlant 1/Hall 2,,press-7,\n',
    },
  },
  answers: { 200: json(SCHEMAS.TreeReport) },
  problems: ['bad_parameter', 'malformed', 'too_large', 'unknown_format', 'unavailable'],
};

export const csvRoutes: Array<Route<Deps>> = [
  { method: 'get', path: '/api/v1/asset-tree', operation: exportTree, handler: getTree },
  { method: 'post', path: '/api/v1/asset-tree', operation: importTree, handler: postTree },
];

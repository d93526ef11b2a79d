import type { RequestHandler } from 'express';
import { z } from 'zod';
import { parseDuration } from '../../../common/durations.ts';
import { MillraceError } from '../../../common/errors.ts';
import { isZone } from '../../../common/zones.ts';
import type { Core } from '../../feature.ts';
import type { Grid } from '../../history/reading/grid.ts';
import { binsOf, uniformGrid } from '../../history/reading/index.ts';
import type { Operation } from '../../http/contract/operation.ts';
import {
  abortOnClose,
  badParameter,
  cutRange,
  fields,
  json,
  placeFilterOf,
  queryTargets,
  readQuery,
} from '../../http/index.ts';
import type { ConcurrencyLimit } from '../../http/long-requests.ts';
import type { Route } from '../../http/route.ts';
import { COLUMN_FORMATS } from '../shared/columns/index.ts';
import { fileType, hasColumns, sendEncoded, sendTable } from '../shared/files/index.ts';
import { addGroups, readAligned, selectSensors, splitByPlace } from '../shared/selection/index.ts';
import {
  type AlignedShape,
  columnsOf,
  GROUP_KEYS,
  orderOf,
  sendColumns,
  sendRows,
  tableRows,
  typedColumnsOf,
} from './answers.ts';
import { type CalendarUnit, calendarGrid, mostCalendarBins, NO_BINS, wholeGrid } from './calendar.ts';
import { SCHEMAS } from './schemas.ts';

type Deps = Core & { queries: ConcurrencyLimit };

/**
 * Limits of one answer: sensors, sensors that are read to find them, bins, and cells (sensors times bins). A month of 1,000 sensors by
 * hours is below them.
 */
const MAX_SENSORS = 10_000;
const MAX_READ = 100_000;
const MAX_BINS = 100_000;
const MAX_CELLS = 1_000_000;

const AGGREGATES = ['avg', 'min', 'max', 'count', 'sum', 'first', 'last'] as const;

const FORMATS = ['json', 'rows', 'csv', 'ndjson', 'parquet', 'arrow'] as const;

/** Width of a bin: in ms, or a unit of the calendar. */
export type Step = number | CalendarUnit;

const BAD_STEP = 'a whole number with its unit from 1ms to 3650d, such as 15m or 1h; or day, week or month';
const STEP = /^\d{1,9}(?:ms|[smhdy])$/;
const MAX_STEP_MS = 3650 * 86_400_000;

const step = z.string().transform((text, context) => {
  if (text === 'day' || text === 'week' || text === 'month') return text as Step;
  const width = STEP.test(text) ? parseDuration(text) : null;
  if (width !== null && width >= 1 && width <= MAX_STEP_MS) return width as Step;
  context.addIssue({ code: 'custom', message: BAD_STEP });
  return z.NEVER;
});

const aggregates = z.string().transform((text, context) => {
  const given = new Set(text.split(','));
  const known = AGGREGATES.filter((aggregate) => given.has(aggregate));
  if (known.length === given.size) return known;
  context.addIssue({ code: 'custom', message: `a list of ${AGGREGATES.join(', ')}, with commas` });
  return z.NEVER;
});

const repeated = (most: number, description: string, example: string) =>
  z
    .union([z.string(), z.array(z.string())], 'a text, which may be repeated')
    .transform((given) => [given].flat())
    .refine((texts) => texts.length <= most, `at most ${most} of them`)
    .optional()
    .meta({
      means: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 128 }, maxItems: most },
      description: `${description} May be repeated, up to ${most} times.`,
      example: [example],
    });

export const QUERY = {
  device: repeated(100, 'Sensors of this device: a UUID in lower case, or a name.', 'my-desk'),
  sensor: repeated(100, 'Sensors with this name or UUID, of any device.', 'temperature'),
  site: fields.name.meta({ description: 'Sensors of this site.' }),
  type: fields.name.meta({ description: 'Sensors of this type.', example: 'temperature' }),
  from: fields.from,
  to: fields.to.meta({
    ...fields.to.meta(),
    description: 'End of the range, not included. Without it the range ends now.',
  }),
  step: step.optional().meta({
    description:
      'The width of a bin, such as `15m` or `1h` (`ms`, `s`, `m`, `h`, `d`, `y`), or `day`, `week` or `month` by the clock of `tz`. Default: one bin for the whole range.',
    example: '1h',
    means: { type: 'string', pattern: '^([0-9]{1,9}(ms|[smhdy])|day|week|month)$' },
  }),
  tz: z.string().refine(isZone, 'a time zone of the IANA database, such as Europe/Berlin').optional().meta({
    description: 'The time zone of the steps `day`, `week` and `month`. Without it they are days of UTC.',
    example: 'Europe/Berlin',
  }),
  aggregate: aggregates.default(['avg']).meta({
    description: `The aggregates of each bin, with commas: ${AGGREGATES.map((name) => `\`${name}\``).join(', ')}.`,
    example: 'avg,min,max',
    means: {
      type: 'string',
      pattern: `^(${AGGREGATES.join('|')})(,(${AGGREGATES.join('|')}))*$`,
    },
  }),
  group: z.enum(['device', 'site', 'type'], 'device, site or type').optional().meta({
    description: 'Adds the sensors of a device, a site or a type together. Default: each by itself.',
  }),
  fill: z.enum(['none', 'previous', 'null'], 'none, previous or null').default('none').meta({
    description:
      'Bins without samples: left out, with the values of the bin before, or with null. Columns have all bins, so there `none` is `null`.',
  }),
  format: z.enum(FORMATS, 'json, rows, csv, ndjson, parquet or arrow').optional().meta({
    description:
      'The format of the answer: columns as JSON, an array of objects as JSON, CSV, NDJSON, a Parquet file or an Arrow IPC stream. It replaces `Accept`, which a link cannot send.',
  }),
};

export const getQuery =
  (deps: Deps): RequestHandler =>
  async (req, res) => {
    const {
      format,
      from,
      to = { ago: 0 },
      step: width,
      tz,
      aggregate,
      fill,
      ...given
    } = readQuery(req, QUERY);
    const places = placeFilterOf(res);
    const { device: devices = [], sensor: sensors = [], site, type } = given;
    const group = places?.isGrouped ? 'place' : (given.group ?? 'sensor');
    if (tz !== undefined && typeof width !== 'string')
      throw badParameter('tz', 'only with step=day, week or month');
    const ordered = aggregate.filter((name) => name === 'first' || name === 'last');
    if (group !== 'sensor' && ordered.length > 0)
      throw badParameter('aggregate', `${ordered.join(' and ')} only without group`);
    const range = cutRange({ from, to }, deps.context);
    const grid = range.from < range.to ? gridOf(range, width, tz) : NO_BINS;
    const shape: AlignedShape = { grid, aggregates: aggregate, fill, group };

    async function* read(signal: AbortSignal) {
      const within = devices.length > 0 ? null : (places?.devices(range) ?? null);
      if (within?.length === 0) return;
      const selection = { devices: within ?? devices, sensors, site, type };
      const found = await selectSensors(deps, selection, {
        limit: MAX_SENSORS,
        maxRead: MAX_READ,
        to: range.to,
        signal,
        // A device may be retired since it was there.
        skipsUnknown: within !== null,
        accepts: ({ deviceId, id }) => !places || places.spansOf(deviceId, id, range).length > 0,
      });
      const selected = places ? splitByPlace(found, places, range) : found;
      checkCells(selected.length, grid.length);
      if (grid.length === 0) return;
      selected.sort(orderOf(group));
      yield* addGroups(readAligned(deps.reading, selected, range, { grid, signal }), GROUP_KEYS[group]);
    }

    const limit = deps.queries;
    const file = fileType(req, format === 'rows' ? 'json' : format);
    res.vary('Accept');
    const table = (signal: AbortSignal) => tableRows(read(signal), shape);
    if (file !== null && hasColumns(file)) {
      const { extension, encodeTable } = COLUMN_FORMATS[file];
      const encode = (signal: AbortSignal) => encodeTable(typedColumnsOf(shape), table(signal));
      return sendEncoded(req, res, { limit, type: file, name: `query.${extension}`, encode });
    }
    if (file !== null)
      return sendTable(req, res, {
        limit,
        type: file,
        name: 'query',
        columns: columnsOf(shape),
        read: table,
      });
    res.once('close', limit.acquire());
    const send = format === 'rows' ? sendRows : sendColumns;
    await abortOnClose(res, (signal) => send(res, read(signal), shape, signal));
  };

/** `range`: epoch ms, not empty. Without `width`, one bin has the whole range. `zone`: for calendar bins. @throws `query_too_large` */
function gridOf(range: { from: number; to: number }, width: Step | undefined, zone: string = 'utc'): Grid {
  if (width === undefined) return wholeGrid(range);
  const bins = typeof width === 'number' ? binsOf(range, width) : mostCalendarBins(range, width);
  if (bins > MAX_BINS) {
    throw new MillraceError(
      'query_too_large',
      `The range has ${bins} bins of this step; ${MAX_BINS} is the limit. Take a longer step or a shorter range.`,
    );
  }
  return typeof width === 'number' ? uniformGrid(range, width) : calendarGrid(range, width, zone);
}

/** @throws `query_too_large` */
function checkCells(sensors: number, bins: number) {
  if (sensors * bins <= MAX_CELLS) return;
  throw new MillraceError(
    'query_too_large',
    `${sensors} sensors times ${bins} bins are more than ${MAX_CELLS}. Take a longer step, a shorter range or fewer sensors.`,
  );
}

export const querySensors: Operation = {
  id: 'query',
  tag: 'measurements',
  scope: 'read',
  targets: queryTargets,
  summary: 'Aggregates of many sensors on the same bins',
  description: `Selects sensors, cuts the range into bins of \`step\`, and answers with exact aggregates of each bin. A sensor must match all conditions.

- Bins of a width begin at whole multiples of it since 1970 in UTC. Bins of \`day\`, \`week\` and \`month\` begin at midnight by the clock of \`tz\`, weeks on Monday.
  The first and the last bin count only samples within the range.
- \`group\` adds sensors together: \`avg\` is that of all samples of the group. \`first\` and \`last\` are of one sensor, so they need no group. \`unit\` is the unit that
  all sensors of the group have, else null.
- \`sum\` and \`avg\` are null if the sum overflows a double.
- \`fill=previous\` repeats values of the bin before within the range. It does not repeat \`count\`.
- A query without \`device\` finds at most ${MAX_READ.toLocaleString('en')} sensors by \`site\` or \`type\`, or in the whole fleet, and \`sensor\` narrows these down.
- One answer has at most ${MAX_SENSORS.toLocaleString('en')} sensors, ${MAX_BINS.toLocaleString('en')} bins, and ${MAX_CELLS.toLocaleString('en')} sensors times bins.

The answer is a stream. If reading fails, the connection breaks. So an answer that ends normally is complete.`,
  query: QUERY,
  answers: {
    200: {
      ...json(SCHEMAS.QueryAnswer),
      'text/csv': {
        text: 'A line of names, then a line for each bin of each sensor. A text that begins with `=`, `+`, `-` or `@` gets an apostrophe in front, so that no spreadsheet runs it.',
        example:
          'ts,device,sensor,unit,avg,max\n2026-11-21T00:00:00.000Z,my-desk,temperature,Cel,21.5,22.25\n',
      },
      'application/x-ndjson': {
        text: 'A line of JSON for each bin of each sensor.',
        example:
          '{"ts":"2026-11-21T00:00:00.000Z","device":"my-desk","sensor":"temperature","unit":"Cel","avg":21.5,"max":22.25}\n',
      },
      'application/vnd.apache.parquet': {
        text: 'A Parquet file with the columns of CSV. `ts` is a timestamp (ms, UTC), `count` a 64-bit integer, each other aggregate a double or null.',
      },
      'application/vnd.apache.arrow.stream': { text: 'The same columns as an Arrow IPC stream.' },
    },
  },
  problems: ['bad_parameter', 'bad_range', 'bad_id', 'not_found', 'query_too_large', 'busy', 'unavailable'],
};

export const routes: Array<Route<Deps>> = [
  { method: 'get', path: '/api/v1/query', operation: querySensors, handler: getQuery },
];

// cspell:ignore Uhrzeit Kanal Einheit Standort
import { z } from 'zod';
import { MillraceError } from '../../../common/errors.ts';
import { isName } from '../../../schema/ids.ts';
import { parseCells } from './dialect.ts';
import { THOUSANDS } from './values.ts';
import { Zone } from './zones.ts';

/** `POST /import` takes these options as query parameters, and `npm run import` as flags. Defaults describe what Millrace itself writes. */

const column = (description: string, example: string) =>
  z.string().min(1, 'the name of a column').max(1000).optional().meta({ description, example });

const columns = (description: string, example: string) =>
  z
    .string()
    .max(100_000)
    .refine((text) => parseCells(text, ',') !== null, 'names of columns, separated by commas')
    .optional()
    .meta({ description, example });

/** An optional parameter; the first value is the default. */
const choice = <T extends string>(values: readonly [T, ...T[]], description: string) =>
  z
    .enum(values, `one of ${values.join(', ')}`)
    .optional()
    .meta({ description, example: values.at(-1) });

const THOUSANDS_NAMES = Object.keys(THOUSANDS) as ['none', 'point', 'comma', 'space', 'apostrophe'];

export const FILE_OPTIONS = {
  sensor: z.string().refine(isName, 'a text of 1 to 128 bytes without control characters').optional().meta({
    description: 'The sensor of all rows, if the file has one column of values and does not name it.',
    example: 'temperature',
  }),
  site: z.string().refine(isName, 'a text of 1 to 128 bytes without control characters').optional().meta({
    description: 'The site of new devices, if the file does not name it.',
    example: 'Hall A',
  }),
  time: columns('The column with the time. Two columns: the date and the time of day.', 'Datum,Uhrzeit'),
  time_format: choice(
    ['iso', 'day-first', 'month-first', 'excel', 's', 'ms', 'us', 'ns'],
    'How times are written: ISO 8601 or epoch milliseconds (`iso`, the default), dates with the day or the month first, day numbers of Excel, or an epoch time in a unit.',
  ),
  zone: z
    .string()
    .refine((text) => Zone.parse(text) !== null, 'a zone such as Europe/Berlin, or an offset such as +01:00')
    .optional()
    .meta({
      description:
        'The zone of times that name none, such as `Europe/Berlin` or `+01:00`. Without it they are UTC.',
      example: 'Europe/Berlin',
    }),
  decimal: choice(['point', 'comma'], 'The decimal sign. Default: `point`.'),
  thousands: choice(THOUSANDS_NAMES, 'The separator of thousands. Default: `none`.'),
  missing: columns('Texts of cells without a value, which are skipped.', '---,n/a'),
  values: columns(
    'The columns with values. Default: all columns that have no other meaning.',
    'Temp,Humidity',
  ),
  units: choice(
    ['none', 'header', 'row'],
    'Where units are: after the names of columns, as in `Temp [°C]` (`header`), or in the row below (`row`). Default: `none`.',
  ),
  device_column: column('The column with the device.', 'Logger'),
  sensor_column: columns('The column with the sensor. Two columns are joined by a point.', 'Kanal'),
  type_column: column('The column with the type of the sensor.', 'Art'),
  unit_column: column('The column with the unit.', 'Einheit'),
  site_column: column('The column with the site.', 'Standort'),
  delimiter: choice(
    ['comma', 'semicolon', 'tab', 'pipe'],
    'The separator of the cells of CSV. Default: the one in the line of names.',
  ),
  header_line: z
    .string()
    .regex(/^\d{1,4}$/, 'a number of a line, or 0')
    .transform(Number)
    .optional()
    .meta({
      description:
        'The line of CSV with the names of columns. 0: there is none, and the columns are `#1`, `#2` and so on. Default: the first line that is no comment.',
      means: { type: 'integer', minimum: 0, maximum: 9999 },
    }),
  comment: z
    .string()
    .min(1, 'a text of 1 to 3 characters')
    .max(3, 'a text of 1 to 3 characters')
    .optional()
    .meta({ description: 'Lines of CSV that begin with this text are skipped.', example: '#' }),
  encoding: choice(
    ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'],
    'The encoding of text. Default: that of the byte order mark, else UTF-8.',
  ),
};

const SCHEMA = z.strictObject(FILE_OPTIONS);

/** A content type may name any charset that the decoder knows. */
export type FileOptions = Omit<z.infer<typeof SCHEMA>, 'encoding'> & { encoding?: string | undefined };

export function parseFileOptions(input: Record<string, string | undefined>): FileOptions {
  const { success, data, error } = SCHEMA.safeParse(input);
  if (success) return data;
  const problems = error.issues.map(
    ({ path, message }) => `--${path.join('.').replaceAll('_', '-')}: ${message}`,
  );
  throw new MillraceError('usage', problems.join('\n'));
}

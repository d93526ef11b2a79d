import { splitUnit } from './dialect.ts';
import type { Proposal, Table } from './proposal.ts';
import { layoutOf } from './rows.ts';
import { isPlausible, parseFileTime, type TimeFormat } from './time-formats.ts';
import { NUMBER_STYLES, type NumberStyle, valueReader } from './values.ts';

// cspell:disable
/** In English, German and French, in lower case. */
const NAMES = {
  device_column: /^(?:device|device_id|ger(?:ä|ae)t|logger|station|appareil|enregistreur)(?:name|[ _-]?id)?$/,
  sensor_column:
    /^(?:sensor|sensor_id|kanal|channel|messstelle|messgr(?:ö|oe)(?:ß|ss)e|parameter|variable|capteur|voie|grandeur|metric|series|entity_id|_field)(?:name)?$/,
  values: /^(?:value|wert|messwert|valeur|mesure|reading|state|_value)$/,
  unit_column: /^(?:unit|units|einheit|unit(?:é|e)|unit_of_measurement)$/,
  site_column: /^(?:site|standort|ort|lieu)$/,
};

const TIME_NAME = /time|zeit|date|datum|heure|horodat|fecha|hora|epoch|unix|^ts$|^_time$|last_changed/i;

/** Columns that number the rows. */
const COUNTER =
  /^(?:|#|nr\.?|no\.?|n°|lfd\.? ?nr\.?|num(?:mer|ber)?|index|row|rec(?:ord)?|scan|zeile|ligne|result|table)$/i;

// cspell:enable

const CLOCK = /^\d{1,2}[:.h]\d\d(?:[:.]\d\d(?:[.,]\d+)?)?\s*(?:[ap]\.?m\.?)?$/i;

/** Share of the cells of a column that must have a form. */
const MOSTLY_SHARE = 0.9;

/** More different texts than this are not proposed as marks of missing values. */
const MAX_MISSING = 5;

/** In ms ahead of the clock. A later date is read in another order. */
const AHEAD_MS = 2 * 86_400_000;

/** Changes `proposal`. */
export function proposeColumns({ names, rows, delimiter }: Table, proposal: Proposal, now: number) {
  const { options, questions } = proposal;
  const columns = names.map((name, index) => ({
    name,
    ref: name === '' ? `#${index + 1}` : name,
    cells: rows.map((row) => row[index] ?? '').filter((cell) => cell !== ''),
  }));
  const times = timeColumns(columns);
  const style = proposeNumbers(
    columns.filter((column) => !times.includes(column)),
    delimiter,
    proposal,
  );
  if (times.length === 0)
    questions.push({
      option: 'time',
      text: 'No column has times. Which one is it?',
      choices: columns.map(({ ref }) => ref),
    });
  else proposeTime(times, rows, names, proposal, now);
  const rest = columns.filter((column) => !times.includes(column));
  const roles = new Map(
    Object.entries(NAMES).flatMap(([option, pattern]) => {
      const column = rest.find(({ name, cells }) => pattern.test(name.toLowerCase()) && cells.length > 0);
      return column ? [[option, column]] : [];
    }),
  );
  const isNumeric = numericTest(style);
  const values = roles.get('values');
  const isLong = roles.has('sensor_column') && values?.cells.some((cell) => isNumeric(cell)) === true;
  if (isLong) for (const [option, { ref }] of roles) options[option] = ref;
  const measured = isLong && values ? [values] : proposeWide(rest, roles, isNumeric, proposal);
  const labels = [...roles].flatMap(([option, column]) => (option === 'values' ? [] : [column]));
  proposeMissing(
    measured.filter((column) => !labels.includes(column)),
    isNumeric,
    options,
  );
  dropDefaults(names, options);
  if (!roles.has('device_column') && !names.some((name) => /^device(?:_id)?$/i.test(name)))
    questions.push({ option: 'device', text: 'Which device measured this?', choices: [] });
}

type Column = { name: string; ref: string; cells: string[] };

/** The column of the time, or the two of date and time of day. */
function timeColumns(columns: Column[]): Column[] {
  const rated = columns
    .map((column) => ({ column, rate: timeRate(column) }))
    .filter(({ rate }) => rate > 0)
    .sort((a, b) => b.rate - a.rate);
  const [best] = rated;
  if (!best) return [];
  const hasClock = best.column.cells.some((cell) => /\d\s*[:h]\s*\d\d|[T ,]\d{1,2}\.\d\d/.test(cell));
  const clock = hasClock
    ? undefined
    : columns.find(({ cells }) => cells.length > 0 && mostly(cells, (cell) => CLOCK.test(cell)));
  return clock && formatsOf(best.column.cells).some((format) => !isNumberFormat(format) || format === 'excel')
    ? [best.column, clock]
    : [best.column];
}

/** 0: the column has no times. */
function timeRate({ name, cells }: Column): number {
  if (cells.length === 0) return 0;
  const isNamed = TIME_NAME.test(name);
  const formats = formatsOf(cells).filter((format) => isNamed || !isNumberFormat(format));
  if (formats.length === 0) return 0;
  return 1 + Number(isNamed) + Number(/^(?:ts|time|_time|timestamp|last_changed)$/i.test(name));
}

const isNumberFormat = (format: TimeFormat) => ['excel', 's', 'ms', 'us', 'ns'].includes(format);

/** Formats that the cells may have, likely ones first. */
function formatsOf(cells: string[]): TimeFormat[] {
  const isNumber = mostly(cells, (cell) => /^\d+(?:[.,]\d+)?$/.test(cell));
  const formats = (
    isNumber ? ['ms', 's', 'us', 'ns', 'excel'] : ['iso', 'day-first', 'month-first']
  ) as TimeFormat[];
  return formats.filter((format) => mostly(cells, (cell) => isPlausible(cell, format)));
}

const mostly = <T>(list: T[], test: (item: T) => boolean) =>
  list.filter(test).length >= MOSTLY_SHARE * list.length;

function proposeTime(
  times: Column[],
  rows: string[][],
  names: string[],
  { options, questions }: Proposal,
  now: number,
) {
  options['time'] = times.map(({ ref }) => quoted(ref)).join(',');
  const indexes = times.map(({ name }) => names.indexOf(name));
  const cells = rows
    .map((row) =>
      indexes
        .map((index) => row[index] ?? '')
        .join(' ')
        .trim(),
    )
    .filter((cell) => cell !== '');
  const formats = formatsOf(cells);
  const format = formats.length > 1 && !formats.includes('iso') ? orderOf(formats, cells, now) : formats[0];
  if (format === undefined) {
    const shown = cells[0] ?? '';
    const readings = (['day-first', 'month-first'] as const).map((each) =>
      new Date(parseFileTime(shown, each)?.ms ?? 0).toUTCString().slice(5, 16),
    );
    questions.push({
      option: 'time_format',
      text: `\`${shown}\` may be ${readings.join(' (day-first) or ')} (month-first).`,
      choices: ['day-first', 'month-first'],
    });
  } else if (format !== 'iso' && format !== 'ms') options['time_format'] = format;
  if (!cells.some((cell) => parseFileTime(cell, format ?? 'day-first')?.local)) return;
  const [, sign, hours = '', minutes = ''] =
    /(?:GMT|UTC)\s*([+-])(\d{1,2}):?(\d\d)/.exec(times[0]?.name ?? '') ?? [];
  if (sign) options['zone'] = `${sign}${hours.padStart(2, '0')}:${minutes}`;
  else
    questions.push({
      option: 'zone',
      text: 'The times name no zone. Which clock do they follow?',
      choices: ['UTC'],
    });
}

function orderOf(formats: TimeFormat[], cells: string[], now: number): TimeFormat | undefined {
  if (formats.some((format) => isNumberFormat(format))) return formats[0];
  if (cells.some((cell) => /[ap]\.?m\.?/i.test(cell) && cell.includes('/'))) return 'month-first';
  if (cells.every((cell) => /^(?:\p{L}+\.?,? )?\d{1,2}\./u.test(cell))) return 'day-first';
  const readings = formats.map((format) => ({
    format,
    times: cells.flatMap((cell) => parseFileTime(cell, format)?.ms ?? []),
  }));
  if (readings.every(({ times }) => times.join() === readings[0]?.times.join())) return formats[0];
  const possible = readings.filter(({ times }) => times.every((time) => time <= now + AHEAD_MS));
  if (possible.length === 1) return possible[0]?.format;
  const ordered = readings.filter(({ times }) => isMonotonic(times) || isMonotonic(times.toReversed()));
  return ordered.length === 1 ? ordered[0]?.format : undefined;
}

const isMonotonic = (times: number[]) =>
  times.every((time, index) => index === 0 || time >= Number(times[index - 1]));

function proposeNumbers(columns: Column[], delimiter: string, { options, questions }: Proposal): NumberStyle {
  const cells = columns
    .flatMap((column) => column.cells)
    .filter((cell) => /^[+\-−]?[\d.,'’ \u00a0\u202f]+(?:e[+-]?\d+)?$/i.test(cell));
  const rated = NUMBER_STYLES.map((style) => {
    const read = valueReader(style);
    const values = cells.map((cell) => read(cell));
    return { style, values: values.join(), count: values.filter((value) => value !== null).length };
  });
  const highestCount = Math.max(...rated.map(({ count }) => count));
  const best = rated.filter(({ count }) => count === highestCount);
  const [first = { style: { decimal: 'point', thousands: 'none' }, values: '' }] = best;
  const style = first.style as NumberStyle;
  const rivals = best.filter(({ values }) => values !== first.values);
  const isUsual = style.decimal === 'point' && style.thousands === 'none';
  if (rivals.length > 0 && (!isUsual || delimiter === ';')) {
    const shown = cells.find(
      (cell) => valueReader(style)(cell) !== valueReader(rivals[0]?.style ?? style)(cell),
    );
    questions.push({
      option: 'decimal',
      text: `\`${shown}\` may have a decimal sign or a separator of thousands.`,
      choices: ['point', 'comma'],
    });
    return style;
  }
  if (style.decimal !== 'point') options['decimal'] = style.decimal;
  if (style.thousands !== 'none') options['thousands'] = style.thousands;
  return style;
}

function numericTest(style: NumberStyle): (cell: string) => boolean {
  const read = valueReader(style);
  return (cell) => read(cell) !== null;
}

function proposeWide(
  rest: Column[],
  roles: Map<string, Column>,
  isNumeric: (cell: string) => boolean,
  { options }: Proposal,
): Column[] {
  for (const option of ['device_column', 'site_column']) {
    const column = roles.get(option);
    if (column && !column.cells.every(isNumeric)) options[option] = column.ref;
  }
  const taken = [options['device_column'], options['site_column']];
  const others = rest.filter(
    ({ ref, name }) => !taken.includes(ref) && name !== '' && !/^(?:device|device_id|site)$/i.test(name),
  );
  const values = others.filter(
    ({ name, cells }) => !COUNTER.test(name) && cells.filter(isNumeric).length >= cells.length / 2,
  );
  if (values.length < others.length && values.length > 0)
    options['values'] = values.map(({ ref }) => quoted(ref)).join(',');
  if (options['units'] === undefined && values.some(({ name }) => splitUnit(name).unit !== null))
    options['units'] = 'header';
  return values;
}

function proposeMissing(
  columns: Column[],
  isNumeric: (cell: string) => boolean,
  options: Proposal['options'],
) {
  const texts = [...new Set(columns.flatMap(({ cells }) => cells.filter((cell) => !isNumeric(cell))))];
  const isShort = texts.every((text) => text.length <= 12 && !/\d/.test(text));
  if (texts.length > 0 && texts.length <= MAX_MISSING && isShort)
    options['missing'] = texts.map(quoted).join(',');
}

/** An option is dropped if the columns have the same roles without it. */
function dropDefaults(names: string[], options: Proposal['options']) {
  const single = ['site_column', 'unit_column', 'device_column', 'sensor_column', 'values', 'time'];
  for (const dropped of [
    ['time', 'sensor_column', 'values'],
    ['sensor_column', 'values'],
    ...single.map((column) => [column]),
  ]) {
    const others = Object.fromEntries(
      Object.entries(options).filter(([option]) => !dropped.includes(option)),
    );
    if (layoutText(names, others) !== layoutText(names, options)) continue;
    for (const option of dropped) delete options[option];
  }
}

function layoutText(names: string[], options: Record<string, string>) {
  try {
    const { roles, wide } = layoutOf(names, { device: '-', ...options });
    // The measurement of InfluxDB stands before the name of its field only without options.
    const { group, ...others } = roles;
    return JSON.stringify([Object.entries(others).sort(), wide]);
  } catch (error) {
    return String(error);
  }
}

/** As a cell of CSV. */
const quoted = (name: string): string =>
  /[",]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;

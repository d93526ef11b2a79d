import { MillraceError } from '../../../common/errors.ts';
import { parseTime } from '../../../common/times.ts';
import { lineName, lineNames } from '../../../schema/sensor-names.ts';
import { parseCells, splitUnit } from './dialect.ts';
import type { FileOptions } from './options.ts';

/** Element i of each column belongs to sample i. */
export interface Rows {
  /** the format has only texts, as CSV; elsewhere a text is no number */
  isText: boolean;
  /** rows from the start of the file to the end of these rows */
  end: number;
  /** counted from 1 */
  lines: ArrayLike<number>;
  device: ArrayLike<unknown>;
  sensor: ArrayLike<unknown>;
  ts: ArrayLike<unknown>;
  value: ArrayLike<unknown>;
  type: ArrayLike<unknown> | null;
  unit: ArrayLike<unknown> | null;
  site: ArrayLike<unknown> | null;
  /** lines without a sample */
  malformed: Array<{ line: number; rule: string }>;
  /** the samples of a line have one time */
  isWide?: boolean;
  /** for refusals; `value` is null if the sensor is the column */
  columns?: { ts: string; value: string | null };
}

type Role = 'ts' | 'clock' | 'device' | 'group' | 'sensor' | 'value' | 'type' | 'unit' | 'site';

/** Common names of columns, in lower case. */
const NAMES: Partial<Record<Role, string[]>> = {
  ts: ['ts', 'time', 'timestamp', 'datetime', 'date'],
  device: ['device', 'device_id'],
  sensor: ['sensor', 'sensor_id'],
  value: ['value'],
  type: ['type'],
  unit: ['unit'],
  site: ['site'],
};

/** Home Assistant, InfluxDB and pandas, for files without a common name of a time. */
const OTHER_PROGRAMS: Array<Partial<Record<Role, string>>> = [
  { ts: 'last_changed', sensor: 'entity_id', value: 'state' },
  { ts: 'last_updated', sensor: 'entity_id', value: 'state' },
  { ts: '_time', group: '_measurement', sensor: '_field', value: '_value' },
  { ts: '__index_level_0__' },
];

export const SAMPLES_AT_ONCE = 20_000;

/** The limit for a file, and for the members of an object. A file with more columns is refused. */
const MAX_COLUMNS = 2000;

/** Limit of names in one error message. */
const MAX_NAMED = 12;

/** The index column of a pandas frame in CSV and Parquet is no sensor. */
const INDEX = /^(?:__index_level_\d+__)?$/;

export interface Layout {
  roles: Partial<Record<Role, string>>;
  /** columns with the values of one sensor each; null: each row has one sample */
  wide: string[] | null;
  /** only sensors whose names differ from the column */
  sensors: Map<string, { name: string; unit: string | null }> | null;
  missing: Set<string> | null;
  /** the file is a table that Millrace wrote for spreadsheets */
  isGuarded: boolean;
}

export type LayoutOptions = FileOptions & { device?: string | undefined };

/** `units` are from the row below the names. @throws `bad_file` */
export function layoutOf(names: string[], options: LayoutOptions, units: string[] | null = null): Layout {
  if (names.length > MAX_COLUMNS)
    throw new MillraceError('bad_file', `There are more than ${MAX_COLUMNS} columns.`);
  const roles = rolesOf(names, options);
  if (roles.ts === undefined) throw new MillraceError('bad_file', noTime(names));
  if (roles.device === undefined && options.device === undefined)
    throw new MillraceError(
      'bad_file',
      'The file has no column named device. Name the device of all rows with `device=…`, or the column with `device_column=…`.',
    );
  const missing = options.missing === undefined ? null : new Set(parseCells(options.missing, ','));
  const isGuarded = ['device', 'device_id', 'sensor', 'sensor_id'].every((name) => names.includes(name));
  if (roles.sensor !== undefined && roles.value !== undefined)
    return { roles, wide: null, sensors: null, missing, isGuarded };
  const { ts, clock, device, site } = roles;
  const wide =
    options.values === undefined
      ? names.filter((name) => !INDEX.test(name) && ![ts, clock, device, site].includes(name))
      : columnsNamed(names, options.values, 'values');
  if (wide.length === 0)
    throw new MillraceError(
      'bad_file',
      'The file has neither the columns sensor and value nor a column for each sensor.',
    );
  if (options.values === undefined) checkWide(roles, wide, options.sensor);
  const rest = { ...(clock && { clock }), ...(device && { device }), ...(site && { site }) };
  return {
    roles: { ts, ...rest },
    wide,
    sensors: sensorsOf(
      wide,
      options,
      units && new Map(names.map((name, index) => [name, units[index] ?? ''])),
    ),
    missing,
    isGuarded,
  };
}

function noTime(names: string[]) {
  const begin = 'The file has no column named ts, time, timestamp, datetime or date.';
  if (names.length < 2)
    return `${begin} The line of names has one cell: \`${names[0] ?? ''}\`. If other lines stand before the names, add \`header_line=…\`.`;
  return `${begin} Its columns are ${listed(names)}. Name the column with the time, for example \`time=${names[0] || '#1'}\`.`;
}

const listed = (names: string[]) =>
  names
    .slice(0, MAX_NAMED)
    .map((name, index) => `\`${name || `#${index + 1}`}\``)
    .join(', ') + (names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '');

/**
 * Finds columns by their exact name, else without regard to case, else by position, such as `#2`. `wanted` may have commas. Throws
 * `bad_file`.
 */
function columnsNamed(names: string[], wanted: string, option: string): string[] {
  const find = (text: string) =>
    names.find((name) => name === text) ??
    names.find((name) => name.toLowerCase() === text.toLowerCase()) ??
    (/^#\d+$/.test(text) ? names[Number(text.slice(1)) - 1] : undefined);
  const whole = find(wanted.trim());
  if (whole !== undefined) return [whole];
  return (parseCells(wanted, ',') ?? []).map((text) => {
    const column = find(text);
    if (column !== undefined) return column;
    throw new MillraceError(
      'bad_file',
      `The file has no column \`${text}\` (\`${option}=…\`). Its columns are ${listed(names)}.`,
    );
  });
}

/** @throws `bad_file` */
function rolesOf(names: string[], options: LayoutOptions): Layout['roles'] {
  const roles = namedRoles(names, options);
  for (const [role, known] of Object.entries(NAMES) as Array<[Role, string[]]>) {
    if (roles[role] !== undefined || (role === 'value' && options.values !== undefined)) continue;
    const [column, other] = names.filter((name) => known.includes(name.toLowerCase()));
    if (role === 'ts' && other !== undefined)
      throw new MillraceError(
        'bad_file',
        `The columns ${column} and ${other} both mean the time of a row. Choose with \`time=${column}\`, or join them with \`time=${column},${other}\`.`,
      );
    if (column !== undefined) roles[role] = column;
  }
  if (roles.ts !== undefined) return roles;
  const program = OTHER_PROGRAMS.find(({ ts }) => names.includes(String(ts)));
  const isWhole = Object.values(program ?? {}).every((name) => names.includes(name));
  return { ...(isWhole ? program : { ...(program?.ts && { ts: program.ts }) }), ...roles };
}

function namedRoles(names: string[], options: LayoutOptions): Layout['roles'] {
  const roles: Layout['roles'] = {};
  const pair = (first: Role, second: Role, option: 'time' | 'sensor_column') => {
    const wanted = options[option];
    if (wanted === undefined) return;
    const [one, two, more] = columnsNamed(names, wanted, option);
    if (more !== undefined)
      throw new MillraceError('bad_file', `\`${option}=…\` names more than two columns.`);
    if (one !== undefined) roles[first] = one;
    if (two !== undefined) roles[second] = two;
  };
  pair('ts', 'clock', 'time');
  pair('sensor', 'group', 'sensor_column');
  if (roles.group !== undefined) [roles.group, roles.sensor] = [String(roles.sensor), roles.group];
  for (const role of ['device', 'type', 'unit', 'site'] as const) {
    const wanted = options[`${role}_column`];
    if (wanted === undefined) continue;
    const [column] = columnsNamed(names, wanted, `${role}_column`);
    if (column !== undefined) roles[role] = column;
  }
  const hasSensor =
    roles.sensor !== undefined || names.some((name) => NAMES.sensor?.includes(name.toLowerCase()));
  if (options.values !== undefined && hasSensor && options.sensor === undefined) {
    const [value, more] = columnsNamed(names, options.values, 'values');
    // Several columns of values with a column of sensors are sensors themselves.
    if (more === undefined && value !== undefined) roles.value = value;
  }
  return roles;
}

/** @throws `bad_file` */
function sensorsOf(
  wide: string[],
  options: LayoutOptions,
  units: Map<string, string> | null,
): Layout['sensors'] {
  if (options.sensor !== undefined && wide.length > 1)
    throw new MillraceError(
      'bad_file',
      `\`sensor=…\` names one sensor, but the file has the columns of values ${listed(wide)}. Choose one with \`values=…\`.`,
    );
  if (options.sensor === undefined && options.units !== 'header' && units === null) return null;
  const parts = wide.map((column) => {
    const { name, unit } = options.units === 'header' ? splitUnit(column) : { name: column, unit: null };
    return { column, name, unit: unit ?? (units?.get(column)?.replace(/^[[(]\s*|\s*[\])]$/g, '') || null) };
  });
  return new Map(
    parts.map(({ column, name, unit }) => {
      // Two columns that differ only in their units stay two sensors.
      const isOnly = parts.filter((part) => part.name === name).length === 1;
      return [column, { name: options.sensor ?? (isOnly ? name : column), unit }];
    }),
  );
}

/**
 * A file with one sample per row must not lack the column of the sensor or of the value. Otherwise each column would
 * count as a sensor, and the values of all sensors would be stored under one name. `only`: the sensor of all rows.
 * @throws `bad_file`
 */
function checkWide({ sensor, value }: Layout['roles'], wide: string[], only: string | undefined) {
  if (sensor !== undefined)
    throw new MillraceError(
      'bad_file',
      `The column ${sensor} needs a column named value. Name the column with the values with \`values=…\`.`,
    );
  if (value !== undefined && wide.length > 1 && only === undefined)
    throw new MillraceError(
      'bad_file',
      `The column ${value} needs a column named sensor. Name it with \`sensor_column=…\`. If ${value} is a sensor itself, list the columns of all sensors with \`values=…\`.`,
    );
}

/** A spreadsheet guard was added to these texts: see `csvCell` in `api/features/shared/files/answers.ts`. */
const GUARDED = /^''*[=+\-@\t\r]/;

const withoutGuard = (name: unknown) =>
  typeof name === 'string' && GUARDED.test(name) ? name.slice(1) : name;

/** As line protocol names measurement and field. */
const fieldName = (group: unknown, sensor: unknown): string =>
  lineName(lineNames(String(group ?? ''), []), String(sensor ?? ''));

export class RowList {
  declare isText: boolean;

  lines: number[] = [];
  device: unknown[] = [];
  sensor: unknown[] = [];
  ts: unknown[] = [];
  value: unknown[] = [];
  type: unknown[] = [];
  unit: unknown[] = [];
  site: unknown[] = [];
  malformed: Rows['malformed'] = [];
  end = 0;
  isWide = false;
  columns: Rows['columns'];
  #device;
  #layout: Layout | undefined;

  /** `device` is for rows that name none. `isText`: see `Rows`. */
  constructor(device: string | undefined, isText: boolean) {
    this.isText = isText;
    this.#device = device;
  }

  add(line: number, layout: Layout, read: (name: string) => unknown) {
    const { roles, wide, sensors, missing } = layout;
    if (layout !== this.#layout) this.#begin(layout);
    const cell = (role: Role) => (roles[role] === undefined ? undefined : read(roles[role]));
    const named = cell('device');
    const device = isEmpty(named) ? this.#device : named;
    const ts = roles.clock === undefined ? cell('ts') : joinTime(cell('ts'), cell('clock'));
    const site = cell('site');
    if (wide === null) {
      const [sensor, value, type, unit] = [cell('sensor'), cell('value'), cell('type'), cell('unit')];
      // A sensor without a sample has a row in a table of latest values.
      if ((isEmpty(value) && isEmpty(ts)) || missing?.has(value as string)) return;
      const name = roles.group === undefined ? sensor : fieldName(cell('group'), sensor);
      if (!layout.isGuarded) return this.#push(line, [device, name, ts, value, site, type, unit]);
      const [deviceName, sensorName, siteName, typeName, unitName] = [device, name, site, type, unit].map(
        withoutGuard,
      );
      return this.#push(line, [deviceName, sensorName, ts, value, siteName, typeName, unitName]);
    }
    for (const column of wide) {
      const value = read(column);
      // An empty cell is skipped, because a device need not measure all sensors at once.
      if (isEmpty(value) || missing?.has(value as string)) continue;
      const known = sensors?.get(column);
      this.#push(line, [
        device,
        known ? known.name : column,
        ts,
        value,
        site,
        null,
        known ? known.unit : null,
      ]);
    }
  }

  #begin(layout: Layout) {
    const { roles, wide } = layout;
    this.#layout = layout;
    this.isWide = wide !== null;
    this.columns = {
      ts: [roles.ts, roles.clock].filter(Boolean).join(','),
      value: wide ? null : String(roles.value),
    };
  }

  #push(line: number, [device, sensor, ts, value, site, type, unit]: unknown[]) {
    this.lines.push(line);
    this.device.push(device);
    this.sensor.push(sensor);
    this.ts.push(ts);
    this.value.push(value);
    this.type.push(type);
    this.unit.push(unit);
    this.site.push(site);
  }
}

const joinTime = (date: unknown, clock: unknown): unknown => (isEmpty(clock) ? date : `${date} ${clock}`);

export const isEmpty = (cell: unknown): boolean => cell === undefined || cell === null || cell === '';

/** Epoch ms; null: the cell is neither ISO 8601 nor epoch ms. */
export function readTime(raw: unknown): number | null {
  if (typeof raw === 'number') return Number.isInteger(raw) ? raw : null;
  if (typeof raw === 'bigint') return Number(raw);
  return typeof raw === 'string' ? parseTime(raw.trim().replace(' ', 'T')) : null;
}

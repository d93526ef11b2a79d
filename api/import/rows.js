import { MillraceError } from '../../common/errors.js';
import { parseTime } from '../../common/times.js';

/**
 * The samples of some rows of a file, column by column. Element i of each column belongs to sample i.
 *
 * @typedef {object} Rows
 * @property {boolean} isText whether the format has only texts, so that a text may be a number
 * @property {number} end number of rows from the start of the file to the end of these rows
 * @property {ArrayLike<number>} lines line number of each sample in the file, counted from 1
 * @property {ArrayLike<unknown>} device
 * @property {ArrayLike<unknown>} sensor
 * @property {ArrayLike<unknown>} ts
 * @property {ArrayLike<unknown>} value
 * @property {ArrayLike<unknown> | null} type
 * @property {ArrayLike<unknown> | null} unit
 * @property {ArrayLike<unknown> | null} site site of the device
 * @property {Array<{ line: number, rule: string }>} malformed lines that have no sample
 */

/** Common names of columns, in lower case. */
const NAMES = {
  ts: ['ts', 'time', 'timestamp', 'datetime', 'date'],
  device: ['device', 'device_id'],
  sensor: ['sensor', 'sensor_id'],
  value: ['value'],
  type: ['type'],
  unit: ['unit'],
  site: ['site'],
};

/** Approximate number of samples in one `Rows` object. */
export const SAMPLES_AT_ONCE = 20_000;

/** Limit of columns in a file, and of members in an object. A file with more columns is refused. */
const MAX_COLUMNS = 2000;

/** Name of the index column of a pandas frame in CSV and Parquet. This column is not read as a sensor. */
const INDEX = /^(?:__index_level_\d+__)?$/;

/** @typedef {keyof typeof NAMES} Role */

/**
 * How the columns of a file are read. `roles`: name of the column of each role; `wide`: names of columns that have the
 * values of one sensor each, or null if each row of the file has one sample.
 *
 * @typedef {{ roles: Partial<Record<Role, string>>, wide: string[] | null }} Layout
 */

/**
 * Finds the role of each column.
 *
 * @param {string[]} names of the columns of a file
 * @param {string | undefined} device the device of all rows, if the file does not name it
 * @returns {Layout}
 * @throws {MillraceError} `bad_file`
 */
export function layoutOf(names, device) {
  if (names.length > MAX_COLUMNS)
    throw new MillraceError('bad_file', `There are more than ${MAX_COLUMNS} columns.`);
  const roles = rolesOf(names);
  if (roles.ts === undefined)
    throw new MillraceError(
      'bad_file',
      'The file has no column named ts, time, timestamp, datetime or date.',
    );
  if (roles.device === undefined && device === undefined)
    throw new MillraceError('bad_file', 'The file has no column named device. Name the device of all rows.');
  if (roles.sensor !== undefined && roles.value !== undefined) return { roles, wide: null };
  const { ts, device: deviceColumn, site } = roles;
  const wide = names.filter((name) => !INDEX.test(name) && ![ts, deviceColumn, site].includes(name));
  if (wide.length === 0)
    throw new MillraceError(
      'bad_file',
      'The file has neither the columns sensor and value nor a column for each sensor.',
    );
  checkWide(roles, wide);
  const rest = { ...(deviceColumn && { device: deviceColumn }), ...(site && { site }) };
  return { roles: { ts, ...rest }, wide };
}

/**
 * @param {string[]} names of columns
 * @returns {Layout['roles']} name of the column of each role
 * @throws {MillraceError} `bad_file`
 */
function rolesOf(names) {
  /** @type {Layout['roles']} */
  const roles = {};
  for (const [role, known] of /** @type {Array<[Role, string[]]>} */ (Object.entries(NAMES))) {
    const [found, other] = names.filter((name) => known.includes(name.toLowerCase()));
    if (role === 'ts' && other !== undefined)
      throw new MillraceError(
        'bad_file',
        `The columns ${found} and ${other} both mean the time of a row. Keep one, or join them into one.`,
      );
    if (found !== undefined) roles[role] = found;
  }
  return roles;
}

/**
 * Refuses a file with one sample per row that lacks the column of the sensor or of the value. Otherwise each column would
 * count as a sensor, and the values of all sensors would be stored under one name.
 *
 * @param {Layout['roles']} roles
 * @param {string[]} wide
 * @throws {MillraceError} `bad_file`
 */
function checkWide({ sensor, value }, wide) {
  if (sensor !== undefined)
    throw new MillraceError('bad_file', `The column ${sensor} needs a column named value.`);
  if (value !== undefined && wide.length > 1)
    throw new MillraceError(
      'bad_file',
      `The column ${value} needs a column named sensor. If ${value} is a sensor itself, rename it.`,
    );
}

/** A `Rows` object to which rows are added one by one. */
export class RowList {
  /** @type {number[]} */
  lines = [];
  /** @type {unknown[]} */
  device = [];
  /** @type {unknown[]} */
  sensor = [];
  /** @type {unknown[]} */
  ts = [];
  /** @type {unknown[]} */
  value = [];
  /** @type {unknown[]} */
  type = [];
  /** @type {unknown[]} */
  unit = [];
  /** @type {unknown[]} */
  site = [];
  /** @type {Rows['malformed']} */
  malformed = [];
  end = 0;
  #device;

  /** @param {string | undefined} device device of rows that name no device @param {boolean} isText */
  constructor(device, isText) {
    this.#device = device;
    this.isText = isText;
  }

  /**
   * Adds the samples of one row.
   *
   * @param {number} line
   * @param {Layout} layout
   * @param {(name: string) => unknown} read returns the cell of a column
   */
  add(line, { roles, wide }, read) {
    const cell = (/** @type {Role} */ role) => (roles[role] === undefined ? undefined : read(roles[role]));
    const named = cell('device');
    const device = isEmpty(named) ? this.#device : named;
    const [ts, site] = [cell('ts'), cell('site')];
    if (wide === null)
      return this.#push(line, [device, cell('sensor'), ts, cell('value'), site, cell('type'), cell('unit')]);
    for (const name of wide) {
      const value = read(name);
      // An empty cell is skipped, because a device need not measure all sensors at once.
      if (!isEmpty(value)) this.#push(line, [device, name, ts, value, site, null, null]);
    }
  }

  /** @param {number} line @param {unknown[]} cells */
  #push(line, [device, sensor, ts, value, site, type, unit]) {
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

/** @param {unknown} cell @returns {boolean} whether the cell has no value */
export const isEmpty = (cell) => cell === undefined || cell === null || cell === '';

/** A decimal number as programs write it. `Number` would also accept an empty text and 0x10. */
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const NOT_FINITE = /^[+-]?(?:nan|inf|infinity)$/i;

/**
 * @param {unknown} raw
 * @param {boolean} [isText] whether the format has only texts, as CSV. Elsewhere a text is no number
 * @returns {number | null} NaN: the number is not finite; null: the cell is not a number
 */
export function readValue(raw, isText = true) {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : Number.NaN;
  if (typeof raw === 'bigint') return Number(raw);
  if (typeof raw !== 'string' || !isText) return null;
  const text = raw.trim();
  if (NUMBER.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : Number.NaN;
  }
  return NOT_FINITE.test(text) ? Number.NaN : null;
}

/** @param {unknown} raw @returns {number | null} epoch ms; null: the cell is not a time */
export function readTime(raw) {
  if (typeof raw === 'number') return Number.isInteger(raw) ? raw : null;
  if (typeof raw === 'bigint') return Number(raw);
  return typeof raw === 'string' ? parseTime(raw.trim().replace(' ', 'T')) : null;
}

import { formatTime } from '../../common/times.js';
import { sendPieces } from './json-pieces.js';

/** @import { Response } from 'express' */
/** @import { Kind, TableColumn } from '../export/table.js' */
/** @import { Aggregate, Bins } from '../history/reading/bins.js' */
/** @import { Grid } from '../history/reading/grid.js' */
/** @import { Group } from '../history/reading/aligned.js' */
/** @import { SelectedSensor } from './sensor-selection.js' */
/** @import { Cell, TableRow } from './tables.js' */

/** How bins without samples are filled. @typedef {'none' | 'previous' | 'null'} Fill */
/**
 * The key by which the sensors of an answer are added up; `sensor`: no addition.
 *
 * @typedef {'sensor' | 'device' | 'site' | 'type'} Grouping
 */

/**
 * The shape of an answer with aligned series: all series have the same bins.
 *
 * @typedef {object} AlignedShape
 * @property {Grid} grid
 * @property {Aggregate[]} aggregates
 * @property {Fill} fill
 * @property {Grouping} group
 */

/** @param {SelectedSensor} sensor */
const deviceOf = ({ row }) => row.deviceName ?? row.deviceId;

/** @type {Record<Grouping, (sensor: SelectedSensor) => string>} */
export const GROUP_KEYS = {
  sensor: ({ row }) => `${row.deviceId}/${row.id}`,
  device: ({ row }) => row.deviceId,
  site: ({ row }) => row.site ?? '',
  type: ({ row }) => row.type ?? '',
};

/**
 * Returns a comparison that puts the sensors of a group next to each other, then orders by names and ids.
 *
 * @param {Grouping} group
 * @returns {(a: SelectedSensor, b: SelectedSensor) => number}
 */
export const orderOf = (group) => {
  const keyOf = (/** @type {SelectedSensor} */ sensor) => [
    group === 'site' || group === 'type' ? GROUP_KEYS[group](sensor) : '',
    deviceOf(sensor),
    sensor.row.deviceId,
    sensor.row.name ?? '',
    sensor.row.id,
  ];
  return (a, b) => {
    const [keysA, keysB] = [keyOf(a), keyOf(b)];
    const at = keysA.findIndex((key, index) => key !== keysB[index]);
    return at < 0 ? 0 : /** @type {string} */ (keysA[at]) < /** @type {string} */ (keysB[at]) ? -1 : 1;
  };
};

/** The columns that name a series in a table. @type {Record<Grouping, string[]>} */
const LABELS = {
  sensor: ['device', 'sensor', 'unit'],
  device: ['device', 'unit'],
  site: ['site', 'unit'],
  type: ['type', 'unit'],
};

/** @param {AlignedShape} shape @returns {string[]} the names of the columns of a table */
export const columnsOf = ({ group, aggregates }) => ['ts', ...LABELS[group], ...aggregates];

/** @param {AlignedShape} shape @returns {TableColumn[]} the columns of `columnsOf`, with the kinds of their cells */
export const typedColumnsOf = (shape) =>
  columnsOf(shape).map((name) => ({ name, kind: kindOf(name, shape) }));

/** @param {string} name of a column @param {AlignedShape} shape @returns {Kind} */
function kindOf(name, { group }) {
  if (name === 'ts') return 'time';
  if (LABELS[group].includes(name)) return 'text';
  return name === 'count' ? 'count' : 'number';
}

/** @param {SelectedSensor[]} sensors @returns {string | null} the unit of the sensors; null: their units differ */
function unitOf(sensors) {
  const [first, ...others] = sensors.map(({ row }) => row.unit);
  return first !== undefined && others.every((unit) => unit === first) ? first : null;
}

/** @param {SelectedSensor[]} sensors of a group @param {Grouping} group @returns {Record<string, string | null>} */
function labelsOf(sensors, group) {
  const [first] = sensors;
  const { row } = /** @type {SelectedSensor} */ (first);
  /** @type {Record<string, string | null>} */
  const labels = {
    device: row.deviceName ?? row.deviceId,
    sensor: row.name ?? row.id,
    site: row.site,
    type: row.type,
    unit: unitOf(sensors),
  };
  return Object.fromEntries(LABELS[group].map((label) => [label, labels[label] ?? null]));
}

/** @param {Bins} bins @param {AlignedShape} shape @returns {Array<Array<number | null>>} a column for each aggregate */
function columnsIn(bins, { aggregates, fill }) {
  const columns = aggregates.map((aggregate) => bins.column(aggregate));
  if (fill !== 'previous') return columns;
  const counts = bins.column('count');
  for (const [index, column] of columns.entries()) {
    // The fill `previous` does not apply to counts. A copied count would count samples twice.
    if (aggregates[index] === 'count') continue;
    for (let bin = 1; bin < column.length; bin++)
      if (counts[bin] === 0) column[bin] = /** @type {number | null} */ (column[bin - 1]);
  }
  return columns;
}

/**
 * @param {AsyncIterable<Group<SelectedSensor>>} groups
 * @param {AlignedShape} shape
 * @returns {AsyncGenerator<Iterable<TableRow>, void>} the rows of one group after the other, each group in order of time
 */
export async function* tableRows(groups, shape) {
  for await (const { sensors, bins } of groups) yield rowsOf(sensors, bins, shape);
}

/** @param {SelectedSensor[]} sensors @param {Bins} bins @param {AlignedShape} shape @returns {Generator<TableRow, void>} */
function* rowsOf(sensors, bins, shape) {
  const { grid, aggregates, fill, group } = shape;
  const labels = labelsOf(sensors, group);
  const columns = columnsIn(bins, shape);
  const counts = bins.column('count');
  for (let bin = 0; bin < grid.length; bin++) {
    if (fill === 'none' && counts[bin] === 0) continue;
    /** @type {Record<string, Cell>} */
    const row = { ts: formatTime(grid.startOf(bin)), ...labels };
    for (const [index, aggregate] of aggregates.entries()) row[aggregate] = columns[index]?.[bin] ?? null;
    yield row;
  }
}

/**
 * Writes the answer as columns: first the starts of the bins, then a series for each sensor or group.
 *
 * @param {Response} res
 * @param {AsyncIterable<Group<SelectedSensor>>} groups
 * @param {AlignedShape} shape
 * @param {AbortSignal} signal aborts when the client disconnects
 */
export async function sendColumns(res, groups, shape, signal) {
  const { grid, aggregates, group } = shape;
  const times = Array.from({ length: grid.length }, (_, bin) => formatTime(grid.startOf(bin)));
  const begin = `{"times":${JSON.stringify(times)},"series":[`;
  await sendPieces(res, { begin, end: ']}', signal }, pieces());

  async function* pieces() {
    for await (const { sensors, bins } of groups) {
      const columns = columnsIn(bins, shape);
      const values = Object.fromEntries(aggregates.map((aggregate, index) => [aggregate, columns[index]]));
      yield [JSON.stringify({ ...seriesLabels(sensors, group), ...values })];
    }
  }
}

/** @param {SelectedSensor[]} sensors @param {Grouping} group */
function seriesLabels(sensors, group) {
  const [first] = sensors;
  const { row } = /** @type {SelectedSensor} */ (first);
  const unit = unitOf(sensors);
  if (group === 'sensor') {
    const { deviceId, deviceName, id, name, type, site } = row;
    return { device_id: deviceId, device: deviceName, sensor_id: id, sensor: name, type, unit, site };
  }
  const { length } = sensors;
  if (group === 'device') return { device_id: row.deviceId, device: row.deviceName, unit, sensors: length };
  return { [group]: row[group], unit, sensors: length };
}

/**
 * Writes the answer as an array of objects. Each bin of each series is one object.
 *
 * @param {Response} res
 * @param {AsyncIterable<Group<SelectedSensor>>} groups
 * @param {AlignedShape} shape
 * @param {AbortSignal} signal aborts when the client disconnects
 */
export async function sendRows(res, groups, shape, signal) {
  await sendPieces(res, { begin: '{"items":[', end: ']}', signal }, pieces());

  async function* pieces() {
    for await (const rows of tableRows(groups, shape)) yield textsOf(rows);
  }
}

/** @param {Iterable<TableRow>} rows @returns {Generator<string, void>} */
function* textsOf(rows) {
  for (const row of rows) yield JSON.stringify(row);
}

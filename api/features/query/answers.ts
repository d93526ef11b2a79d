import type { Response } from 'express';
import { formatTime } from '../../../common/times.ts';
import type { Aggregate, Bins } from '../../history/reading/bins.ts';
import type { Grid } from '../../history/reading/grid.ts';
import type { ColumnKind, TableColumn } from '../shared/columns/table.ts';
import type { Cell, TableRow } from '../shared/files/answers.ts';
import { sendPieces } from '../shared/files/index.ts';
import type { Group } from '../shared/selection/aligned.ts';
import { byNames } from '../shared/selection/index.ts';
import type { SelectedSensor } from '../shared/selection/sensors.ts';

export type Fill = 'none' | 'previous' | 'null';
/** The sensors of an answer are added up by this key; `sensor`: no addition. */
type Grouping = 'sensor' | 'device' | 'site' | 'type' | 'place';

export interface AlignedShape {
  grid: Grid;
  aggregates: Aggregate[];
  fill: Fill;
  group: Grouping;
}

export const GROUP_KEYS: Record<Grouping, (sensor: SelectedSensor) => string> = {
  sensor: ({ row }) => `${row.deviceId}/${row.id}`,
  device: ({ row }) => row.deviceId,
  site: ({ row }) => row.site ?? '',
  type: ({ row }) => row.type ?? '',
  place: ({ place }) => (place ? `${place.path}\n${place.id}` : ''),
};

/** Puts the sensors of a group next to each other, then orders by names and ids. */
export function orderOf(group: Grouping): (a: SelectedSensor, b: SelectedSensor) => number {
  if (group === 'sensor' || group === 'device') return byNames;
  const keyOf = GROUP_KEYS[group];
  return (a, b) => {
    const [keyA, keyB] = [keyOf(a), keyOf(b)];
    return keyA === keyB ? byNames(a, b) : keyA < keyB ? -1 : 1;
  };
}

/** Columns that name a series in a table. */
const LABELS: Record<Grouping, string[]> = {
  sensor: ['device', 'sensor', 'unit'],
  device: ['device', 'unit'],
  site: ['site', 'unit'],
  type: ['type', 'unit'],
  place: ['place', 'unit'],
};

export const columnsOf = ({ group, aggregates }: AlignedShape): string[] => [
  'ts',
  ...LABELS[group],
  ...aggregates,
];

export const typedColumnsOf = (shape: AlignedShape): TableColumn[] =>
  columnsOf(shape).map((name) => ({ name, kind: kindOf(name, shape) }));

function kindOf(name: string, { group }: AlignedShape): ColumnKind {
  if (name === 'ts') return 'time';
  if (LABELS[group].includes(name)) return 'text';
  return name === 'count' ? 'count' : 'number';
}

function unitOf(sensors: SelectedSensor[]): string | null {
  const [first, ...others] = sensors.map(({ row }) => row.unit);
  return first !== undefined && others.every((unit) => unit === first) ? first : null;
}

function labelsOf(sensors: SelectedSensor[], group: Grouping): Record<string, string | null> {
  const [first] = sensors;
  const { row, place } = first as SelectedSensor;
  const labels: Record<string, string | null> = {
    device: row.deviceName ?? row.deviceId,
    sensor: row.name ?? row.id,
    site: row.site,
    type: row.type,
    place: place?.path ?? null,
    unit: unitOf(sensors),
  };
  return Object.fromEntries(LABELS[group].map((label) => [label, labels[label] ?? null]));
}

function columnsIn(bins: Bins, { aggregates, fill }: AlignedShape): Array<Array<number | null>> {
  const columns = aggregates.map((aggregate) => bins.column(aggregate));
  if (fill !== 'previous') return columns;
  const counts = bins.column('count');
  for (const [index, column] of columns.entries()) {
    // The fill `previous` does not apply to counts. A copied count would count samples twice.
    if (aggregates[index] === 'count') continue;
    for (let bin = 1; bin < column.length; bin++)
      if (counts[bin] === 0) column[bin] = column[bin - 1] as number | null;
  }
  return columns;
}

/** One group after the other, each in order of time. */
export async function* tableRows(
  groups: AsyncIterable<Group<SelectedSensor>>,
  shape: AlignedShape,
): AsyncGenerator<Iterable<TableRow>, void> {
  for await (const { sensors, bins } of groups) yield rowsOf(sensors, bins, shape);
}

function* rowsOf(sensors: SelectedSensor[], bins: Bins, shape: AlignedShape): Generator<TableRow, void> {
  const { grid, aggregates, fill, group } = shape;
  const labels = labelsOf(sensors, group);
  const columns = columnsIn(bins, shape);
  const counts = bins.column('count');
  for (let bin = 0; bin < grid.length; bin++) {
    if (fill === 'none' && counts[bin] === 0) continue;
    const row: Record<string, Cell> = { ts: formatTime(grid.startOf(bin)), ...labels };
    for (const [index, aggregate] of aggregates.entries()) row[aggregate] = columns[index]?.[bin] ?? null;
    yield row;
  }
}

/** First the starts of the bins, then a series for each sensor or group. */
export async function sendColumns(
  res: Response,
  groups: AsyncIterable<Group<SelectedSensor>>,
  shape: AlignedShape,
  signal: AbortSignal,
) {
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

function seriesLabels(sensors: SelectedSensor[], group: Grouping) {
  const [first] = sensors;
  const { row, place } = first as SelectedSensor;
  const unit = unitOf(sensors);
  if (group === 'sensor') {
    const { deviceId, deviceName, id, name, type, site } = row;
    return { device_id: deviceId, device: deviceName, sensor_id: id, sensor: name, type, unit, site };
  }
  const { length } = sensors;
  if (group === 'device') return { device_id: row.deviceId, device: row.deviceName, unit, sensors: length };
  if (group === 'place')
    return { place_id: place?.id ?? null, place: place?.path ?? null, unit, sensors: length };
  return { [group]: row[group], unit, sensors: length };
}

/** An array of objects, one for each bin of each series. */
export async function sendRows(
  res: Response,
  groups: AsyncIterable<Group<SelectedSensor>>,
  shape: AlignedShape,
  signal: AbortSignal,
) {
  await sendPieces(res, { begin: '{"items":[', end: ']}', signal }, pieces());

  async function* pieces() {
    for await (const rows of tableRows(groups, shape)) yield textsOf(rows);
  }
}

function* textsOf(rows: Iterable<TableRow>): Generator<string, void> {
  for (const row of rows) yield JSON.stringify(row);
}

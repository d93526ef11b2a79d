import { expect, test } from '@jest/globals';
import { splitUnit } from '../../../../api/features/import/dialect.ts';
import { proposeOptions } from '../../../../api/features/import/proposal.ts';
import { dryRun } from '../../../support/features/import/dry-run.ts';
import { FIELD_FILES } from '../../../support/features/import/files.ts';

const NOW = Date.UTC(2026, 10, 28);

test.each(FIELD_FILES)(
  'Import proposal: $title: options are proposed, doubts are asked, and the file is read with them',
  async ({ content, format = 'csv', options, asks = [], answers = {}, first, last, samples }) => {
    const proposal = proposeOptions(Buffer.from(content), { format, now: NOW });
    const asked = proposal.questions.map(({ option }) => option).filter((option) => option !== 'device');
    expect({ options: proposal.options, asks: asked.sort() }).toEqual({ options, asks });
    const read = await dryRun(Buffer.from(content), { format, device: 'd', ...proposal.options, ...answers });
    expect(read.refused).toEqual([]);
    const rows = read.first.map(({ ts, sensor, value, unit }) => [ts, sensor, value, unit]);
    expect({ first: rows[0], last: rows.at(-1), samples: read.progress.samples }).toEqual({
      first,
      last,
      samples,
    });
  },
);

const TIMES = ['2026-11-01T10:00:00Z', '2026-11-01T10:01:00Z', '2026-11-01T10:02:00Z'];

/** @param cells of the rows, after the time */
const proposedFor = (names: string, cells: string[]) =>
  proposeOptions(Buffer.from([names, ...cells.map((row, index) => `${TIMES[index]},${row}`)].join('\n')), {
    format: 'csv',
    now: NOW,
  }).options['missing'];

test.each([
  ['ts,temperature,site', ['1,Hall A', '2,Hall A'], undefined],
  ['ts,temperature,Standort', ['1,Hall', '2,Hall'], undefined],
  ['ts,device,temperature', ['old,1', 'old,2'], undefined],
  ['ts,Logger,temperature', ['old,1', 'old,2'], undefined],
  ['ts,temperature,unit', ['1,Cel', '2,Cel'], undefined],
  ['ts,sensor,unit,value', ['a,Cel,1', 'b,%,2'], undefined],
  // Numbers of sensors, with a name among them.
  ['ts,Kanal,temperature', ['1,20', '2,21', 'main,22'], undefined],
  // A name of a text column is part of the name of a value column.
  ['ts,temperature,temp', ['1,warm', '2,warm'], undefined],
  // Columns that have only texts are no values.
  ['ts,door,mode', ['open,auto', 'shut,auto'], undefined],
  ['ts,temperature,site', ['1,Hall A', '---,Hall A', '2,Hall A'], '---'],
  ['ts,sensor,value,site', ['a,1,Hall', 'a,n/a,Hall'], 'n/a'],
])(
  'Import proposal: %s with %j: texts without a value are proposed only from values: %j',
  (names, cells, missing) => {
    expect(proposedFor(names, cells)).toBe(missing);
  },
);

test.each([
  ['Temperatur °C', 'Temperatur', '°C'],
  ['Temp %RH', 'Temp', '%RH'],
  ['Wind km/h', 'Wind', 'km/h'],
  ['Pressure hPa', 'Pressure', 'hPa'],
  ['Temp in °C', 'Temp', '°C'],
  ['Phase A', 'Phase A', null],
  ['Temp min', 'Temp min', null],
  ['°C', '°C', null],
  ['Sensor 1', 'Sensor 1', null],
])('Import: a column is named %p: the sensor is %p with the unit %p', (column, name, unit) => {
  expect(splitUnit(column)).toEqual({ name, unit });
});

// cspell:ignore Messort Kühlhaus Uhrzeit
import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { withFlags } from '../../../../api/features/import/command/flag-text.ts';
import { proposalLines } from '../../../../api/features/import/command/proposal.ts';
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

const FILE = { format: 'csv', now: NOW } as const;
const GERMAN = `Messort;Kühlhaus\n\nDatum;Uhrzeit;Temp 'top' [°C]\n01.11.2026;10:00:00;21,5\n01.11.2026;10:10:00;---\n`;
const PATH = "old files/Anna's logger.csv";

/** @returns words that a shell reads */
const wordsOf = (command: string) =>
  execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');

test.each([
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['UTC', 'Europe/Berlin'],
])(
  'Import command: proposal on a machine in %s: asks with flags, and prints a command that a shell reads as the proposed options',
  (zone, example) => {
    const proposal = proposeOptions(Buffer.from(GERMAN), FILE);
    const lines = proposalLines(proposal, { path: PATH, given: { device: undefined }, zone });
    expect(lines.slice(0, -1)).toEqual([
      `The times name no zone. Which clock do they follow? --zone ${example} or --zone UTC`,
      `Which device measured this? --device 'Anna'\\''s logger'`,
      'Try it, with your answers:',
    ]);
    const words = wordsOf(lines.at(-1) ?? '');
    expect(words.slice(0, 5)).toEqual(['npm', 'run', 'import', '--', PATH]);
    expect(words.at(-1)).toBe('--dry-run');
    const pairs = words
      .slice(5, -1)
      .join('\n')
      .split(/\n?--(?=[a-z])/)
      .slice(1);
    const flags = Object.fromEntries(pairs.map((pair) => pair.split('\n')));
    const options = { ...proposal.options, zone: example, device: "Anna's logger" };
    expect(flags).toEqual(
      Object.fromEntries(Object.entries(options).map(([name, value]) => [name.replaceAll('_', '-'), value])),
    );
  },
);

test('Import command: name of the file begins with a hyphen: the printed command does not take it for a flag', () => {
  const proposal = proposeOptions(Buffer.from(GERMAN), FILE);
  const [command = ''] = proposalLines(proposal, { path: '--x.csv', given: {}, zone: 'UTC' }).slice(-1);
  expect(wordsOf(command).slice(3, 5)).toEqual(['--', './--x.csv']);
});

test('Import command: flags answer all that the first lines show: nothing is proposed', () => {
  const proposal = proposeOptions(Buffer.from(GERMAN), FILE);
  const given = { ...proposal.options, zone: 'UTC', device: 'd' };
  expect(proposalLines(proposal, { path: PATH, given, zone: 'UTC' })).toEqual([]);
});

test('Import command: the first lines have no table: the question names its flag, and no command is printed', () => {
  const proposal = proposeOptions(Buffer.from('text\n'), FILE);
  expect(proposalLines(proposal, { path: 'a.csv', given: {}, zone: 'UTC' })).toEqual([
    'No table was found in the first lines. --header-line …',
  ]);
});

test.each([
  [
    'add `decimal=comma&thousands=point` or `decimal=point`',
    'add `--decimal comma --thousands point` or `--decimal point`',
  ],
  ["to skip such cells, add `missing=it's & = so`", "to skip such cells, add `--missing 'it'\\''s & = so'`"],
  ['Name it with `sensor_column=…`', 'Name it with `--sensor-column …`'],
  ['for example `time=#1`', "for example `--time '#1'`"],
  ['column `time`: `x=1` must be a number', 'column `time`: `x=1` must be a number'],
])('Import command: %s: options are written as flags', (rule, expected) => {
  expect(withFlags(rule)).toBe(expected);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createTimeline } from '../../../simulator/replay/survey.ts';
import { useDirectory } from '../../support/directory.ts';
import { resolveSenml } from '../../support/payloads/senml-resolver.ts';
import { useSimulations } from '../../support/simulator/simulations.ts';

const WEATHER = 'node_modules/vega-datasets/data/seattle-weather-hourly-normals.csv';
const directory = useDirectory('replay');

const context = useSimulations();

function replay(flags: string[]) {
  return context.start(['--broker', context.broker.url, ...flags]);
}

/** Reads the CSV file without the code of the simulator, as an independent check. */
function readWeather() {
  const [header = '', ...lines] = readFileSync(WEATHER, 'utf8').trim().split('\n');
  const names = header.split(',').slice(1);
  return lines.map((line) => {
    const [date, ...cells] = line.split(',');
    return {
      ts: Date.parse(`${date}Z`),
      cells: cells.map((cell, i) => ({ name: names[i], value: Number(cell) })),
    };
  });
}

const line = ({ name, ts, value }: { name: string; ts: number; value: number }) => `${name} ${ts} ${value}`;

test('Simulator replays a CSV file: hourly weather: every cell is delivered once, between birth and offline', async () => {
  const { code, output, summary } = await replay([
    '--replay',
    WEATHER,
    '--speed',
    '60',
    '--device',
    'seattle',
  ]).ended;
  expect(code).toBe(0);
  await context.collector.until(() => context.collector.of('status').length === 2);

  const rows = readWeather();
  const last = Math.max(...rows.map(({ ts }) => ts));
  // The output has the time of the last row.
  const now = Date.parse(/ to (\S+Z)/.exec(output)?.[1] ?? '');
  const timeline = createTimeline({ last, now, speed: 60 });
  const expected = rows.flatMap(({ ts, cells }) =>
    cells.map(({ name = '', value }) => line({ name, ts: timeline(ts), value })),
  );
  const found = context.collector
    .of('measurements', 'seattle')
    .flatMap(({ payload }) => resolveSenml(payload).map(line));
  expect(found.sort()).toEqual(expected.sort());
  expect(summary).toEqual({ made: 26_277, acknowledged: 26_277, dropped: 0, left: 0 });

  const [birth, online] = context.collector.messages;
  expect(birth?.payload).toEqual({
    session: expect.any(Number),
    name: 'seattle',
    sensors: ['pressure', 'temperature', 'wind'].map((name) => ({
      sensor_id: name,
      name,
      type: name,
      interval_ms: 60_000,
    })),
  });
  expect(online?.payload).toEqual({ state: 'online', session: birth?.payload.session });
  expect(context.collector.messages.at(-1)?.payload).toEqual({
    state: 'offline',
    session: birth?.payload.session,
  });
});

test('Simulator replays a CSV file: column names that SenML forbids are sent as plain JSON; cells without a number are reported', async () => {
  const path = join(directory, 'rooms.csv');
  writeFileSync(
    path,
    'time,room 1,note\n2026-01-01 00:00:00,20.5,a\n2026-01-01 00:00:10,,b\n2026-01-01 00:00:20,x,c\n',
  );
  const { code, output } = await replay(['--replay', path]).ended;
  expect(code).toBe(0);
  await context.collector.until(() => context.collector.of('status').length === 2);
  const now = Date.parse(/ to (\S+Z)/.exec(output)?.[1] ?? '');
  expect(context.collector.of('measurements', 'rooms').map(({ payload }) => payload)).toEqual([
    [{ sensor_id: 'room 1', ts: now - 20_000, value: 20.5 }],
  ]);
  expect(output).toContain('left out: note');
  expect(output).toContain('1 empty cells skipped');
  expect(output).toContain('1 cells skipped that are no number');
});

test('Simulator replays a CSV file: the broker restarts: every cell is delivered', async () => {
  const path = join(directory, 'long.csv');
  const start = Date.UTC(2026, 0, 1);
  const rows = Array.from({ length: 200_000 }, (_, i) => `${new Date(start + i * 1000).toISOString()},${i}`);
  writeFileSync(path, `time,count\n${rows.join('\n')}\n`);
  const simulator = replay(['--replay', path, '--rows', '20']);
  await context.collector.until(() => context.collector.of('measurements').length >= 200);
  await context.broker.stop();
  await context.broker.start();
  const { code, summary } = await simulator.ended;
  expect(code).toBe(0);
  expect(summary).toEqual({ made: 200_000, acknowledged: 200_000, dropped: 0, left: 0 });
  const values = () =>
    new Set(
      context.collector
        .of('measurements')
        .flatMap(({ payload }) => resolveSenml(payload).map(({ value }) => value)),
    );
  await context.collector.until(
    () =>
      context.collector.of('status').at(-1)?.payload.state === 'offline' &&
      context.collector.of('birth').length === 2,
  );
  expect(values().size).toBe(200_000);
});

test('Simulator replays a CSV file: no time column: exits with code 2, and the error names the missing column', async () => {
  const path = join(directory, 'no-times.csv');
  writeFileSync(path, 'a,b\n1,2\n');
  const { code, output } = await replay(['--replay', path]).ended;
  expect(code).toBe(2);
  expect(output).toContain('no time column');
});

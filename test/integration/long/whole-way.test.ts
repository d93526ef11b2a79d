import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { createTimeline } from '../../../simulator/replay/survey.ts';
import { startSimulator } from '../../support/processes/simulator-process.ts';
import { useTestSystem } from '../../support/system/use.ts';

const WEATHER = 'node_modules/vega-datasets/data/seattle-weather-hourly-normals.csv';

const system = useTestSystem();

/** Reads the file without the code of the simulator. @returns by column; `ts` in epoch ms */
function readWeather(): Record<string, { ts: number; value: number }[]> {
  const [header = '', ...lines] = readFileSync(WEATHER, 'utf8').trim().split('\n');
  const [, ...names] = header.split(',');
  const rows = lines.map((line) => line.split(','));
  return Object.fromEntries(
    names.map((name, column) => [
      name,
      rows.map((cells) => ({ ts: Date.parse(`${cells[0]}Z`), value: Number(cells[column + 1]) })),
    ]),
  );
}

/** @returns maps a time of the file to its replayed time, both in epoch ms */
async function replay(device: string, speed: number): Promise<(ts: number) => number> {
  const flags = ['--broker', system.mqttUrl, '--replay', WEATHER, '--device', device];
  const simulator = startSimulator([...flags, '--speed', String(speed)]);
  system.beforeStop(simulator.kill);
  const { code, output, summary } = await simulator.ended;
  expect({ code, summary }).toEqual({
    code: 0,
    summary: { made: 26_277, acknowledged: 26_277, dropped: 0, left: 0 },
  });
  // The output has the time of the last row.
  const now = Date.parse(/ to (\S+Z)/.exec(output)?.[1] ?? '');
  const last = Math.max(...Object.values(readWeather()).flatMap((series) => series.map(({ ts }) => ts)));
  return createTimeline({ last, now, speed });
}

// At speed 60, a real hour holds 60 hours of the file. At speed 1, every sample is in an hour of its own.
test.each([
  { device: 'seattle', speed: 60 },
  { device: 'seattle-as-recorded', speed: 1 },
])('Simulator: replays a CSV file at speed $speed: every value is stored once', async ({ device, speed }) => {
  const timeline = await replay(device, speed);
  for (const [name, series] of Object.entries(readWeather())) {
    const expected = series.map(({ ts, value }) => ({ ts: new Date(timeline(ts)).toISOString(), value }));
    const sensor = `/devices/${device}/sensors/${name}`;
    expect(await system.all(`${sensor}/measurements?order=asc&limit=1000`)).toEqual(expected);
    expect(await system.all(`${sensor}/measurements?limit=997`)).toEqual(expected.toReversed());

    expect(await system.get(sensor)).toMatchObject({ name, type: name, ...expected.at(-1) });
  }
});

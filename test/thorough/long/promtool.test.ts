import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import { useHistorySystem } from '../../support/system/history.ts';

const run = promisify(execFile);

const BEGIN = dayOf(Date.now() - 20 * DAY_MS);
const world = useHistorySystem(BEGIN);

beforeAll(async () => {
  world.clock.now = BEGIN + HOUR_MS;
  await world.device.birth('press', {
    site: 'Hall',
    sensors: [{ sensor_id: 's', type: 'pressure', unit: 'bar' }],
  });
  await world.measure('press', [
    [BEGIN, 1.5],
    [BEGIN + 60_000, 2.5],
    [BEGIN + 120_000, 4],
  ]);
});

/** @param args of `promtool query` */
const promtool = async ([command = '', ...args]: string[]) => {
  const server = `${world.system.httpUrl}/prometheus`;
  return (await run('promtool', ['query', command, ...args.map((arg) => (arg === 'SERVER' ? server : arg))]))
    .stdout;
};

const seconds = (ms: number) => String(ms / 1000);

test('promtool query range: the values of each step', async () => {
  const range = [`--start=${seconds(BEGIN + 60_000)}`, `--end=${seconds(BEGIN + 180_000)}`, '--step=1m'];
  const stdout = await promtool([
    'range',
    ...range,
    'SERVER',
    'avg_over_time(millrace_value{site="Hall"}[2m])',
  ]);
  expect(stdout).toBe(
    [
      '{device="press", sensor="s", site="Hall", type="pressure", unit="bar"} =>',
      `1.5 @[${seconds(BEGIN + 60_000)}]`,
      `2 @[${seconds(BEGIN + 120_000)}]`,
      `3.25 @[${seconds(BEGIN + 180_000)}]`,
      '',
    ].join('\n'),
  );
});

test('promtool query instant, series and labels: the sensor', async () => {
  const at = seconds(BEGIN + 180_000);
  expect(await promtool(['instant', `--time=${at}`, 'SERVER', 'millrace_value'])).toBe(
    `millrace_value{device="press", sensor="s", site="Hall", type="pressure", unit="bar"} => 4 @[${at}]\n`,
  );
  expect(await promtool(['series', '--match=millrace_value{device=~"pre.*"}', 'SERVER'])).toContain(
    'device="press"',
  );
  expect(await promtool(['labels', 'SERVER', 'site'])).toBe('Hall\n');
});

test('promtool query instant: the reason of a refused expression is shown', async () => {
  const refused = promtool(['instant', 'SERVER', 'rate(millrace_value[5m])']);
  await expect(refused).rejects.toMatchObject({
    stderr: expect.stringContaining('rate(millrace_value[5m]) is not supported'),
  });
});

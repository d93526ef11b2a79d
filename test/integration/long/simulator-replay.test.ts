import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useDirectory } from '../../support/directory.ts';
import { resolveSenml } from '../../support/payloads/senml-resolver.ts';
import { useSimulations } from '../../support/simulator/simulations.ts';

const directory = useDirectory('replay');

const context = useSimulations();

function replay(flags: string[]) {
  return context.start(['--broker', context.broker.url, ...flags]);
}

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

import { expect, test } from '@jest/globals';
import { useSimulations } from '../../support/simulator/simulations.ts';

const DEVICES = 40;
const GATEWAYS = ['--devices', `${DEVICES}`, '--connections', '3', '--interval', '50ms', '--batch', '200ms'];

const context = useSimulations();

function simulate(...flags: string[]) {
  return context.start(['--broker', context.broker.url, '--seed', '7', ...flags]);
}

test('Simulator gateways: broker restarts: the devices keep their sessions, and every sample is acknowledged', async () => {
  const simulator = simulate(...GATEWAYS);
  await context.collector.until(() => context.collector.of('birth').length === DEVICES);
  await context.broker.stop();
  await context.broker.start();
  const before = context.collector.of('measurements').length;
  await context.collector.until(() => context.collector.of('measurements').length >= before + 2 * DEVICES);
  simulator.child.kill('SIGTERM');
  const { summary } = await simulator.ended;
  expect(summary).toMatchObject({ acknowledged: summary?.made, dropped: 0, left: 0 });
  // Unacknowledged messages may have been sent twice.
  const births = context.collector.of('birth');
  const sessions = new Map(births.map(({ topic, payload }) => [topic, payload.session]));
  expect(sessions.size).toBe(DEVICES);
  for (const { topic, payload } of births) expect(payload.session).toBe(sessions.get(topic));
});

import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readLedger } from '../../../simulator/ledger/read.ts';
import { useDirectory } from '../../support/directory.ts';
import { useSimulations } from '../../support/simulator/simulations.ts';
import { until } from '../../support/until.ts';

const DEVICES = 40;
const GATEWAYS = ['--devices', `${DEVICES}`, '--connections', '3', '--interval', '50ms', '--batch', '200ms'];

const context = useSimulations();
const directory = useDirectory('gateways');

function simulate(...flags: string[]) {
  return context.start(['--broker', context.broker.url, '--seed', '7', ...flags]);
}

/** The kinds of the messages of a device, in order. */
const kindsOf = (device: string) =>
  context.collector.messages
    .filter(({ topic }) => topic.split('/')[2] === device)
    .map(({ topic }) => topic.split('/')[3]);

const names = Array.from({ length: DEVICES }, (_, i) => `collar-${String(i + 1).padStart(4, '0')}`);

test('Simulator gateways: several devices share a connection: each publishes birth and online first, and offline at the end', async () => {
  const { code, output, summary } = await simulate(...GATEWAYS, '--duration', '2s').ended;
  expect(code).toBe(0);
  expect(output).toContain('through 3 connections');
  expect(summary).toMatchObject({ acknowledged: summary?.made, dropped: 0, left: 0 });
  await context.collector.until(() => context.collector.of('status').length === 2 * DEVICES);
  for (const device of names) {
    const kinds = kindsOf(device);
    expect(kinds.slice(0, 2)).toEqual(['birth', 'status']);
    expect(kinds.at(-1)).toBe('status');
    expect(kinds.slice(2, -1).every((kind) => kind === 'measurements')).toBe(true);
    const session = context.collector.of('birth', device)[0]?.payload.session;
    expect(context.collector.of('status', device).map(({ payload }) => payload)).toEqual([
      { state: 'online', session },
      { state: 'offline', session },
    ]);
  }
});

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

test('Simulator at a fixed rate: every device is registered before the first measurement, and a report is written', async () => {
  const report = join(directory, 'report.json');
  const flags = [
    '--rate',
    '400',
    '--interval',
    '1s',
    '--batch',
    '2s',
    '--duration',
    '2s',
    '--report',
    report,
  ];
  const { code, output, summary } = await simulate('--devices', '20', '--connections', '2', ...flags).ended;
  expect(code).toBe(0);
  expect(output).toContain('400 messages/s from now on');
  expect(output).toMatch(
    /messages acknowledged: p50 .* p99.9 .* mean .* ms, each from when it was to be sent/,
  );
  const first = context.collector.messages.findIndex(({ topic }) => topic.endsWith('/measurements'));
  const births = context.collector.messages.slice(0, first).filter(({ topic }) => topic.endsWith('/birth'));
  expect(births).toHaveLength(20);

  const {
    flags: ran,
    made,
    acknowledged,
    latency,
    periods,
  } = (await import(report, { with: { type: 'json' } })).default;
  expect(ran).toMatchObject({ rate: 400, devices: 20, seed: 7, connections: 2 });
  expect(made.samples).toBe(summary?.made);
  expect(acknowledged).toEqual(made);
  expect(latency.count).toBe(made.messages);
  expect(latency.p50).toBeLessThanOrEqual(latency.p999);
  expect(latency.p999).toBeLessThanOrEqual(latency.max * 1.001);
  expect(periods.reduce((sum: number, row: { messages: number }) => sum + row.messages, 0)).toBe(
    made.messages,
  );
  // Each message has two samples of each sensor, with separate timestamps.
  const { payload } = context.collector.of('measurements', 'collar-0001')[0] ?? {};
  expect(payload.filter((record: { v?: unknown }) => record.v !== undefined).length % 2).toBe(0);
});

test('Simulator at a fixed rate: broker stalls: the rate does not drop, memory is bounded, and dropped samples are counted', async () => {
  const ledger = join(directory, 'stalled.ledger');
  const flags = ['--rate', '2000', '--interval', '1s', '--batch', '1s', '--buffer', '5'];
  const simulator = simulate(
    '--devices',
    '2',
    '--connections',
    '1',
    '--sensors',
    '1',
    ...flags,
    '--ledger',
    ledger,
  );
  const count = async () => {
    const entries = { sent: 0, acknowledged: 0, episode: 0 };
    for await (const { kind } of readLedger(ledger)) entries[kind] += 1;
    return entries;
  };
  await until(async () => ((await count().catch(() => null))?.acknowledged ?? 0) > 100);
  context.broker.pause();
  await until(() => /[1-9][\d,]* dropped/.test(simulator.output()), { what: 'dropped samples' });
  simulator.child.kill('SIGINT');
  const { code, summary } = await simulator.ended;
  expect(code).toBe(0);
  const { made = 0, acknowledged = 0, dropped = 0, left = 0 } = summary ?? {};
  expect(made).toBe(acknowledged + dropped + left);
  expect(dropped).toBeGreaterThan(0);
  // The rest is a window of 1,024 unacknowledged messages, and five batches for each of the two devices.
  expect(left).toBe(1024 + 10);
  expect(await count()).toEqual({ sent: acknowledged + 1024, acknowledged, episode: 0 });
});

import { afterEach, expect, test } from '@jest/globals';
import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../support/system/memory-pipeline.ts';
import { until } from '../../support/until.ts';

const NOW = Date.UTC(2026, 4, 5, 12);
const BUDGET_BYTES = 64 * 1024 * 1024;

const clock = { now: NOW };

let pipeline: MemoryPipeline | undefined;
afterEach(async () => {
  await pipeline?.stop();
  clock.now = NOW;
});

async function start(options?: Parameters<typeof startMemoryPipeline>[0]) {
  pipeline = await startMemoryPipeline({ clock: () => clock.now, ...options });
  return pipeline;
}

const measured = (value: number) => ({ sensor_id: 's', ts: NOW - 1000, value });

/** Starts a submission whose body arrives when the test calls `receive`. */
function submitSlowly(own: MemoryPipeline, bytes: number) {
  let receive: (payload: Buffer) => void = () => {};
  const done = own.ingest.submit({
    device: identifyDevice('slow') as Identity,
    contentType: 'application/json',
    bytes,
    read: () =>
      new Promise((resolve) => {
        receive = resolve;
      }),
    signal: new AbortController().signal,
  });
  return { done, receive: () => receive(Buffer.from(JSON.stringify([measured(1)]))) };
}

test('HTTP submission: its commit is pending: not counted as settled yet, and the device can submit another hour', async () => {
  const HOUR_MS = 3_600_000;
  let isHeld = true;
  let release: () => void = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  const own = await start({
    async around({ table, kind }, run) {
      if (table !== 'message' || kind === 'select' || !isHeld) return run();
      isHeld = false;
      await released;
      return run();
    },
  });
  const first = own.submit('d', [measured(1)]);
  await until(() => !isHeld, { what: 'the commit of the first submission' });
  const other = await own.submit('d', [{ ...measured(2), ts: NOW - HOUR_MS - 1 }]);
  expect(other).toEqual({ accepted: 1, refused: [] });
  expect(await own.metric('iot_ingest_messages_total{result="settled"}')).toBe(1);
  expect(own.ingest.submittedBytes).toBeGreaterThan(0);
  release();
  await first;
  expect(await own.metric('iot_ingest_messages_total{result="settled"}')).toBe(2);
  expect(own.ingest.submittedBytes).toBe(0);
});

test('HTTP submission: MQTT messages fill the byte budget: refused as busy', async () => {
  let release: () => void = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  const own = await start({
    async around({ table }, run) {
      if (table === 'dead_letter') await released;
      return run();
    },
  });
  const large = own.accept('iot/v1/large/measurements', Buffer.alloc(BUDGET_BYTES, ' '));
  await expect(own.submit('d', [measured(1)])).rejects.toMatchObject({ code: 'busy' });
  release();
  await large;
  expect(await own.submit('d', [measured(1)])).toEqual({ accepted: 1, refused: [] });
});

test('HTTP submission: slow senders hold 16 MiB: the next sender is refused as busy until a slow sender is done', async () => {
  const own = await start();
  const slow = submitSlowly(own, 15 * 1024 * 1024);
  expect(own.ingest.submittedBytes).toBeGreaterThan(15 * 1024 * 1024);
  const other = submitSlowly(own, 2 * 1024 * 1024);
  await expect(other.done).rejects.toMatchObject({ code: 'busy' });
  expect(own.ingest.unsettledBytes).toBe(0);
  slow.receive();
  expect(await slow.done).toEqual({ accepted: 1, refused: [] });
  expect(own.ingest.submittedBytes).toBe(0);
  const last = submitSlowly(own, 2 * 1024 * 1024);
  last.receive();
  expect(await last.done).toEqual({ accepted: 1, refused: [] });
});

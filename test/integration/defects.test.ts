import { beforeAll, expect, test } from '@jest/globals';
import pino from 'pino';
import { createIngest, type Ingest } from '../../api/ingest/index.ts';
import { createContext } from '../../api/observability/index.ts';
import { ClockGuard } from '../../api/store/clock-guard.ts';
import { connectStore } from '../../api/store/index.ts';
import type { PendingRow } from '../../api/store/sending/pending-rows.ts';
import { parseTopic } from '../../schema/topics.ts';
import { readDeadLetters } from '../support/dead-letters.ts';
import { useTestSystem } from '../support/system/use.ts';

const system = useTestSystem();
let ingest: Ingest;
const logged: Record<string, unknown>[] = [];
/** The number of next rows that fail with a TypeError, like a defect of the code. */
let defects = 0;

beforeAll(async () => {
  const { config } = system;
  const store = await connectStore({
    cql: config.cql,
    retention: config.retention,
    observe: () => {},
    onStaleIndex: () => {},
    hooks: {
      wrapSession: (session) =>
        Object.assign(Object.create(session), {
          writeMerged(row: PendingRow<unknown>) {
            if (defects === 0 || row.name !== 'write_measurements') return session.writeMerged(row);
            defects--;
            return Promise.reject(new TypeError('x is not a function'));
          },
        }),
    },
  });
  system.beforeStop(() => store.close());
  const write = (line: string) => void logged.push(JSON.parse(line));
  const clockGuard = new ClockGuard({
    clock: Date.now,
    difference: async () => 0,
    logger: pino({ level: 'silent' }),
  });
  await clockGuard.start();
  const logger = pino({ level: 'error' }, { write });
  ingest = createIngest(createContext({ config, version: 'test', logger }), {
    store,
    clockGuard,
    isAnnounced: false,
  });
  system.beforeStop(() => ingest.abort());
});

const messageOf = (value: number) => ({
  topic: 'iot/v1/unlucky/measurements',
  route: parseTopic('iot/v1/unlucky/measurements'),
  payload: Buffer.from(JSON.stringify({ sensor_id: 't', ts: Date.now(), value })),
  retained: false,
  receipt: { from: null },
  receivedAt: Date.now(),
});

test('Ingest: the code throws a TypeError for one message: a dead letter is written, the stack is logged, and the next message is stored', async () => {
  await ingest.handleMessage(messageOf(1));
  defects = 1;
  const failing = messageOf(2);
  await ingest.handleMessage(failing);
  const [deadLetter, ...more] = await readDeadLetters(system, 'unlucky');
  expect(more).toEqual([]);
  expect(deadLetter).toMatchObject({ payload: failing.payload, refused: [{ index: -1, code: 'rejected' }] });
  expect(logged).toEqual([
    expect.objectContaining({
      topic: failing.topic,
      err: expect.objectContaining({ type: 'TypeError', stack: expect.stringContaining('defects.test.ts') }),
    }),
  ]);

  await ingest.handleMessage(messageOf(3));
  expect((await system.get('/devices/unlucky/sensors/t')).value).toBe(3);
  expect(await readDeadLetters(system, 'unlucky')).toHaveLength(1);
});

test('Ingest: the code throws a TypeError while the process ends: the message stays unacknowledged, without a dead letter', async () => {
  ingest.abort();
  defects = 1;
  await expect(ingest.handleMessage(messageOf(4))).rejects.toThrow('x is not a function');
  expect(await readDeadLetters(system, 'unlucky')).toHaveLength(1);
});

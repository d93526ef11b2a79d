import { expect, test } from '@jest/globals';
import pino from 'pino';
import { EvaluationScheduler } from '../../../../api/features/alarms/evaluation/evaluation-scheduler.ts';
import { uuidBytes } from '../../../../schema/ids.ts';
import { until } from '../../../support/until.ts';

const idOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const RULE_ID = idOf(0);
const RULE = {
  id: RULE_ID,
  bytes: uuidBytes(RULE_ID),
  versions: [{ definition: { condition: { kind: 'above', limit: 10 } } }],
} as never;
const RUN = { start: 1, opened: 1, samples: 1 } as never;

/**
 * Creates a scheduler whose evaluations hang until they are released. Each of its tasks has an open alarm.
 */
function createHangingScheduler(sensorsADevice: number) {
  let isHanging = false;
  let release = () => {};
  /** Sensors whose evaluation hangs, or has hung. */
  const hung: string[] = [];
  const running: Set<string> = new Set();
  /** Sensors of which two evaluations ran at once. */
  const doubled: string[] = [];
  const scheduler = new EvaluationScheduler({
    evaluator: {
      async evaluate({ sensor: { id } }) {
        if (running.has(id)) doubled.push(id);
        running.add(id);
        if (isHanging) {
          hung.push(id);
          await released;
        }
        running.delete(id);
        return { changes: [], episodes: 1, run: RUN };
      },
    },
    rules: { find: () => RULE },
    clock: Date.now,
    logger: pino({ level: 'silent' }),
    onChange: () => {},
    onEvaluated: () => {},
    recheckMs: 20,
  });
  const released = new Promise((resolve) => (release = () => resolve(null)));
  return {
    scheduler,
    hung,
    doubled,
    hang: () => (isHanging = true),
    release() {
      isHanging = false;
      release();
    },
    /** Reports a new sample. @param index of the sensor */
    add(index: number) {
      const sensor = { id: idOf(index), bytes: uuidBytes(idOf(index)) } as never;
      const device = { id: `device ${Math.floor(index / sensorsADevice)}` } as never;
      scheduler.evaluate({ device, sensor }, RULE, { from: 1, to: 1 });
    },
  };
}

test('Alarm evaluations: open alarms of 8 devices are evaluated again, and hang: only two devices at once, and a new sample is evaluated at once', async () => {
  const [devices, alarms] = [8, 40];
  const { scheduler, hung, hang, add } = createHangingScheduler(alarms / devices);
  for (let index = 0; index < alarms; index++) add(index);
  await until(() => scheduler.waiting === 0);
  hang();
  await until(() => scheduler.waiting === alarms);
  expect(hung.length).toBeGreaterThan(0);
  const devicesOf = new Set(hung.map((id) => Math.floor((Number(id.slice(-12)) * devices) / alarms)));
  expect(devicesOf.size).toBeLessThanOrEqual(2);
  add(alarms);
  await until(() => hung.includes(idOf(alarms)));
  await scheduler.stop(0);
});

test('Alarm evaluations: 200 open alarms of a device: at most 16 at once; one that gets a sample meanwhile is never evaluated twice at once', async () => {
  const alarms = 200;
  const { scheduler, hung, doubled, hang, release, add } = createHangingScheduler(alarms);
  for (let index = 0; index < alarms; index++) add(index);
  await until(() => scheduler.waiting === 0);
  hang();
  await until(() => scheduler.waiting === alarms);
  expect(hung.length).toBeLessThanOrEqual(2 * 16);
  const waiting = Array.from({ length: alarms }, (_, index) => index).filter(
    (index) => !hung.includes(idOf(index)),
  );
  const [first = -1] = waiting;
  add(first);
  await until(() => hung.includes(idOf(first)));
  release();
  await until(() => scheduler.waiting === 0);
  await scheduler.stop(0);
  expect(doubled).toEqual([]);
});

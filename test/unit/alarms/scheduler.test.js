import { expect, test } from '@jest/globals';
import pino from 'pino';
import { EvaluationScheduler } from '../../../api/alarms/evaluation/evaluation-scheduler.js';
import { uuidBytes } from '../../../schema/ids.js';
import { until } from '../../support/until.js';

const idOf = (/** @type {number} */ index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const RULE_ID = idOf(0);
const RULE = /** @type {any} */ ({
  id: RULE_ID,
  bytes: uuidBytes(RULE_ID),
  versions: [{ definition: { condition: { kind: 'above', limit: 10 } } }],
});
const ALARMS = 40;

test('Alarm evaluations: 40 open alarms are evaluated again, and hang: a new sample is still evaluated at once', async () => {
  let hangs = false;
  /** @type {string[]} */
  const hanging = [];
  const scheduler = new EvaluationScheduler({
    evaluator: {
      evaluate: async ({ sensor }) => {
        if (hangs) {
          hanging.push(sensor.id);
          await new Promise(() => {});
        }
        return { changes: [], episodes: 1, run: /** @type {any} */ ({ start: 1, opened: 1, samples: 1 }) };
      },
    },
    rules: { find: () => RULE },
    clock: Date.now,
    logger: pino({ level: 'silent' }),
    onChange: () => {},
    onEvaluated: () => {},
    recheckMs: 20,
  });
  const add = (/** @type {number} */ index) => {
    const sensor = /** @type {any} */ ({ id: idOf(index), bytes: uuidBytes(idOf(index)) });
    scheduler.evaluate({ device: /** @type {any} */ ({}), sensor }, RULE, { from: 1, to: 1 });
  };
  for (let index = 1; index <= ALARMS; index++) add(index);
  await until(() => scheduler.waiting === 0);
  hangs = true;
  await until(() => scheduler.waiting === ALARMS);
  expect(hanging).toHaveLength(2);
  add(ALARMS + 1);
  await until(() => hanging.includes(idOf(ALARMS + 1)));
  await scheduler.stop(0);
});

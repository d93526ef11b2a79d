import { describe, expect, test } from '@jest/globals';
import { describeLook } from '../../../web/state/cell-state.js';
import { createJudge } from '../../../web/state/deviation.js';
import { createFleet } from '../../../web/state/fleet.js';

/** @import { FleetSensor } from '../../../web/state/fleet-types.js' */

const START = Date.UTC(2026, 10, 21, 12);
/** Around 20, one a second. @param {number} count */
const calm = (count) =>
  Array.from({ length: count }, (_, second) => ({ ts: START + second * 1000, value: 20 + (second % 3) - 1 }));

describe('one sensor is judged', () => {
  test('not before a few values were seen', () => {
    expect(createJudge().take(calm(5))).toBeNull();
    expect(createJudge().take(calm(6))).not.toBeNull();
  });

  test('by what was usual before its newest value', () => {
    const judgement = createJudge().take([...calm(300), { ts: START + 300_000, value: 26 }]);
    expect(judgement?.mean).toBeCloseTo(20, 0);
    expect(judgement?.off).toBeCloseTo(6, 0);
    expect(describeLook(judgement?.look ?? -1, false)).toBe('Far above its usual');
  });

  test('once by each value, however often it is told', () => {
    const [told, once] = [createJudge(), createJudge()];
    for (let turn = 0; turn < 9; turn += 1) told.take(calm(60));
    expect(told.take([])).toEqual(once.take(calm(60)));
  });

  test('as the wall did, from there on; what the wall knows stays its own', () => {
    const fleet = createFleet();
    const item = {
      device_id: 'a',
      sensor_id: 'b',
      device: 'hive',
      name: 'lid',
      type: 'temperature',
      unit: 'Cel',
      site: null,
    };
    for (const { ts, value } of [...calm(60), { ts: START + 60_000, value: 12 }])
      fleet.take('a/b', { ...item, ts: new Date(ts).toISOString(), value });
    const onWall = /** @type {FleetSensor} */ (fleet.sensors.get('a/b'));
    const judge = createJudge({ ...onWall, typical: fleet.typical('temperature') });
    expect(judge.take([])?.look).toBe(onWall.look);
    const { mean } = onWall.range;
    expect(describeLook(judge.take([{ ts: START + 61_000, value: 20 }])?.look ?? -1, false)).toBe('As usual');
    expect(onWall.range.mean).toBe(mean);
  });
});

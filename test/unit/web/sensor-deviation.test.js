import { describe, expect, test } from '@jest/globals';
import { describeCellState } from '../../../web/state/cell-state.js';
import { createDeviationTracker } from '../../../web/state/deviation.js';
import { createFleet } from '../../../web/state/fleet.js';

/** @import { FleetSensor } from '../../../web/state/device-index.js' */

const START = Date.UTC(2026, 10, 21, 12);
/** Around 20, one a second. @param {number} count */
const calm = (count) =>
  Array.from({ length: count }, (_, second) => ({ ts: START + second * 1000, value: 20 + (second % 3) - 1 }));

describe('Deviation', () => {
  test('fewer than six values: null', () => {
    expect(createDeviationTracker().take(calm(5))).toBeNull();
    expect(createDeviationTracker().take(calm(6))).not.toBeNull();
  });

  test('the newest value: compared with the baseline before it', () => {
    const deviation = createDeviationTracker().take([...calm(300), { ts: START + 300_000, value: 26 }]);
    expect(deviation?.mean).toBeCloseTo(20, 0);
    expect(deviation?.off).toBeCloseTo(6, 0);
    expect(describeCellState(deviation?.cellState ?? -1, false)).toBe('Far above its usual');
  });

  test('repeated values: each counts once', () => {
    const [repeated, once] = [createDeviationTracker(), createDeviationTracker()];
    for (let turn = 0; turn < 9; turn += 1) repeated.take(calm(60));
    expect(repeated.take([])).toEqual(once.take(calm(60)));
  });

  test('from the wall: the same result; the baseline of the wall does not change', () => {
    const fleet = createFleet();
    const item = {
      device_id: 'a',
      sensor_id: 'b',
      device: 'scale',
      name: 'lid',
      type: 'temperature',
      unit: 'Cel',
      site: null,
    };
    for (const { ts, value } of [...calm(60), { ts: START + 60_000, value: 12 }])
      fleet.take('a/b', { ...item, ts: new Date(ts).toISOString(), value });
    const onWall = /** @type {FleetSensor} */ (fleet.sensors.get('a/b'));
    const tracker = createDeviationTracker({ ...onWall, typical: fleet.typical('temperature') });
    expect(tracker.take([])?.cellState).toBe(onWall.cellState);
    const { mean } = onWall.baseline;
    expect(describeCellState(tracker.take([{ ts: START + 61_000, value: 20 }])?.cellState ?? -1, false)).toBe(
      'As usual',
    );
    expect(onWall.baseline.mean).toBe(mean);
  });
});

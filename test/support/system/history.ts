import { afterAll, beforeAll } from '@jest/globals';
import { layDown, openHistory, unionOf } from '../history/index.js';
import { connectDevice } from '../mqtt/device.js';
import { startTestSystem } from './index.js';

/** @import { Device } from '../mqtt/device.js' */
/** @import { History, Sample } from '../history/index.js' */
/** @import { TestSystem } from './index.js' */

/**
 * Starts a system with a clock that the test sets, a device that measures, and access to its history. It starts before the first
 * test of a file, and is removed at the end.
 *
 * @param {number} begin epoch ms
 */
export function useHistorySystem(begin) {
  const historySystem = new HistorySystem(begin);
  beforeAll(() => historySystem.start());
  afterAll(() => historySystem.system?.stop());
  return historySystem;
}

/** Devices have one sensor each, `s`. */
class HistorySystem {
  /** @type {TestSystem} */
  system = /** @type {any} */ (null);
  /** @type {Device} */
  device = /** @type {any} */ (null);
  /** @type {History} */
  history = /** @type {any} */ (null);

  /** @param {number} begin epoch ms */
  constructor(begin) {
    this.clock = { now: begin };
  }

  async start() {
    this.system = await startTestSystem({ clock: () => this.clock.now });
    this.device = await connectDevice(this.system);
    this.system.beforeStop(this.device.end);
    this.history = await openHistory(this.system);
  }

  /** @param {string} name of a device @param {Sample[]} samples one message */
  async measure(name, samples) {
    await this.device.measure(
      name,
      samples.map(([ts, value]) => ({ sensor_id: 's', ts, value })),
    );
  }

  /**
   * @param {string} name of a device
   * @param {Parameters<typeof layDown>[0]['hours']} hours
   * @returns {Promise<Sample[]>} all its samples after that
   */
  async lay(name, hours) {
    await layDown({
      history: this.history,
      clock: this.clock,
      hours,
      sensor: this.history.sensorOf(name, 's'),
      send: (samples) => this.measure(name, samples),
    });
    return unionOf(hours.flatMap(({ samples }) => samples));
  }
}

import { afterAll, beforeAll } from '@jest/globals';
import { type History, layDown, openHistory, type Sample, unionOf } from '../history/index.ts';
import { connectDevice, type Device } from '../mqtt/device.ts';
import { startTestSystem, type TestSystem } from './index.ts';

/**
 * Starts a system with a clock that the test sets, a device that measures, and access to its history. It starts before the first
 * test of a file, and is removed at the end.
 * @param begin epoch ms
 */
export function useHistorySystem(begin: number) {
  const historySystem = new HistorySystem(begin);
  beforeAll(() => historySystem.start());
  afterAll(() => historySystem.system?.stop());
  return historySystem;
}

/** Devices have one sensor each, `s`. */
class HistorySystem {
  declare clock: { now: number };

  system!: TestSystem;
  device!: Device;
  history!: History;

  /** @param begin epoch ms */
  constructor(begin: number) {
    this.clock = { now: begin };
  }

  async start() {
    this.system = await startTestSystem({ clock: () => this.clock.now });
    this.device = await connectDevice(this.system);
    this.system.beforeStop(this.device.end);
    this.history = await openHistory(this.system);
  }

  async measure(name: string, samples: Sample[]) {
    await this.device.measure(
      name,
      samples.map(([ts, value]) => ({ sensor_id: 's', ts, value })),
    );
  }

  async lay(name: string, hours: Parameters<typeof layDown>[0]['hours']): Promise<Sample[]> {
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

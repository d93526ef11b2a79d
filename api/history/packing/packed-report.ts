import type { DeviceBytes, SensorBytes } from '../../../schema/ids.ts';

/** An hour of a device (epoch ms), and those of its sensors whose statistics were written. */
export interface PackedHour {
  group: number;
  device: DeviceBytes;
  hour: number;
  sensors: SensorBytes[];
}

/** The packer waits for this call before it stores its progress. So an hour that was packed without a report is packed and reported again. */
export type OnPacked = (hours: PackedHour[]) => Promise<void>;

/** Limit of hours of devices in one call of a listener. */
const HOURS_AT_ONCE = 200;

/** Collects the hours that a pass has packed. */
export class PackedReport {
  #listeners;
  #group;
  #hours: PackedHour[] = [];

  constructor(listeners: OnPacked[], group: number) {
    this.#listeners = listeners;
    this.#group = group;
  }

  /** @throws the error of a listener */
  async add(device: DeviceBytes, hour: number, sensors: SensorBytes[]) {
    if (sensors.length === 0) return;
    this.#hours.push({ group: this.#group, device, hour, sensors });
    if (this.#hours.length >= HOURS_AT_ONCE) await this.send();
  }

  /** Reports the hours that are left. @throws the error of a listener */
  async send() {
    const hours = this.#hours;
    this.#hours = [];
    if (hours.length > 0) await Promise.all(this.#listeners.map((listener) => listener(hours)));
  }
}

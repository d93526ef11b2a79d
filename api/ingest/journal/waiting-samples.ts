import type { SensorBytes } from '../../../schema/ids.ts';
import { isAscending, type Numbers, sortMerge } from '../../../schema/packed/series.ts';
import type { Newest } from '../../store/devices/latest-rows.ts';
import type { Device, Sensor } from '../registry/cache.ts';
import type { Series } from '../sample-writer.ts';

/** The acknowledged samples of one device whose rows are not written yet. */
export class WaitingDevice {
  device;
  /** Segments before it have no sample of this device. */
  segment;
  /** In ms of `performance.now()`, of the first sample. */
  since;
  samples = 0;
  #sensors: Array<{ known: Sensor; sensor: SensorBytes; times: number[]; values: number[] }> = [];

  constructor(device: Device, segment: number, since: number) {
    this.device = device;
    this.segment = segment;
    this.since = since;
  }

  add(series: Series[]) {
    for (let index = 0; index < series.length; index++) {
      const { known, sensor, times, values } = series[index] as Series;
      this.samples += times.length;
      // Messages of a device nearly always have the same sensors in the same order.
      const same = this.#sensors[index];
      const found = same?.sensor === sensor ? same : this.#sensors.find((each) => each.sensor === sensor);
      if (!found) this.#sensors.push({ known, sensor, times: [...times], values: [...values] });
      else append(found, times, values);
    }
  }

  /** One sample for each instant, in order of time. */
  series(): Series[] {
    return this.#sensors.map(({ known, sensor, times, values }) => {
      const sorted = isAscending(times) ? { times, values } : sortMerge(times, values);
      return { known, sensor, times: sorted.times, values: sorted.values, from: 0, to: sorted.times.length };
    });
  }

  newest(): Map<string, Newest> {
    return new Map(
      this.series().map(({ known, times, values }) => [
        known.id,
        { ts: Number(times[times.length - 1]), value: Number(values[values.length - 1]) },
      ]),
    );
  }
}

function append(to: { times: number[]; values: number[] }, times: Numbers, values: Numbers) {
  for (let index = 0; index < times.length; index++) {
    to.times.push(times[index] as number);
    to.values.push(values[index] as number);
  }
}

/** By device, in the order of their first samples. */
export class WaitingSamples {
  #waiting: Map<string, WaitingDevice> = new Map();
  /** Devices whose rows are being written. */
  #writing: Map<string, WaitingDevice> = new Map();
  #samples = 0;

  /** `writing` included. */
  get samples() {
    return this.#samples;
  }

  get writing() {
    return this.#writing.size;
  }

  get isEmpty() {
    return this.#waiting.size === 0 && this.#writing.size === 0;
  }

  add(device: Device, series: Series[], segment: number, now: number) {
    let waiting = this.#waiting.get(device.id);
    if (!waiting) {
      waiting = new WaitingDevice(device, segment, now);
      this.#waiting.set(device.id, waiting);
    }
    const before = waiting.samples;
    waiting.add(series);
    this.#samples += waiting.samples - before;
  }

  /** The device that waits longest, without those whose rows are being written. */
  next(): WaitingDevice | undefined {
    for (const [id, waiting] of this.#waiting) if (!this.#writing.has(id)) return waiting;
    return undefined;
  }

  startWriting(waiting: WaitingDevice) {
    this.#waiting.delete(waiting.device.id);
    this.#writing.set(waiting.device.id, waiting);
  }

  endWriting(waiting: WaitingDevice) {
    this.#writing.delete(waiting.device.id);
    this.#samples -= waiting.samples;
  }

  /** `since` of the device that waits longest; null: none waits. */
  get oldest(): number | null {
    const [first] = this.#waiting.values();
    let oldest = first?.since ?? null;
    for (const { since } of this.#writing.values()) oldest = Math.min(since, oldest ?? since);
    return oldest;
  }

  /** The first segment with a sample that waits; null: none waits. */
  get segment(): number | null {
    const [first] = this.#waiting.values();
    let segment = first?.segment ?? null;
    for (const each of this.#writing.values()) segment = Math.min(each.segment, segment ?? each.segment);
    return segment;
  }

  find(id: string): WaitingDevice[] {
    if (this.isEmpty) return NONE;
    return [this.#writing.get(id), this.#waiting.get(id)].filter((each) => each !== undefined);
  }
}

const NONE: WaitingDevice[] = [];

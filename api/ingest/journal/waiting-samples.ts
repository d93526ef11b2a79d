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

  /** @param device the newest object of the device, because the cache replaces it now and then, or it was retired meanwhile */
  add(device: Device, series: Series[], segment: number) {
    this.device = device;
    this.segment = Math.min(this.segment, segment);
    for (let index = 0; index < series.length; index++) {
      const { known, sensor, times, values } = series[index] as Series;
      this.samples += times.length;
      // Messages of a device nearly always have the same sensors in the same order.
      const same = this.#sensors[index];
      const found = same?.sensor === sensor ? same : this.#sensors.find((each) => each.known.id === known.id);
      if (!found) this.#sensors.push({ known, sensor, times: [...times], values: [...values] });
      else {
        found.known = known;
        found.sensor = sensor;
        append(found, times, values);
      }
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

/** By device, in the order in which their first samples came. */
export class WaitingSamples {
  #waiting: Map<string, WaitingDevice> = new Map();
  /** Their rows are being written. */
  #writing: Map<string, WaitingDevice> = new Map();
  #samples = 0;
  /** undefined: to be found again, because finding it for each message would take too long. */
  #oldest: number | null | undefined = null;

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
      if (this.isEmpty) this.#oldest = now;
      waiting = new WaitingDevice(device, segment, now);
      this.#waiting.set(device.id, waiting);
    }
    const before = waiting.samples;
    waiting.add(device, series, segment);
    this.#samples += waiting.samples - before;
  }

  /** The device that waits longest, and is not being written already. */
  next(): WaitingDevice | undefined {
    for (const [id, waiting] of this.#waiting) if (!this.#writing.has(id)) return waiting;
    return undefined;
  }

  isWriting(id: string): boolean {
    return this.#writing.has(id);
  }

  startWriting(waiting: WaitingDevice) {
    this.#waiting.delete(waiting.device.id);
    this.#writing.set(waiting.device.id, waiting);
  }

  endWriting(waiting: WaitingDevice) {
    this.#writing.delete(waiting.device.id);
    this.#samples -= waiting.samples;
    if (waiting.since === this.#oldest) this.#oldest = undefined;
  }

  /** `since` of the device that waits longest; null: none waits. */
  get oldest(): number | null {
    if (this.#oldest === undefined) this.#oldest = this.#findOldest();
    return this.#oldest;
  }

  #findOldest(): number | null {
    const [first] = this.#waiting.values();
    let oldest = first?.since ?? null;
    for (const { since } of this.#writing.values()) oldest = Math.min(since, oldest ?? since);
    return oldest;
  }

  /** The first segment with a sample that waits; null: none waits. Rows of two segments may be committed in any order. */
  get segment(): number | null {
    if (this.isEmpty) return null;
    let first = Number.POSITIVE_INFINITY;
    for (const devices of [this.#writing, this.#waiting])
      for (const { segment } of devices.values()) first = Math.min(first, segment);
    return first;
  }

  find(id: string): WaitingDevice[] {
    if (this.isEmpty) return NONE;
    return [this.#writing.get(id), this.#waiting.get(id)].filter((each) => each !== undefined);
  }
}

const NONE: WaitingDevice[] = [];

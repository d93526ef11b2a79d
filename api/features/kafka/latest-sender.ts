import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeLimit } from '../../background/index.ts';
import type { Device, Sensor } from '../../ingest/registry/cache.ts';
import type { RecordMaker } from './record-maker.ts';
import { chunks, type KafkaSender } from './sender.ts';

/** In ms. Newer values of a sensor replace older ones before they are sent. */
const EVERY_MS = 5000;

/** To the compacted topic. While Kafka refuses the values, only the newest value of each sensor is kept. */
export class LatestSender {
  #deps;
  #changed: Map<string, { device: Device; sensor: Sensor; isRemoved?: boolean }> = new Map();
  /** Ends the pause between two requests, so that changed values are sent a last time. */
  #ending = new AbortController();
  #stopping = new AbortController();
  #running = Promise.resolve();

  constructor(deps: {
    sender: KafkaSender;
    /** false: the signal aborted before records could be encoded */
    prepare: (signal: AbortSignal) => Promise<boolean>;
    records: RecordMaker;
  }) {
    this.#deps = deps;
  }

  note = (device: Device, changed: Sensor[]) => {
    for (const sensor of changed) this.#changed.set(sensor.id, { device, sensor });
  };

  /** The compacted topic forgets the sensors of a retired device. */
  remove = (device: Device) => {
    for (const sensor of device.sensors.values())
      this.#changed.set(sensor.id, { device, sensor, isRemoved: true });
  };

  start() {
    this.#running = this.#run();
  }

  /** `withinMs`: time limit for sending the changed values. */
  async stop(withinMs: number) {
    this.#ending.abort();
    if (!this.isFailing) await withTimeLimit(this.#running, withinMs);
    this.#stopping.abort();
    await this.#deps.sender.stop();
  }

  get ended() {
    return this.#running;
  }

  get isFailing() {
    return this.#deps.sender.failingForMs > 0;
  }

  async #run() {
    const { signal } = this.#ending;
    for (let isLast = false; !isLast; ) {
      await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
      isLast = signal.aborted;
      if (this.#changed.size === 0) continue;
      if (!(await this.#deps.prepare(this.#stopping.signal))) return;
      if (!(await this.#send())) return;
    }
  }

  /** False: this process ends before Kafka has the values. */
  async #send(): Promise<boolean> {
    const { sender, records } = this.#deps;
    const changed = [...this.#changed.values()];
    this.#changed = new Map();
    const latestRecords = changed.flatMap(({ device, sensor, isRemoved }) => {
      const { id, name, type, unit, site, ts, value } = sensor;
      // A removal may have left no sample.
      if (isRemoved || ts === null || value === null) return [records.ofRemoved(id)];
      const names = { device_id: device.id, device: device.name, sensor_id: id, sensor: name };
      return [records.ofLatest({ ...names, type, unit, site, ts, value })];
    });
    for (const chunk of chunks(latestRecords)) if (!(await sender.send(chunk))) return false;
    return true;
  }
}

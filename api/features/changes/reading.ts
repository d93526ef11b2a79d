import { LRUCache } from 'lru-cache';
import { type DeviceBytes, uuidText } from '../../../schema/ids.ts';
import { visitBlock } from '../../../schema/packed/block.ts';
import { HOUR_MS, isLate } from '../../../schema/rules.ts';
import { iteratePages } from '../../background/index.ts';
import type { Store } from '../../store/index.ts';
import { timeOfId } from '../../store/index.ts';
import { openBatchText } from '../shared/blocks/index.ts';
import type { Names } from '../shared/blocks/records.ts';
import type { BlockStore, StoredBlock } from '../shared/blocks/store.ts';
import { correctionText } from '../shared/corrections/index.ts';
import {
  type Change,
  hoursOf,
  isAfter,
  lateFrom,
  type Place,
  type Position,
  type Progress,
  progressOf,
  type StepHour,
} from './position.ts';

const DEVICES_AT_ONCE = 16;

/** Write timestamps of the driver may be this far ahead of its clock, in ms. */
const DRIFT_MS = 1000;

const NAMES = { max: 10_000, ttl: 60_000 };

/** Reads the changes of one step, device by device. */
export class ChangeReading {
  #store;
  #blocks;
  #groups;
  #clock;
  #deviceCount = 0;
  #known: LRUCache<string, Names> = new LRUCache(NAMES);

  constructor({
    store,
    blocks,
    groups,
    clock,
  }: {
    store: Pick<Store, 'devices' | 'corrections'>;
    blocks: BlockStore;
    groups: number;
    clock: () => number;
  }) {
    this.#clock = clock;
    this.#store = store;
    this.#blocks = blocks;
    this.#groups = groups;
  }

  /** Devices that the last whole step read. */
  get deviceCount() {
    return this.#deviceCount;
  }

  async *changesOfDevices(position: Position, signal: AbortSignal): AsyncGenerator<Change | Progress, void> {
    const { after } = position;
    const hours = hoursOf(position);
    let count = 0;
    for (let group = after?.group ?? 0; group < this.#groups; group++) {
      const first = after?.group === group ? Buffer.from(after.device, 'hex') : null;
      const devices = iteratePages((next) => this.#blocks.devicePage(group, first, next));
      // Most devices have few blocks, so several devices are read at once.
      for await (const some of inBatches(devices, DEVICES_AT_ONCE)) {
        count += some.length;
        const reads = some.map((device) => {
          const changes = this.#changesOfDevice(group, device, hours, position, signal);
          return { changes, first: changes.next() };
        });
        for (const read of reads) read.first.catch(() => {});
        for (const { changes, first: begun } of reads) {
          for (let next = await begun; !next.done; next = await changes.next()) yield next.value;
        }
        const [device, hour] = [some.at(-1), hours.at(-1)];
        if (device && hour) yield progressOf(position, { group, device, bucket: hour.bucket });
        signal.throwIfAborted();
      }
    }
    if (!after) this.#deviceCount = count;
  }

  async *#changesOfDevice(
    group: number,
    device: DeviceBytes,
    hours: StepHour[],
    position: Position,
    signal: AbortSignal,
  ): AsyncGenerator<Change, void> {
    const { after } = position;
    const reached = after && after.group === group && after.device === device.toString('hex') ? after : null;
    for (const { bucket, since, has } of hours) {
      if (reached && bucket < reached.bucket) continue;
      signal.throwIfAborted();
      for await (const block of this.#blocksOf(device, bucket, { since, after }))
        if (has(block)) yield await this.#toChange(group, device, bucket, block, position);
    }
  }

  async *lateChanges(position: Position, signal: AbortSignal): AsyncGenerator<Change | Progress, void> {
    const { at, after, fresh, join = 0 } = position;
    for (let group = after?.group ?? 0; group < this.#groups; group++) {
      const from =
        after?.group === group ? { device: Buffer.from(after.device, 'hex'), bucket: after.bucket } : null;
      const pages = iteratePages((next) => this.#blocks.lateArrivalPage(group, at, next, from));
      let last = '';
      for await (const { device, bucket, since } of pages) {
        // The table may list the same hour of a device several times, with different values of `since`. The row with the
        // earliest value comes first.
        const key = `${device.toString('hex')} ${bucket}`;
        if (key === last) continue;
        last = key;
        signal.throwIfAborted();
        const begin = Math.max(since, lateFrom(bucket), fresh ? join + 1 : 0);
        for await (const block of this.#blocksOf(device, bucket, { after })) {
          if (block.writtenAt >= begin && block.writtenAt < at + HOUR_MS + DRIFT_MS)
            yield await this.#toChange(group, device, bucket, block, position);
        }
        yield progressOf(position, { group, device, bucket });
      }
    }
  }

  /** Whether a correction that was accepted in the hour still runs. @param hour epoch ms */
  async hasRunningCorrection(hour: number): Promise<boolean> {
    const now = this.#clock();
    const range = { from: hour, to: hour + HOUR_MS };
    const running = await this.#store.corrections.select(
      null,
      range,
      ({ runningUntil }) => runningUntil > now,
    );
    return running.length > 0;
  }

  /** Those that were accepted in the hour of the step, in the order of their acceptance. They come after the late blocks. */
  async *corrections(position: Position, signal: AbortSignal): AsyncGenerator<Change, void> {
    const { at, after, fresh, join = 0 } = position;
    const from = Math.max(at, fresh ? join + 1 : at, after?.group === this.#groups ? after.ts : at);
    const listed = await this.#store.corrections.revisions(null, { from, to: at + HOUR_MS });
    const ids = listed.map(({ id }) => id.toString('hex'));
    const reached = after?.group === this.#groups ? ids.indexOf(after.digest) + 1 : 0;
    for (const digest of ids.slice(reached)) {
      signal.throwIfAborted();
      const correction = await this.#store.corrections.find(Buffer.from(digest, 'hex'));
      if (!correction) continue;
      const place = {
        ...{ group: this.#groups, device: '', bucket: 0, part: 0 },
        ...{ ts: timeOfId(correction.id), digest },
      };
      yield { text: correctionText(correction), position: { ...position, after: place } };
    }
  }

  /** The cache is not used if it lacks a sensor of the block, because that sensor is new. */
  async #namesOf(group: number, device: DeviceBytes, bucket: number, samples: Buffer): Promise<Names> {
    const id = uuidText(device);
    const found = this.#known.get(id);
    let isComplete = found !== undefined;
    if (found)
      visitBlock(bucket, samples, (sensor) => {
        isComplete &&= found.sensor(uuidText(sensor)) !== null;
      });
    if (found && isComplete) return found;
    const key = { group, bytes: device };
    const [row, rows] = await Promise.all([
      this.#store.devices.device(key),
      this.#store.devices.sensors(key),
    ]);
    const sensors = new Map(rows.map((sensor) => [sensor.id, sensor.name]));
    const names = {
      id,
      name: row?.name ?? null,
      sensor: (sensorId: string) => sensors.get(sensorId) ?? null,
    };
    this.#known.set(id, names);
    return names;
  }

  async *#blocksOf(
    device: DeviceBytes,
    bucket: number,
    { since, after }: { since?: number; after?: Place },
  ): AsyncGenerator<StoredBlock, void> {
    const place = after && after.device === device.toString('hex') && after.bucket === bucket ? after : null;
    for (const part of await this.#blocks.parts(device, bucket)) {
      if (place && part < place.part) continue;
      const pages = iteratePages((next) =>
        this.#blocks.blockPage(device, bucket, part, { since, after: next }),
      );
      for await (const block of pages) {
        if (place && part === place.part && !isAfter(block, place)) continue;
        yield block;
      }
    }
  }

  /** The change has the position after its block. */
  async #toChange(
    group: number,
    device: DeviceBytes,
    bucket: number,
    block: StoredBlock,
    position: Position,
  ): Promise<Change> {
    const { digest, samples, writtenAt, part, ts } = block;
    const late = isLate(bucket, writtenAt);
    const text = openBatchText(
      { bucket, digest, samples, committedAt: writtenAt, late },
      await this.#namesOf(group, device, bucket, samples),
    );
    const after = {
      group,
      device: device.toString('hex'),
      bucket,
      part,
      ts,
      digest: digest.toString('hex'),
    };
    return { text, position: { ...position, after } };
  }
}

async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[], void> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

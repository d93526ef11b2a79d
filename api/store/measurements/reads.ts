import { JoinedCalls } from '../../../common/concurrency.ts';
import { type DeviceBytes, type SensorBytes, uuidText } from '../../../schema/ids.ts';
import { visitBlock } from '../../../schema/packed/block.ts';
import { mergeSeries, type Series } from '../../../schema/packed/series.ts';
import { int32, int64 } from '../cql-values.ts';
import type { Newest } from '../devices/latest-rows.ts';
import type { Row, Session } from '../sending/session.ts';
import { partOf } from './hours.ts';

/**
 * `since` is rounded down to a multiple of this, in ms. Then reads for several sensors of a device have the
 * same bound, and share one request.
 */
const SINCE_STEP_MS = 10_000;

/** Acknowledged samples of this process whose rows are not written yet. */
export interface Unwritten {
  /** encoded blocks of the samples of an hour */
  blocksOf: (device: DeviceBytes, bucket: number) => Buffer[];
  /** by sensor id; null: none */
  newestOf: (device: DeviceBytes) => Map<string, Newest> | null;
}

/** Of a process without a journal. */
export const NOTHING_UNWRITTEN: Unwritten = { blocksOf: () => [], newestOf: () => null };

export function createSampleReads(
  session: Session,
  unwritten: Pick<Unwritten, 'blocksOf'> = NOTHING_UNWRITTEN,
) {
  const rows = createMessageRows(session);
  /** A device with 200 sensors is read once for all of them, instead of 200 times at once. */
  const joined: JoinedCalls<{ blocks: HourBlocks; parts: number[] }> = new JoinedCalls();

  const readPart = (device: DeviceBytes, bucket: number, part: number, since: number) =>
    joined.call(`${device.toString('latin1')} ${bucket} ${part} ${since}`, async () => {
      // Before the rows, or a sample whose row is written meanwhile would be in neither.
      const waiting = part === 0 ? unwritten.blocksOf(device, bucket) : [];
      const { blocks, parts } = await rows.read(device, bucket, part, since);
      return { blocks: new HourBlocks(bucket, [...blocks, ...waiting]), parts };
    });

  /**
   * Reads part 0 of an hour, and other parts that the caller chooses.
   * @param choose gets all numbers of parts over which the hour is spread, and returns the parts to read in addition to
   *   part 0
   * @param since epoch ms: samples before it may be left out
   */
  async function partsOf(
    device: DeviceBytes,
    bucket: number,
    choose: (parts: number[]) => number[],
    since: number = bucket,
  ): Promise<HourBlocks[]> {
    const from = Math.max(bucket, since - (since % SINCE_STEP_MS));
    const { blocks, parts } = await readPart(device, bucket, 0, from);
    if (parts.length === 0) return [blocks];
    const others = await Promise.all(choose(parts).map((part) => readPart(device, bucket, part, from)));
    return [blocks, ...others.map((other) => other.blocks)];
  }

  return {
    /** Merges all samples of the hour. @param since epoch ms: samples before it may be left out */
    async readHour(
      device: DeviceBytes,
      sensor: SensorBytes,
      bucket: number,
      since?: number,
    ): Promise<Series> {
      const parts = await partsOf(device, bucket, (numbers) => partsOfSensor(numbers, sensor), since);
      return mergeSeries(parts.flatMap((blocks) => blocks.samplesOf(sensor)));
    },

    /** One series for each stored row, by sensor id. A sample in two rows is returned twice. */
    async readDeviceHour(device: DeviceBytes, bucket: number): Promise<Map<string, Series[]>> {
      const sensors: Map<string, Series[]> = new Map();
      for (const part of await partsOf(device, bucket, allParts)) {
        for (const [key, list] of part.bySensor()) {
          const id = uuidText(Buffer.from(key, 'latin1'));
          sensors.set(id, [...(sensors.get(id) ?? []), ...list.map((series) => series())]);
        }
      }
      return sensors;
    },
  };
}

export type SampleReads = ReturnType<typeof createSampleReads>;

const SELECT = {
  name: 'read_hour',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ?',
  // A message of 50 sensors is a row of 1 kB. Under load, waiting messages share rows of up to 32 KiB, but a device has
  // only few such rows in an hour.
  fetchSize: 500,
};
const SELECT_SINCE = {
  ...SELECT,
  name: 'read_hour_since',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ? AND ts >= ?',
};
const SELECT_PARTS = {
  name: 'read_parts',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ? LIMIT 1',
};

/** A request reads rows of one partition: an hour of a device, and one part of its sensors if there are many. */
export function createMessageRows(session: Session) {
  /** The numbers of parts are in a static column of part 0, which each row contains. If no row was found, the column is read alone. */
  const partsOf = async (rows: Row[], key: unknown[], part: number) =>
    partsIn(rows.length > 0 || part > 0 ? rows : await session.all(SELECT_PARTS, key));

  return {
    /**
     * @param since epoch ms: rows whose samples are all earlier may be left out
     * @returns `parts`: each number of parts over which sensors of the hour were spread; only part 0 has these numbers
     */
    async read(
      device: DeviceBytes,
      bucket: number,
      part: number,
      since: number = bucket,
    ): Promise<{ blocks: Buffer[]; parts: number[] }> {
      const key = [device, int64(bucket), int32(part)];
      const rows =
        since > bucket
          ? await session.all(SELECT_SINCE, [...key, int64(since)])
          : await session.all(SELECT, key);
      return {
        blocks: blocksOf(rows),
        parts: since > bucket ? await partsOf(rows, key, part) : partsIn(rows),
      };
    },

    async page(
      device: DeviceBytes,
      bucket: number,
      part: number,
      after?: string,
    ): Promise<{ blocks: Buffer[]; parts: number[]; next: string | undefined }> {
      const { rows, next } = await session.page(SELECT, [device, int64(bucket), int32(part)], after);
      return { blocks: blocksOf(rows), parts: partsIn(rows), next };
    },
  };
}

const partsIn = ([first]: Row[]): number[] => first?.['parts'] ?? [];

/** A partition that has only the static column is returned as one row without samples. */
const blocksOf = (rows: Row[]): Buffer[] => rows.map((row) => row['samples']).filter((blob) => blob !== null);

/** Parts that may have samples of the sensor, in addition to part 0. */
export const partsOfSensor = (parts: number[], sensor: Uint8Array): number[] => [
  ...new Set(parts.map((count) => partOf(sensor, count))),
];

export const allParts = (parts: number[]): number[] =>
  Array.from({ length: Math.max(0, ...parts) }, (_, index) => index + 1);

/** Searches without an index. An index takes longer than a search, and more memory. */
const SEARCHES = 3;

/** Several callers may share the blocks that a read of one hour of a device found. */
export class HourBlocks {
  #bucket;
  #blocks;
  #index: Map<string, Array<() => Series>> | null = null;
  #searches = 0;

  constructor(bucket: number, blocks: Buffer[]) {
    this.#bucket = bucket;
    this.#blocks = blocks;
  }

  /**
   * @returns one sorted series for each block that has samples of the sensor
   * @throws {RangeError} when one of the Buffers is not an encoded block of samples of one hour
   */
  samplesOf(sensor: SensorBytes): Series[] {
    if (this.#searches++ >= SEARCHES)
      return (this.bySensor().get(sensor.toString('latin1')) ?? []).map((series) => series());
    const found: Series[] = [];
    this.#visit((id, series) => {
      if (sensor.equals(id)) found.push(series());
    });
    return found;
  }

  /** @returns functions that read a block, by sensor id as latin1 text @throws {RangeError} as `samplesOf` */
  bySensor(): Map<string, Array<() => Series>> {
    if (this.#index) return this.#index;
    const sensors: Map<string, Array<() => Series>> = new Map();
    this.#visit((id, series) => {
      const key = id.toString('latin1');
      const list = sensors.get(key);
      if (list) list.push(series);
      else sensors.set(key, [series]);
    });
    this.#index = sensors;
    return sensors;
  }

  #visit(visit: Parameters<typeof visitBlock>[2]) {
    for (const blob of this.#blocks) visitBlock(this.#bucket, blob, visit);
  }
}

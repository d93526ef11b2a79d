import { JoinedCalls } from '../../../common/concurrency.ts';
import { type DeviceBytes, type SensorBytes, uuidText } from '../../../schema/ids.ts';
import { mergeSeries, type Series } from '../../../schema/packed/series.ts';
import type { Session } from '../sending/session.ts';
import { HourBlocks } from './hour-blocks.ts';
import { allParts, createMessageRows, partsOfSensor } from './rows.ts';

/**
 * `since` is rounded down to a multiple of this, in ms. Then reads for several sensors of a device have the
 * same bound, and share one request.
 */
const SINCE_STEP_MS = 10_000;

export function createSampleReads(session: Session) {
  const rows = createMessageRows(session);
  /** A device with 200 sensors is read once for all of them, instead of 200 times at once. */
  const joined: JoinedCalls<{ blocks: HourBlocks; parts: number[] }> = new JoinedCalls();

  const readPart = (device: DeviceBytes, bucket: number, part: number, since: number) =>
    joined.call(`${device.toString('latin1')} ${bucket} ${part} ${since}`, async () => {
      const { blocks, parts } = await rows.read(device, bucket, part, since);
      return { blocks: new HourBlocks(bucket, blocks), parts };
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

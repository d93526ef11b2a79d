import { uuidText } from '../../schema/ids.ts';
import { visitBlock } from '../../schema/packed/block.ts';
import type { Numbers } from '../../schema/packed/series.ts';
import { type AvroRecord, decodeAvro } from './avro.ts';
import type { Watermark } from './records.ts';

/** Samples of one sensor. `sensor` is the sensor id. */
type SentSamples = { sensor: string; times: Numbers; values: Numbers };

/**
 * Decodes a record of the topic `batches` in any format.
 * @param headers `bucket`: hour of the samples, in epoch ms
 * @param recordOfId finds the kind of record by its schema id in the registry
 * @throws {RangeError | SyntaxError} when `value` is not a record of batches
 */
export function decodeBatch(
  value: Buffer,
  { format, bucket }: { format: string; bucket: number },
  recordOfId?: (id: number) => AvroRecord | null,
): SentSamples[] {
  if (format === 'packed') return samplesOfBlock(bucket, value);
  if (format === 'avro') {
    const { record, value: decoded } = decodeAvro(value, recordOfId);
    if (record === 'sample')
      return [{ sensor: decoded.sensor_id, times: [decoded.ts], values: [decoded.value] }];
    return decoded.sensors.map(({ sensor_id: sensor, times, values }: any) => ({
      sensor,
      times,
      values,
    }));
  }
  const decoded = JSON.parse(String(value));
  if (decoded.kind === 'sample')
    return [{ sensor: decoded.sensor_id, times: [decoded.ts], values: [decoded.value] }];
  return decoded.sensors.map(({ sensor_id: sensor, samples }: any) => ({
    sensor,
    times: samples.map(([ts]: [number, number]) => ts),
    values: samples.map(([, sample]: [number, number]) => sample),
  }));
}

/** @param bucket epoch ms */
function samplesOfBlock(bucket: number, block: Buffer): SentSamples[] {
  const found: SentSamples[] = [];
  visitBlock(bucket, block, (sensor, series) => found.push({ sensor: uuidText(sensor), ...series() }));
  return found;
}

/** @param recordOfId of a schema registry */
export function decodeWatermark(
  value: Buffer,
  recordOfId?: (id: number) => AvroRecord | null,
): Watermark & { topics: Record<string, number> } {
  if (value[0] !== 0x7b) return decodeAvro(value, recordOfId).value;
  const { shard, shards, until, topics } = JSON.parse(String(value));
  const all = Object.entries(topics).map(([topic, instant]) => [topic, Date.parse(instant)]);
  return { shard, shards, until: Date.parse(until), topics: Object.fromEntries(all) };
}

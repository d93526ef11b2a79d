import { uuidText } from '../ids.ts';
import { visitBlock } from '../packed/block.ts';
import type { Numbers } from '../packed/series.ts';
import { type AvroRecord, decodeAvro } from './avro.ts';

type SentSamples = { sensor: string; times: Numbers; values: Numbers };

type Sample = { sensor_id: string; ts: number; value: number };
type SampleText = Sample & { kind: 'sample' };
type BatchText = { kind: 'batch'; sensors: Array<{ sensor_id: string; samples: Array<[number, number]> }> };
type WatermarkText = { shard: number; shards: number; until: string; topics: Record<string, string> };

/**
 * Decodes any format. `bucket`: epoch ms. `recordOfId` finds the kind of record by its schema id in the registry.
 * @throws {RangeError} or SyntaxError if `value` is not a record of batches
 */
export function decodeBatch(
  value: Buffer,
  { format, bucket }: { format: string; bucket: number },
  recordOfId?: (id: number) => AvroRecord | null,
): SentSamples[] {
  if (format === 'packed') return samplesOfBlock(bucket, value);
  if (format === 'avro') {
    const decoded = decodeAvro(value, recordOfId);
    if (decoded.record === 'sample') return [samplesOf(decoded.value)];
    if (decoded.record !== 'batch') throw new RangeError(`a record ${decoded.record} has no batch`);
    return decoded.value.sensors.map(({ sensor_id: sensor, times, values }) => ({ sensor, times, values }));
  }
  const decoded: SampleText | BatchText = JSON.parse(String(value));
  if (decoded.kind === 'sample') return [samplesOf(decoded)];
  return decoded.sensors.map(({ sensor_id: sensor, samples }) => ({
    sensor,
    times: samples.map(([ts]) => ts),
    values: samples.map(([, sample]) => sample),
  }));
}

const samplesOf = ({ sensor_id: sensor, ts, value }: Sample): SentSamples => ({
  sensor,
  times: [ts],
  values: [value],
});

function samplesOfBlock(bucket: number, block: Buffer): SentSamples[] {
  const found: SentSamples[] = [];
  visitBlock(bucket, block, (sensor, series) => found.push({ sensor: uuidText(sensor), ...series() }));
  return found;
}

/** `recordOfId`: of a schema registry. `until` and `topics` are epoch ms. */
export function decodeWatermark(
  value: Buffer,
  recordOfId?: (id: number) => AvroRecord | null,
): { shard: number; shards: number; until: number; topics: Record<string, number> } {
  if (value[0] !== 0x7b) {
    const decoded = decodeAvro(value, recordOfId);
    if (decoded.record === 'watermark') return decoded.value;
    throw new RangeError(`a record ${decoded.record} is no watermark`);
  }
  const { shard, shards, until, topics }: WatermarkText = JSON.parse(String(value));
  const all = Object.entries(topics).map(([topic, instant]) => [topic, Date.parse(instant)]);
  return { shard, shards, until: Date.parse(until), topics: Object.fromEntries(all) };
}

import { uuidText } from '../../schema/ids.js';
import { visitBlock } from '../../schema/packed/block.js';
import { decodeAvro } from './avro.js';

/** @import { AvroRecord } from './avro.js' */
/** @import { Watermark } from './records.js' */
/** @import { Numbers } from '../../schema/packed/series.js' */

/** Samples of one sensor. `sensor` is the sensor id. @typedef {{ sensor: string, times: Numbers, values: Numbers }} SentSamples */

/**
 * Decodes a record of the topic `batches` in any format.
 *
 * @param {Buffer} value
 * @param {{ format: string, bucket: number }} headers `bucket`: hour of the samples, in epoch ms
 * @param {(id: number) => AvroRecord | null} [recordOfId] finds the kind of record by its schema id in the registry
 * @returns {SentSamples[]}
 * @throws {RangeError | SyntaxError} when `value` is not a record of batches
 */
export function decodeBatch(value, { format, bucket }, recordOfId) {
  if (format === 'packed') return samplesOfBlock(bucket, value);
  if (format === 'avro') {
    const { record, value: decoded } = decodeAvro(value, recordOfId);
    if (record === 'sample')
      return [{ sensor: decoded.sensor_id, times: [decoded.ts], values: [decoded.value] }];
    return decoded.sensors.map((/** @type {any} */ { sensor_id: sensor, times, values }) => ({
      sensor,
      times,
      values,
    }));
  }
  const decoded = JSON.parse(String(value));
  if (decoded.kind === 'sample')
    return [{ sensor: decoded.sensor_id, times: [decoded.ts], values: [decoded.value] }];
  return decoded.sensors.map((/** @type {any} */ { sensor_id: sensor, samples }) => ({
    sensor,
    times: samples.map((/** @type {[number, number]} */ [ts]) => ts),
    values: samples.map((/** @type {[number, number]} */ [, sample]) => sample),
  }));
}

/** @param {number} bucket epoch ms @param {Buffer} block @returns {SentSamples[]} */
function samplesOfBlock(bucket, block) {
  /** @type {SentSamples[]} */
  const found = [];
  visitBlock(bucket, block, (sensor, series) => found.push({ sensor: uuidText(sensor), ...series() }));
  return found;
}

/** @param {Buffer} value @param {(id: number) => AvroRecord | null} [recordOfId] of a schema registry @returns {Watermark & { topics: Record<string, number> }} */
export function decodeWatermark(value, recordOfId) {
  if (value[0] !== 0x7b) return decodeAvro(value, recordOfId).value;
  const { shard, shards, until, topics } = JSON.parse(String(value));
  const all = Object.entries(topics).map(([topic, instant]) => [topic, Date.parse(instant)]);
  return { shard, shards, until: Date.parse(until), topics: Object.fromEntries(all) };
}

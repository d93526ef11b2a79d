import { announcedText } from './announced.js';
import { encodeAvro, singleObjectHead } from './avro.js';
import {
  createTimeText,
  latestText,
  numberText,
  openBatchText,
  samplesOf,
  watermarkText,
} from './records.js';

/** @import { Config } from '../../common/settings/config.js' */
/** @import { AnnouncedRecord } from './announced.js' */
/** @import { AvroRecord } from './avro.js' */
/** @import { Block, LatestValue, Names, Watermark } from './records.js' */

/** @param {Block} block @param {Names} names @returns {Buffer[]} */
const jsonSamples = (block, names) => {
  const timeText = createTimeText();
  return samplesOf(block, names).flatMap(({ id, name, series }) => {
    const head = `{"kind":"sample","device_id":"${names.id}","device":${JSON.stringify(names.name)},"sensor_id":"${id}","sensor":${JSON.stringify(name)}`;
    return Array.from(series.times, (ts, index) =>
      Buffer.from(`${head},"ts":${timeText(ts)},"value":${numberText(Number(series.values[index]))}}`),
    );
  });
};

/**
 * Returns the first bytes of a record, which name its schema.
 *
 * @typedef {(record: AvroRecord) => Buffer} HeadOf
 */

/** @param {Block} block @param {Names} names @param {HeadOf} headOf @returns {Buffer} */
const avroBatch = (block, names, headOf) =>
  encodeAvro(
    'batch',
    {
      device_id: names.id,
      device: names.name,
      bucket: block.bucket,
      digest: block.digest.toString('hex'),
      late: block.late,
      committed_at: block.committedAt,
      sensors: samplesOf(block, names).map(({ id, name, series }) => ({
        sensor_id: id,
        sensor: name,
        times: Array.from(series.times),
        values: Array.from(series.values),
      })),
    },
    headOf('batch'),
  );

/** @param {Block} block @param {Names} names @param {HeadOf} headOf @returns {Buffer[]} */
const avroSamples = (block, names, headOf) =>
  samplesOf(block, names).flatMap(({ id, name, series }) =>
    Array.from(series.times, (ts, index) =>
      encodeAvro(
        'sample',
        {
          device_id: names.id,
          device: names.name,
          sensor_id: id,
          sensor: name,
          ts,
          value: Number(series.values[index]),
        },
        headOf('sample'),
      ),
    ),
  );

/**
 * Encodes a block as the values of its Kafka records: one record for the block, or one record for each sample.
 *
 * @callback EncodeBlock
 * @param {Block} block
 * @param {Names} names
 * @returns {Buffer[]}
 */

/**
 * Returns the encoder of blocks for the settings.
 *
 * @param {Pick<Config['stream'], 'format' | 'explode'>} stream
 * @param {HeadOf} [headOf] of Avro; default: the single-object encoding
 * @returns {EncodeBlock}
 */
export function createEncoder({ format, explode }, headOf = singleObjectHead) {
  if (format === 'packed') return ({ samples }) => [samples];
  if (format === 'avro')
    return (block, names) =>
      explode ? avroSamples(block, names, headOf) : [avroBatch(block, names, headOf)];
  return explode ? jsonSamples : (block, names) => [Buffer.from(`${openBatchText(block, names)}}`)];
}

/**
 * Returns the encoder of all records that are not blocks. With the format `packed` these records are JSON.
 *
 * @param {Config['stream']['format']} format
 * @param {HeadOf} [headOf] of Avro; default: the single-object encoding
 */
export const createSmallEncoder = (format, headOf = singleObjectHead) =>
  format === 'avro'
    ? {
        /** @param {Watermark} watermark */
        watermark: (watermark) => encodeAvro('watermark', watermark, headOf('watermark')),
        /** @param {LatestValue} latest */
        latest: (latest) => encodeAvro('latest', latest, headOf('latest')),
        /** @param {AnnouncedRecord} announced */
        announced: ({ kind, content }) => encodeAvro(kind, content, headOf(kind)),
      }
    : {
        /** @param {Watermark} watermark */
        watermark: (watermark) => Buffer.from(watermarkText(watermark)),
        /** @param {LatestValue} latest */
        latest: (latest) => Buffer.from(latestText(latest)),
        /** @param {AnnouncedRecord} announced */
        announced: (announced) => Buffer.from(announcedText(announced)),
      };

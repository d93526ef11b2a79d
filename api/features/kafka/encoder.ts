import { type AvroRecord, encodeAvro, singleObjectHead } from '../../../schema/kafka/avro.ts';
import type { KafkaSettings } from '../../../schema/kafka/index.ts';
import {
  createTimeText,
  latestText,
  numberText,
  openBatchText,
  samplesOf,
  watermarkText,
} from '../shared/blocks/index.ts';
import type { Block, LatestValue, Names, Watermark } from '../shared/blocks/records.ts';
import { type AnnouncedRecord, announcedText } from './announced.ts';

const jsonSamples = (block: Block, names: Names): Buffer[] => {
  const timeText = createTimeText();
  return samplesOf(block, names).flatMap(({ id, name, series }) => {
    const head = `{"kind":"sample","device_id":"${names.id}","device":${JSON.stringify(names.name)},"sensor_id":"${id}","sensor":${JSON.stringify(name)}`;
    return Array.from(series.times, (ts, index) =>
      Buffer.from(`${head},"ts":${timeText(ts)},"value":${numberText(Number(series.values[index]))}}`),
    );
  });
};

export type HeadOf = (record: AvroRecord) => Buffer;

const avroBatch = (block: Block, names: Names, headOf: HeadOf): Buffer =>
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

const avroSamples = (block: Block, names: Names, headOf: HeadOf): Buffer[] =>
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

/** One value for the block, or one for each sample. */
type EncodeBlock = (block: Block, names: Names) => Buffer[];

/** `headOf` of Avro: by default the single-object encoding. */
export function createEncoder(
  { format, explode }: Pick<KafkaSettings, 'format' | 'explode'>,
  headOf: HeadOf = singleObjectHead,
): EncodeBlock {
  if (format === 'packed') return ({ samples }) => [samples];
  if (format === 'avro')
    return (block, names) =>
      explode ? avroSamples(block, names, headOf) : [avroBatch(block, names, headOf)];
  return explode ? jsonSamples : (block, names) => [Buffer.from(`${openBatchText(block, names)}}`)];
}

/** For records that are not blocks. With the format `packed` they are JSON. `headOf`: see `createEncoder`. */
export const createSmallEncoder = (format: KafkaSettings['format'], headOf: HeadOf = singleObjectHead) =>
  format === 'avro'
    ? {
        watermark: (watermark: Watermark) => encodeAvro('watermark', watermark, headOf('watermark')),
        latest: (latest: LatestValue) => encodeAvro('latest', latest, headOf('latest')),
        announced: ({ kind, content }: AnnouncedRecord) => encodeAvro(kind, content, headOf(kind)),
      }
    : {
        watermark: (watermark: Watermark) => Buffer.from(watermarkText(watermark)),
        latest: (latest: LatestValue) => Buffer.from(latestText(latest)),
        announced: (announced: AnnouncedRecord) => Buffer.from(announcedText(announced)),
      };

import { formatTime } from '../../../../common/times.ts';
import { uuidText } from '../../../../schema/ids.ts';
import { visitBlock } from '../../../../schema/packed/block.ts';
import type { Series } from '../../../../schema/packed/series.ts';

export interface Block {
  /** epoch ms */
  bucket: number;
  /** 8 bytes */
  digest: Buffer;
  /** packed, as in the table `message` */
  samples: Buffer;
  committedAt: number;
  /** committed while its hour was closing, or later */
  late: boolean;
}

export interface Names {
  id: string;
  name: string | null;
  sensor: (sensorId: string) => string | null;
}

type SensorSamples = { id: string; name: string | null; series: Series };

export function samplesOf({ bucket, samples }: Block, names: Names): SensorSamples[] {
  const sensors: SensorSamples[] = [];
  visitBlock(bucket, samples, (bytes, series) => {
    const id = uuidText(bytes);
    sensors.push({ id, name: names.sensor(id), series: series() });
  });
  return sensors;
}

/** `JSON.stringify` would lose the negative zero. */
export const numberText = (value: number) => (Object.is(value, -0) ? '-0' : String(value));

const MILLION = 1e6;

/**
 * Formats epoch ms. Consecutive times share all digits but the last six. These are kept, because the engine formats small integers faster
 * than integers of 13 digits: 230 ns a sample with its value, instead of 380 ns.
 */
export function createTimeText(): (time: number) => string {
  let millions = 0;
  let head = '';
  return (time) => {
    const whole = Math.floor(time / MILLION);
    // Without leading digits, the zeros of the last six digits would be no JSON.
    if (whole < 1) return String(time);
    if (whole !== millions) {
      millions = whole;
      head = String(whole);
    }
    return head + String(MILLION + time - whole * MILLION).slice(1);
  };
}

/** Appending to one text avoids a copy for each sensor. */
function withSensor(
  before: string,
  { id, name, series: { times, values } }: SensorSamples,
  timeText: (time: number) => string,
) {
  let text = `${before}{"sensor_id":"${id}","sensor":${JSON.stringify(name)},"samples":`;
  for (let i = 0; i < times.length; i++) {
    text += `${i === 0 ? '[[' : ',['}${timeText(Number(times[i]))},${numberText(Number(values[i]))}]`;
  }
  return `${text}]}`;
}

/** Features send the same text, whether over HTTP or as a stream. It lacks the closing brace, so that more members can follow. */
export function openBatchText(block: Block, names: Names): string {
  const { bucket, digest, late, committedAt } = block;
  const timeText = createTimeText();
  let text =
    `{"kind":"batch","device_id":"${names.id}","device":${JSON.stringify(names.name)},` +
    `"bucket":"${formatTime(bucket)}","digest":"${digest.toString('hex')}","late":${late},` +
    `"committed_at":"${formatTime(committedAt)}","sensors":[`;
  let separator = '';
  for (const sensor of samplesOf(block, names)) {
    text = withSensor(text + separator, sensor, timeText);
    separator = ',';
  }
  return `${text}]`;
}

export interface Watermark {
  shard: number;
  shards: number;
  /** epoch ms; the topic that is furthest behind has all records before it */
  until: number;
  /** epoch ms for each kind of topic; `GET /changes` omits it */
  topics?: Record<string, number>;
}

export function watermarkText({ shard, shards, until, topics }: Watermark) {
  const text = `{"kind":"watermark","shard":${shard},"shards":${shards},"until":"${formatTime(until)}"`;
  if (!topics) return `${text}}`;
  const all = Object.entries(topics).map(([topic, instant]) => [topic, formatTime(instant)]);
  return `${text},"topics":${JSON.stringify(Object.fromEntries(all))}}`;
}

export interface LatestValue {
  device_id: string;
  device: string | null;
  sensor_id: string;
  sensor: string | null;
  type: string | null;
  unit: string | null;
  site: string | null;
  ts: number;
  value: number;
}

export const latestText = ({ value, ...latest }: LatestValue): string =>
  `${JSON.stringify({ kind: 'latest', ...latest }).slice(0, -1)},"value":${numberText(value)}}`;

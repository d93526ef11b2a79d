import { formatTime } from '../../common/times.js';
import { uuidText } from '../../schema/ids.js';
import { visitBlock } from '../../schema/packed/block.js';

/** @import { Series } from '../../schema/packed/series.js' */

/**
 * A committed block of samples, with the data that its Kafka record also needs.
 *
 * @typedef {object} Block
 * @property {number} bucket hour of the samples, in epoch ms
 * @property {Buffer} digest 8 bytes
 * @property {Buffer} samples packed samples, as in the table `message`
 * @property {number} committedAt epoch ms
 * @property {boolean} late whether the block was committed while its hour was closing, or later
 */

/**
 * The names of a device and its sensors.
 *
 * @typedef {object} Names
 * @property {string} id of the device
 * @property {string | null} name of the device
 * @property {(sensorId: string) => string | null} sensor returns the name of a sensor
 */

/** @typedef {{ id: string, name: string | null, series: Series }} SensorSamples */

/** @param {Block} block @param {Names} names @returns {SensorSamples[]} */
export function samplesOf({ bucket, samples }, names) {
  /** @type {SensorSamples[]} */
  const sensors = [];
  visitBlock(bucket, samples, (bytes, series) => {
    const id = uuidText(bytes);
    sensors.push({ id, name: names.sensor(id), series: series() });
  });
  return sensors;
}

/** Formats a number for JSON, and keeps the negative zero that `JSON.stringify` loses. @param {number} value */
export const numberText = (value) => (Object.is(value, -0) ? '-0' : String(value));

const MILLION = 1e6;

/**
 * Returns a function that formats times as epoch ms. Consecutive times share all digits but the last six. These digits are kept,
 * because the engine formats small integers faster than integers of 13 digits: 230 ns a sample with its value, instead of 380 ns.
 *
 * @returns {(time: number) => string} `time`: epoch ms
 */
export function createTimeText() {
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

/**
 * Appends the samples of a sensor as JSON. Appending to one text avoids a copy for each sensor.
 *
 * @param {string} before
 * @param {SensorSamples} sensor
 * @param {(time: number) => string} timeText
 */
function withSensor(before, { id, name, series: { times, values } }, timeText) {
  let text = `${before}{"sensor_id":"${id}","sensor":${JSON.stringify(name)},"samples":`;
  for (let i = 0; i < times.length; i++) {
    text += `${i === 0 ? '[[' : ',['}${timeText(Number(times[i]))},${numberText(Number(values[i]))}]`;
  }
  return `${text}]}`;
}

/**
 * Formats a block as JSON. `GET /changes` and Kafka send the same text.
 *
 * @param {Block} block
 * @param {Names} names
 * @returns {string} JSON without its closing brace, so that more members can follow
 */
export function openBatchText(block, names) {
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

/**
 * The streaming progress of a shard of devices.
 *
 * @typedef {object} Watermark
 * @property {number} shard
 * @property {number} shards number of shards
 * @property {number} until epoch ms; the topic that is furthest behind has all records before it
 * @property {Record<string, number>} [topics] time until which each topic is complete, in epoch ms, by its kind; `GET /changes`
 *   omits it
 */

/** @param {Watermark} watermark */
export function watermarkText({ shard, shards, until, topics }) {
  const text = `{"kind":"watermark","shard":${shard},"shards":${shards},"until":"${formatTime(until)}"`;
  if (!topics) return `${text}}`;
  const all = Object.entries(topics).map(([topic, instant]) => [topic, formatTime(instant)]);
  return `${text},"topics":${JSON.stringify(Object.fromEntries(all))}}`;
}

/**
 * The newest value of a sensor.
 *
 * @typedef {object} LatestValue
 * @property {string} device_id
 * @property {string | null} device
 * @property {string} sensor_id
 * @property {string | null} sensor
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string | null} site
 * @property {number} ts epoch ms
 * @property {number} value
 */

/** @param {LatestValue} latest @returns {string} */
export const latestText = ({ value, ...latest }) =>
  `${JSON.stringify({ kind: 'latest', ...latest }).slice(0, -1)},"value":${numberText(value)}}`;

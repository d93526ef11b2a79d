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

/** @param {SensorSamples} sensor */
function sensorText({ id, name, series: { times, values } }) {
  let text = `{"sensor_id":"${id}","sensor":${JSON.stringify(name)},"samples":[`;
  for (let i = 0; i < times.length; i++) {
    text += `${i === 0 ? '' : ','}[${times[i]},${numberText(/** @type {number} */ (values[i]))}]`;
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
  return (
    `{"kind":"batch","device_id":"${names.id}","device":${JSON.stringify(names.name)},` +
    `"bucket":"${new Date(bucket).toISOString()}","digest":"${digest.toString('hex')}","late":${late},` +
    `"committed_at":"${new Date(committedAt).toISOString()}",` +
    `"sensors":[${samplesOf(block, names).map(sensorText).join(',')}]`
  );
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

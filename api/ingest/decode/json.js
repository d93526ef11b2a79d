import { MillraceError } from '../../../common/errors.js';
import { parseTime } from '../../../common/times.js';
import { brokenNameRule } from '../../../schema/ids.js';

/** @import { MessageBatch } from './message-batch.js' */

/**
 * @param {Buffer} payload
 * @returns {object} an object or an array
 * @throws {MillraceError} `malformed`; `NaN` makes the whole message so, since JSON has no such value
 */
export function parseJson(payload) {
  let content;
  try {
    content = JSON.parse(payload.toString('utf8'));
  } catch (error) {
    throw new MillraceError('malformed', /** @type {Error} */ (error).message, { cause: error });
  }
  if (content === null || typeof content !== 'object') {
    throw new MillraceError('malformed', 'must be an object or an array of objects');
  }
  return content;
}

/** What a message of another shape is told: `{"temperature": 21.5}` is a common one. */
const NO_SENSOR_ID = 'is missing; a measurement looks like {"sensor_id": "temperature", "value": 21.5}';

/**
 * Plain JSON: `{"sensor_id", "ts", "value"}`, or an array of these. `ts` is epoch milliseconds or ISO 8601, without a
 * zone UTC; without `ts` the time of receipt holds.
 *
 * @param {unknown[]} elements
 * @param {MessageBatch} batch
 */
export function readPlain(elements, batch) {
  for (let index = 0; index < elements.length; index++) readElement(index, elements[index], batch);
}

/** @param {number} index @param {unknown} element @param {MessageBatch} batch */
function readElement(index, element, batch) {
  if (element === null || typeof element !== 'object') return batch.refuse(index, 'malformed');
  const { sensor_id: sensor, ts, value } = /** @type {Record<string, unknown>} */ (element);
  if (typeof sensor !== 'string') {
    const rule = sensor === undefined ? NO_SENSOR_ID : brokenNameRule(sensor);
    return batch.refuse(index, 'bad_id', 'sensor', rule);
  }
  if (typeof value !== 'number') {
    return batch.refuse(index, 'not_numeric', 'value', value === undefined ? 'is missing' : undefined);
  }
  if (ts === undefined) return batch.addRelative(index, sensor, 0, value);
  const time = typeof ts === 'number' ? wholeMs(ts) : typeof ts === 'string' ? parseTime(ts) : null;
  if (time === null) return batch.refuse(index, 'bad_timestamp', 'ts');
  batch.add(index, sensor, time, value);
}

/** @param {number} ts @returns {number | null} */
const wholeMs = (ts) => (Number.isInteger(ts) ? ts : null);

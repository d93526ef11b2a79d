import { MillraceError } from '../../../common/errors.js';
import { parseTime } from '../../../common/times.js';
import { brokenNameRule } from '../../../schema/ids.js';

/** @import { MessageBatch } from './message-batch.js' */

/**
 * @param {Buffer} payload
 * @returns {object} an object or an array
 * @throws {MillraceError} `malformed`, also for `NaN`, because JSON has no such value
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

/** The rule for messages of another shape. `{"temperature": 21.5}` is a common one. */
const NO_SENSOR_ID = 'is missing; a measurement looks like {"sensor_id": "temperature", "value": 21.5}';

/**
 * Reads plain JSON: `{"sensor_id", "ts", "value"}`, or an array of these. `ts` is epoch milliseconds or ISO 8601. A time without a
 * zone is UTC. A measurement without `ts` gets the time of receipt.
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

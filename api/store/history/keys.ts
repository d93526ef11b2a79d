import { dayOf, yearOf } from '../../../schema/rules.js';
import { int32, int64 } from '../cql-encoding.js';

/**
 * The key of a sensor: the first columns of every partition key of history.
 *
 * @typedef {{ device: Buffer, sensor: Buffer }} SensorBytes 16 bytes each
 */

/**
 * @param {SensorBytes} key
 * @param {number} hour epoch ms
 * @returns {Buffer[]} key of the partition of `history` that contains the hour
 */
export const dayKey = ({ device, sensor }, hour) => [device, sensor, int64(dayOf(hour))];

/**
 * @param {SensorBytes} key
 * @param {number} hour epoch ms
 * @returns {Buffer[]} key of the partition of `history_stat` that contains the hour
 */
export const yearKey = ({ device, sensor }, hour) => [device, sensor, int32(yearOf(hour))];

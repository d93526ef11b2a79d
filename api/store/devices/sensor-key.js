import { uuidText } from '../../../schema/ids.js';

/**
 * What names a sensor in the fleet, as JSON for cursors.
 *
 * @typedef {{ device: string, sensor: string }} SensorKey lower-case UUIDs
 */

/** @param {import('../session.js').Row} row with device_id and sensor_id @returns {SensorKey} */
export const sensorKey = (row) => ({
  device: uuidText(row['device_id'].getBuffer()),
  sensor: uuidText(row['sensor_id'].getBuffer()),
});

/** @param {SensorKey} key @returns {string} for maps */
export const keyText = ({ device, sensor }) => `${device}/${sensor}`;

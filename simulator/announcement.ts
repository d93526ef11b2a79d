import { birthTopic, statusPayload, statusTopic } from './mqtt/topics.js';

/**
 * @typedef {object} SensorDescription
 * @property {string} name
 * @property {string} type
 * @property {string} [unit]
 * @property {number} [intervalMs]
 */

/** @typedef {{ name: string, site?: string, sensors: SensorDescription[] }} DeviceDescription */

/**
 * Returns the birth message, which describes a device and its sensors.
 *
 * @param {DeviceDescription} device
 * @param {number} session start of the session, in epoch ms
 */
export const birthMessage = ({ name, site, sensors }, session) => ({
  topic: birthTopic(name),
  payload: JSON.stringify({
    session,
    name,
    site,
    sensors: sensors.map((sensor) => ({
      sensor_id: sensor.name,
      name: sensor.name,
      type: sensor.type,
      unit: sensor.unit,
      interval_ms: sensor.intervalMs,
    })),
  }),
});

/**
 * @param {DeviceDescription} device
 * @param {'online' | 'offline'} state
 * @param {number} session start of the session, in epoch ms
 */
export const statusMessage = ({ name }, state, session) => ({
  topic: statusTopic(name),
  payload: statusPayload(state, session),
  retain: true,
});

/** @param {string} device id or name of the device */
export const measurementsTopic = (device) => `iot/v1/${device}/measurements`;

/** @param {string} device */
export const birthTopic = (device) => `iot/v1/${device}/birth`;

/** @param {string} device */
export const statusTopic = (device) => `iot/v1/${device}/status`;

/**
 * @param {'online' | 'offline'} state
 * @param {number} session time of the connect, in epoch ms
 * @returns {string} payload of a `status` message
 */
export const statusPayload = (state, session) => JSON.stringify({ state, session });

/** @param {string} device device id or name */
export const measurementsTopic = (device) => `iot/v1/${device}/measurements`;

/** @param {string} device */
export const birthTopic = (device) => `iot/v1/${device}/birth`;

/** @param {string} device */
export const statusTopic = (device) => `iot/v1/${device}/status`;

/** @param {'online' | 'offline'} state @param {number} session epoch ms of the connect @returns {string} payload of `status` */
export const statusPayload = (state, session) => JSON.stringify({ state, session });

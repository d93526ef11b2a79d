/** @typedef {import('./cache.js').Device} Device */
/** @typedef {import('./cache.js').Sensor} Sensor */

/** @param {Pick<Device, 'id' | 'bytes' | 'group' | 'name' | 'retiredAt'>} known @returns {Device} */
export const blankDevice = (known) => ({
  ...known,
  site: null,
  state: null,
  stateStamp: null,
  session: null,
  lastSeen: 0,
  sensors: new Map(),
  byRef: new Map(),
});

/** @param {Pick<Sensor, 'id' | 'bytes' | 'deviceName' | 'name' | 'site'>} known @returns {Sensor} */
export const blankSensor = (known) => ({
  ...known,
  type: null,
  unit: null,
  intervalMs: null,
  ts: null,
  value: null,
});

import { LIST } from '../../routes/devices.js';
import { QUERY } from '../../routes/events.js';
import { json, PAGED } from '../operation.js';
import { SCHEMAS } from '../schemas.js';

/** @typedef {import('../operation.js').Operation} Operation */

/** @type {Operation} */
export const listDevices = {
  id: 'listDevices',
  tag: 'devices',
  scope: 'read',
  summary: 'All devices, page by page',
  description: `With \`site\`, as many are read as are answered. With \`state\` or \`name\`, up to 1,000 are looked at for one page, which may
then be short, even empty, before the end: whether a device is online is known only by looking, and only sensors have an index of names.`,
  query: LIST,
  answers: { 200: json(SCHEMAS.DevicePage) },
  links: { device: { to: 'readDevice', parameters: { device: '$response.body#/items/0/device_id' } } },
  problems: PAGED,
};

/** @type {Operation} */
export const readDevice = {
  id: 'readDevice',
  tag: 'devices',
  scope: 'read',
  summary: 'One device with its sensors',
  answers: { 200: json(SCHEMAS.DeviceWithSensors) },
  links: {
    measurements: {
      to: 'listMeasurements',
      parameters: { device: '$response.body#/device_id', sensor: '$response.body#/sensors/0/sensor_id' },
    },
  },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

/** @type {Operation} */
export const retireDevice = {
  id: 'retireDevice',
  tag: 'devices',
  scope: 'admin',
  summary: 'Retires a device',
  description: `It is gone from all pages, counts and indexes; its samples expire, and its account at the broker is taken away. If it comes back it registers anew: at once where
this process takes its messages, within ten minutes where another one does that still knows it. A retirement that was
answered 503 may be half done: repeat it.`,
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

/** @type {Operation} */
export const listEvents = {
  id: 'listEvents',
  tag: 'devices',
  scope: 'read',
  summary: 'What became of a device, newest first, page by page',
  description: `Births and \`online\` have the time at which the device's session began, as the device told it; \`offline\` the time at which we
heard of it. Sessions come in order of their beginning.`,
  query: QUERY,
  answers: { 200: json(SCHEMAS.EventPage) },
  problems: [...PAGED, 'bad_range', 'bad_id', 'not_found'],
};

/** @type {Operation} */
export const readSensor = {
  id: 'readSensor',
  tag: 'devices',
  scope: 'read',
  summary: 'One sensor with its latest value',
  answers: { 200: json(SCHEMAS.SensorOfDevice) },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

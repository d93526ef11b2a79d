import { LIST } from '../../routes/devices.js';
import { json, PAGED } from '../operation.js';
import { SCHEMAS } from '../schemas.js';

/** @typedef {import('../operation.js').Operation} Operation */

/** @type {Operation} */
export const listDevices = {
  id: 'listDevices',
  tag: 'devices',
  summary: 'All devices, page by page',
  query: LIST,
  answers: { 200: json(SCHEMAS.DevicePage) },
  problems: PAGED,
};

/** @type {Operation} */
export const readDevice = {
  id: 'readDevice',
  tag: 'devices',
  summary: 'One device with its sensors',
  answers: { 200: json(SCHEMAS.DeviceWithSensors) },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

/** @type {Operation} */
export const readSensor = {
  id: 'readSensor',
  tag: 'devices',
  summary: 'One sensor with its latest value',
  answers: { 200: json(SCHEMAS.SensorOfDevice) },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

import { identifySensor, isName } from '../../../schema/ids.js';
import { PATHS } from '../decode/refusals.js';
import { isNumeric, nameOf } from './datatypes.js';
import { isOfProtocol } from './metrics.js';

/** @typedef {import('../registry/birth-message.js').Birth} Birth */

/**
 * A birth certificate as any other birth: its sensors are the metrics that are numbers.
 *
 * @param {import('./payload/metric.js').Metric[]} metrics
 * @param {import('../../../schema/ids.js').Identity} device
 * @param {number} session epoch ms
 * @returns {Birth}
 */
export function readBirthCertificate(metrics, device, session) {
  /** @type {Birth} */
  const birth = {
    session,
    name: device.name ?? undefined,
    sensors: [],
    pathOf: PATHS.sparkplug,
    refused: [],
  };
  const seen = new Set();
  for (const [index, { name, datatype, implied, unit }] of metrics.entries()) {
    const type = datatype || implied;
    if (name === null || isOfProtocol(name) || !isNumeric(type) || seen.has(name)) continue;
    seen.add(name);
    const identity = identifySensor(device.id, name);
    // A name that cannot be one is refused with its value, which a birth has for every metric.
    if (!identity) continue;
    birth.sensors.push({
      index,
      identity,
      name: identity.name ?? undefined,
      type: nameOf(type),
      unit: isName(unit) ? unit : undefined,
    });
  }
  return birth;
}

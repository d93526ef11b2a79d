import { encodeSenml } from '../../../simulator/payloads/senml.js';
import { createRandom } from '../../../simulator/random.js';

/** @import { Shape } from './shapes.js' */

/** Different payloads of a load: enough that nobody profits from having seen one before. */
const VARIETY = 64;

/** Time between two samples of a sensor in a message, in ms: short, so that a device can send often and never repeat itself. */
export const STEP_MS = 1;

/** Stands in a payload where its time goes: it has as many digits as any time until the year 2286. */
const PLACEHOLDER_MS = 1_111_111_111_111;
const DIGITS = 14;

/** @param {number} index of a sensor in its device */
export const sensorName = (index) => `sensor-${String(index).padStart(2, '0')}`;

/** The samples of one sensor in a message. @typedef {{ name: string, samples: Array<{ ts: number, value: number }> }} Series */

/**
 * The content of the messages of a load, the same for every encoding.
 *
 * @param {Shape} shape
 * @returns {Series[][]} by message; times begin at a placeholder
 */
export function messagesOf({ sensors, samples }) {
  const random = createRandom(1);
  return Array.from({ length: VARIETY }, () =>
    Array.from({ length: sensors }, (_, sensor) => ({
      name: sensorName(sensor),
      samples: Array.from({ length: samples }, (_, at) => ({
        ts: PLACEHOLDER_MS + at * STEP_MS,
        value: Math.round(random.between(2000, 3000)) / 100,
      })),
    })),
  );
}

/**
 * Payloads of a load, encoded once, in SenML as the simulator sends it. Messages only differ in their base
 * time, 14 characters at a known place.
 *
 * @param {Shape} shape
 * @returns {{ payloads: Buffer[], timeAt: number }} `timeAt`: where the base time stands, the same in all
 */
export function encodePayloads(shape) {
  const payloads = messagesOf(shape).map((series) => Buffer.from(encodeSenml(series)));
  const timeAt = /** @type {Buffer} */ (payloads[0]).indexOf(String(PLACEHOLDER_MS / 1000));
  return { payloads, timeAt };
}

/** @param {Buffer} bytes @param {number} at where the time stands @param {number} ms epoch ms, written as seconds */
export function writeTime(bytes, at, ms) {
  let seconds = Math.floor(ms / 1000);
  let rest = ms - seconds * 1000;
  for (let place = at + DIGITS - 1; place > at + 10; place--) {
    bytes[place] = 48 + (rest % 10);
    rest = (rest / 10) | 0;
  }
  for (let place = at + 9; place >= at; place--) {
    bytes[place] = 48 + (seconds % 10);
    seconds = (seconds / 10) | 0;
  }
}

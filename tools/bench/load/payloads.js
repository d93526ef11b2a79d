import { encodeSenml } from '../../../simulator/payloads/senml.js';
import { createRandom } from '../../../simulator/random.js';

/** @import { Shape } from './shapes.js' */

/** Digits of a device's number in its name: so all names, and all packets of a load, are of one length. */
export const NUMBER_DIGITS = 6;

/** Devices that a process can speak for. */
const MOST_DEVICES = 100_000;

/** @param {number} number @returns {string} */
export const deviceName = (number) => `bench-${String(number).padStart(NUMBER_DIGITS, '0')}`;

/**
 * The time at which the last message of each device ended, in epoch ms. A process keeps it over all of its loads: a clock that went
 * back would give `latest` nothing new to write.
 */
export const createClocks = () => new Float64Array(MOST_DEVICES);

/**
 * The devices of a load, one after the other. The clock of each never stands still: a message begins now, or right
 * behind the device's last one where that is later. So times are fresh, and no sample comes twice.
 *
 * @param {object} options
 * @param {Float64Array} options.clocks
 * @param {number} options.first number of the first device
 * @param {number} options.count
 * @param {number} options.samples of a sensor in a message
 */
export function createDevices({ clocks, first, count, samples }) {
  let next = first;

  return {
    /** The device of the current message: its number. */
    number: first,
    /** The begin of the current message, in epoch ms. */
    time: 0,

    /** Goes to the next message. @param {number} now epoch ms */
    advance(now) {
      this.number = next;
      this.time = Math.max(now, /** @type {number} */ (clocks[next]));
      clocks[next] = this.time + samples * STEP_MS;
      next = next + 1 === first + count ? first : next + 1;
    },
  };
}

/** @typedef {ReturnType<typeof createDevices>} Devices */

/** Different payloads of a load, so many that no cache makes a variant faster. */
const VARIETY = 64;

/** Time between two samples of a sensor in a message, in ms: short, so that a device can send often and never repeat itself. */
export const STEP_MS = 1;

/** Stands in a payload where its time goes: it has as many digits as any time until the year 2286. */
const PLACEHOLDER_MS = 1_111_111_111_111;

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
  const seconds = Math.floor(ms / 1000);
  writeDigits(bytes, at, seconds, 10);
  writeDigits(bytes, at + 11, ms - seconds * 1000, 3);
}

/** The table of the peers, which InfluxDB calls a measurement. */
export const LINE_TABLE = 'm';

/** Digits of a time in epoch ms until the year 2286. */
const TIME_DIGITS = 13;

/** @param {string} sensor @param {number} time epoch ms @param {number} value @returns {string} one sample in InfluxDB's line protocol, precision ms */
export const lineOf = (sensor, time, value) => `${LINE_TABLE},sensor=${sensor} value=${value} ${time}`;

/** A sensor of any device has one name among the peers. @param {string} device @param {string} sensor */
export const tagOf = (device, sensor) => `${device}/${sensor}`;

/**
 * A payload of which the device's number and the times are written into each copy.
 *
 * @typedef {object} Template
 * @property {Buffer} payload
 * @property {number[]} numbersAt where the device's number begins, line by line
 * @property {(bytes: Buffer, from: number, time: number) => void} writeTimes `from`: where the copy begins; `time`: of its first sample, epoch ms
 */

/**
 * The payloads of a load in line protocol, encoded once. Each line repeats the device and has a time of its own: both are
 * written into every line of a copy.
 *
 * @param {Shape} shape
 * @returns {Template[]}
 */
export const encodeLines = (shape) =>
  messagesOf(shape).map((series) => {
    const device = deviceName(0);
    const lines = series.flatMap(({ name, samples }) =>
      samples.map(({ ts, value }) => `${lineOf(tagOf(device, name), ts, value)}\n`),
    );
    /** @type {number[]} */
    const numbersAt = [];
    /** @type {number[]} */
    const timesAt = [];
    let at = 0;
    for (const line of lines) {
      numbersAt.push(at + line.indexOf(device) + device.length - NUMBER_DIGITS);
      timesAt.push(at + line.length - 1 - TIME_DIGITS);
      at += line.length;
    }
    return {
      payload: Buffer.from(lines.join('')),
      numbersAt,
      writeTimes(bytes, from, time) {
        for (let line = 0; line < timesAt.length; line++) {
          const later = (line % shape.samples) * STEP_MS;
          writeMilliseconds(bytes, from + Number(timesAt[line]), time + later);
        }
      },
    };
  });

/** @param {Buffer} bytes @param {number} at @param {number} time epoch ms; two halves, since integers of 32 bits divide fastest */
function writeMilliseconds(bytes, at, time) {
  const high = Math.floor(time / 1e6);
  writeDigits(bytes, at, high, TIME_DIGITS - 6);
  writeDigits(bytes, at + TIME_DIGITS - 6, time - high * 1e6, 6);
}

/** @param {Buffer} bytes @param {number} at @param {number} number below 2 ** 31 @param {number} digits */
export function writeDigits(bytes, at, number, digits) {
  let rest = number;
  for (let place = at + digits - 1; place >= at; place--) {
    bytes[place] = 48 + (rest % 10);
    rest = (rest / 10) | 0;
  }
}

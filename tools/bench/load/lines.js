import { deviceName } from './devices.js';
import { messagesOf, STEP_MS } from './payloads.js';

/** @import { Shape } from './shapes.js' */

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
 * @property {number[]} numbersEndAt where the last digit of the device's number stands, line by line
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
    const numbersEndAt = [];
    /** @type {number[]} */
    const timesAt = [];
    let at = 0;
    for (const line of lines) {
      numbersEndAt.push(at + line.indexOf(device) + device.length - 1);
      timesAt.push(at + line.length - 1 - TIME_DIGITS);
      at += line.length;
    }
    return {
      payload: Buffer.from(lines.join('')),
      numbersEndAt,
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

/** @param {Buffer} bytes @param {number} at @param {number} number @param {number} digits */
function writeDigits(bytes, at, number, digits) {
  let rest = number;
  for (let place = at + digits - 1; place >= at; place--) {
    bytes[place] = 48 + (rest % 10);
    rest = (rest / 10) | 0;
  }
}

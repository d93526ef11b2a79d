import { STEP_MS } from './payloads.js';

/** Digits of a device's number in its name: so all names, and all packets of a load, are of one length. */
export const NUMBER_DIGITS = 6;

/** Devices that a process can speak for. */
const MOST_DEVICES = 100_000;

/** @param {number} number @returns {string} */
export const deviceName = (number) => `bench-${String(number).padStart(NUMBER_DIGITS, '0')}`;

/**
 * Where the last message of each device ended, in epoch ms. A process keeps it over all of its loads: a clock that went
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
    /** Where the current message begins: epoch ms. */
    time: 0,

    /** On to the next message. @param {number} now epoch ms */
    advance(now) {
      this.number = next;
      this.time = Math.max(now, /** @type {number} */ (clocks[next]));
      clocks[next] = this.time + samples * STEP_MS;
      next = next + 1 === first + count ? first : next + 1;
    },
  };
}

/** @typedef {ReturnType<typeof createDevices>} Devices */

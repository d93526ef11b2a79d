/** How the samples of a device in one hour are laid out in rows of `message`: bounds, and the arithmetic of their sizes. */

/** Bytes of one block at most: a row of this size is still far below what a server calls a large mutation. */
export const MAX_BLOCK_BYTES = 32 * 1024;

/** Sensors that one partition of `message` holds, more or less: a reader of one sensor reads the rows of all of them. */
export const SENSORS_PER_PART = 64;

/** What a block is made of: see the drawing in block.js. */
export const ID_BYTES = 16;
export const COUNT_BYTES = 2;
export const TIME_BYTES = 4;
export const VALUE_BYTES = 8;
export const SERIES_BYTES = ID_BYTES + COUNT_BYTES;

/**
 * @param {number} sensors of a device
 * @returns {number} parts that an hour of it is spread over, a power of two; 1: all of it is in part 0
 */
export const partsFor = (sensors) =>
  sensors <= SENSORS_PER_PART ? 1 : 2 ** Math.ceil(Math.log2(sensors / SENSORS_PER_PART));

/**
 * @param {{ sensors: number, samples: number }} message `samples` of each sensor, all sensors at the same instants
 * @returns {number} bytes of its block
 */
export const blockBytes = ({ sensors, samples }) =>
  1 + sensors * (SERIES_BYTES + VALUE_BYTES * samples) + TIME_BYTES * samples;

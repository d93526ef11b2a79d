/** @import { Sample } from '../payloads/index.js' */

/** Samples of a sensor between the beginnings of two episodes, and those before the first. An episode is shorter, so values return in between. */
const PERIOD = 40;
const QUIET = 20;

/** An episode has this many samples, and every second episode one more. */
const LENGTHS = { least: 3, count: 12 };

/** The value exceeds the limit by 1 to `count` times this share of the range of the signal, in turn. */
const HEIGHTS = { share: 0.1, count: 4 };

/**
 * An episode that was sent: a run of samples above the highest value that a signal has by itself.
 *
 * @typedef {object} SentEpisode
 * @property {string} sensor name
 * @property {number} limit every sample of the episode is above it, every other sample of the sensor is not
 * @property {number} start epoch ms of its first sample
 * @property {number | null} end epoch ms of the first sample after it; null: the run ended before
 * @property {number} peak its highest value
 */

/** Real violations of a limit by the sensors of one device: the same number for each sensor, at the same places in its samples. */
export class DeviceEpisodes {
  #count;
  #onSent;
  /** @type {Map<string, SensorState>} */
  #sensors;

  /**
   * @param {object} options
   * @param {number} options.count for each sensor
   * @param {Array<{ name: string, range: readonly [number, number] }>} options.sensors
   * @param {(episode: SentEpisode) => void} options.onSent is called before the message with the end of the episode is sent
   */
  constructor({ count, sensors, onSent }) {
    this.#count = count;
    this.#onSent = onSent;
    this.#sensors = new Map(sensors.map(({ name, range }) => [name, { range, samples: 0, open: null }]));
  }

  /** Takes a place in the samples of a sensor. @param {string} sensor @returns {number | null} the value of an episode; null: none is due */
  next(sensor) {
    const state = this.#stateOf(sensor);
    const place = state.samples++;
    const number = Math.floor(place / PERIOD);
    const index = (place % PERIOD) - QUIET;
    if (number >= this.#count || index < 0 || index >= LENGTHS.least + (number % LENGTHS.count)) return null;
    const [low, high] = state.range;
    return high + (high - low) * HEIGHTS.share * (1 + (index % HEIGHTS.count));
  }

  /** Notes a sample as it will be sent. @param {string} sensor @param {Sample} sample later than all before */
  note(sensor, { ts, value }) {
    const state = this.#stateOf(sensor);
    if (value <= state.range[1]) this.#end(sensor, state, ts);
    else if (state.open) state.open.peak = Math.max(state.open.peak, value);
    else state.open = { start: ts, peak: value };
  }

  /** The run ends, and so do episodes that are open. */
  end() {
    for (const [sensor, state] of this.#sensors) this.#end(sensor, state, null);
  }

  /** @param {string} sensor @param {SensorState} state @param {number | null} end epoch ms */
  #end(sensor, state, end) {
    if (state.open) this.#onSent({ sensor, limit: state.range[1], ...state.open, end });
    state.open = null;
  }

  /** @param {string} sensor @returns {SensorState} */
  #stateOf(sensor) {
    return /** @type {SensorState} */ (this.#sensors.get(sensor));
  }
}

/** @typedef {{ range: readonly [number, number], samples: number, open: { start: number, peak: number } | null }} SensorState */

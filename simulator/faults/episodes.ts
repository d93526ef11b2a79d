/** @import { Sample } from '../payloads/index.js' */

/**
 * The episodes of a sensor begin `PERIOD` samples apart. The first one begins after `QUIET` samples. Episodes are shorter than
 * `PERIOD`, so normal values return between two episodes.
 */
const PERIOD = 40;
const QUIET = 20;

/** Number of samples of an episode. The length grows from `least` by one sample per episode, and starts again after `count` episodes. */
const LENGTHS = { least: 3, count: 12 };

/** Height of the samples of an episode above the limit, as a share of the range of the signal: 1 to `count` times `share`, in turn. */
const HEIGHTS = { share: 0.1, count: 4 };

/**
 * An episode that was sent: consecutive samples above the highest value that the signal itself can have.
 *
 * @typedef {object} SentEpisode
 * @property {string} sensor name
 * @property {number} limit every sample of the episode is above the limit; every other sample of the sensor is not
 * @property {number} start time of the first sample of the episode, in epoch ms
 * @property {number | null} end time of the first sample after the episode, in epoch ms; null: the simulator stopped before that
 *   sample
 * @property {number} peak highest value of the episode
 */

/** Makes the sensors of one device exceed a limit. Each sensor has the same number of episodes, at the same positions in its samples. */
export class DeviceEpisodes {
  #count;
  #onSent;
  /** @type {Map<string, SensorState>} */
  #sensors;

  /**
   * @param {object} options
   * @param {number} options.count number of episodes of each sensor
   * @param {Array<{ name: string, range: readonly [number, number] }>} options.sensors
   * @param {(episode: SentEpisode) => void} options.onSent is called before the message with the end of the episode is sent
   */
  constructor({ count, sensors, onSent }) {
    this.#count = count;
    this.#onSent = onSent;
    this.#sensors = new Map(sensors.map(({ name, range }) => [name, { range, samples: 0, open: null }]));
  }

  /**
   * Advances a sensor by one sample.
   *
   * @param {string} sensor name
   * @returns {number | null} the value that exceeds the limit; null: no episode is due
   */
  next(sensor) {
    const state = this.#stateOf(sensor);
    const place = state.samples++;
    const number = Math.floor(place / PERIOD);
    const index = (place % PERIOD) - QUIET;
    if (number >= this.#count || index < 0 || index >= LENGTHS.least + (number % LENGTHS.count)) return null;
    const [low, high] = state.range;
    return high + (high - low) * HEIGHTS.share * (1 + (index % HEIGHTS.count));
  }

  /**
   * Records a sample with the value that will be sent.
   *
   * @param {string} sensor name
   * @param {Sample} sample later than all earlier samples of the sensor
   */
  note(sensor, { ts, value }) {
    const state = this.#stateOf(sensor);
    if (value <= state.range[1]) this.#end(sensor, state, ts);
    else if (state.open) state.open.peak = Math.max(state.open.peak, value);
    else state.open = { start: ts, peak: value };
  }

  /** Ends all open episodes at the end of the run. */
  end() {
    for (const [sensor, state] of this.#sensors) this.#end(sensor, state, null);
  }

  /**
   * @param {string} sensor name
   * @param {SensorState} state
   * @param {number | null} end time of the first sample after the episode, in epoch ms
   */
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

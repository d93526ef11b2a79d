import type { Sample } from '../payloads/index.ts';

/**
 * In samples. The first episode begins after `QUIET` samples. Episodes are shorter than `PERIOD`, so normal values return between two
 * episodes.
 */
const PERIOD = 40;
const QUIET = 20;

/** In samples. The length grows from `least` by one sample per episode, and starts again after `count` episodes. */
const LENGTHS = { least: 3, count: 12 };

/** Above the limit, as a share of the range of the signal: 1 to `count` times `share`, in turn. */
const HEIGHTS = { share: 0.1, count: 4 };

/** Consecutive samples above the highest value that the signal itself can have. */
export interface SentEpisode {
  sensor: string;
  /** every sample of the episode is above the limit; every other sample of the sensor is not */
  limit: number;
  start: number;
  /** epoch ms of the first sample after the episode; null: the simulator stopped before that sample */
  end: number | null;
  peak: number;
}

/** Each sensor has the same number of episodes, at the same positions in its samples. */
export class DeviceEpisodes {
  #count;
  #onSent;
  #sensors: Map<string, SensorState>;

  constructor({
    count,
    sensors,
    onSent,
  }: {
    count: number;
    sensors: Array<{ name: string; range: readonly [number, number] }>;
    /** called before the message with the end of the episode is sent */
    onSent: (episode: SentEpisode) => void;
  }) {
    this.#count = count;
    this.#onSent = onSent;
    this.#sensors = new Map(sensors.map(({ name, range }) => [name, { range, samples: 0, open: null }]));
  }

  /** Advances a sensor by one sample. @returns the value that exceeds the limit; null: no episode is due */
  next(sensor: string): number | null {
    const state = this.#stateOf(sensor);
    const place = state.samples++;
    const number = Math.floor(place / PERIOD);
    const index = (place % PERIOD) - QUIET;
    if (number >= this.#count || index < 0 || index >= LENGTHS.least + (number % LENGTHS.count)) return null;
    const [low, high] = state.range;
    return high + (high - low) * HEIGHTS.share * (1 + (index % HEIGHTS.count));
  }

  /** Call it with the value that will be sent. @param sample later than all earlier samples of the sensor */
  note(sensor: string, { ts, value }: Sample) {
    const state = this.#stateOf(sensor);
    if (value <= state.range[1]) this.#end(sensor, state, ts);
    else if (state.open) state.open.peak = Math.max(state.open.peak, value);
    else state.open = { start: ts, peak: value };
  }

  end() {
    for (const [sensor, state] of this.#sensors) this.#end(sensor, state, null);
  }

  /** @param end epoch ms of the first sample after the episode */
  #end(sensor: string, state: SensorState, end: number | null) {
    if (state.open) this.#onSent({ sensor, limit: state.range[1], ...state.open, end });
    state.open = null;
  }

  #stateOf(sensor: string): SensorState {
    return this.#sensors.get(sensor) as SensorState;
  }
}

type SensorState = {
  range: readonly [number, number];
  samples: number;
  open: { start: number; peak: number } | null;
};

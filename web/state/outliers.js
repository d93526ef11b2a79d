import { FAR, isLearning } from './baseline.js';
import { OFFLINE, SILENT } from './cell-state.js';

/** @import { FleetDevice, FleetSensor, Review } from './fleet-types.js' */

/** A sensor silent for so long is silent, or for several of its intervals if that is longer. */
const SILENT_MS = 300_000;
const SILENT_INTERVALS = 5;
/** Entries of the lists of a review. */
const LISTED = 50;
/** @param {number} now epoch ms @param {FleetSensor} sensor @returns {boolean} */
const isSilent = (now, { at, gapMs }) => at > 0 && now - at > Math.max(SILENT_MS, SILENT_INTERVALS * gapMs);

/**
 * Goes through the whole fleet: finds what went silent, or speaks again, and what stands out.
 *
 * @param {{ sensors: ReadonlyMap<string, FleetSensor>, devices: ReadonlyMap<string, FleetDevice> }} fleet
 * @param {number} now epoch ms
 * @param {(sensor: FleetSensor) => void} touch gives a sensor the look that it has by its value, and has it drawn
 * @returns {Review}
 */
export function reviewOf({ sensors, devices }, now, touch) {
  /** @type {Review} */
  const review = {
    far: [],
    silent: [],
    offline: [],
    farCount: 0,
    silentCount: 0,
    learning: 0,
    offlineSensors: 0,
  };
  for (const device of devices.values()) {
    if (device.offline) review.offline.push(device);
  }
  for (const sensor of sensors.values()) {
    const silent = isSilent(now, sensor);
    if (silent !== (sensor.look === SILENT) && sensor.look !== OFFLINE) {
      touch(sensor);
      if (silent) sensor.look = SILENT;
    }
    if (sensor.look === OFFLINE) review.offlineSensors += 1;
    else if (silent) review.silent.push(sensor);
    else if (Math.abs(sensor.score) >= FAR) review.far.push(sensor);
    else if (isLearning(sensor.range)) review.learning += 1;
  }
  review.farCount = review.far.length;
  review.silentCount = review.silent.length;
  review.far = review.far.sort((a, b) => Math.abs(b.score) - Math.abs(a.score)).slice(0, LISTED);
  review.silent = review.silent.sort((a, b) => a.at - b.at).slice(0, LISTED);
  return review;
}

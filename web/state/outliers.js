import { FAR, isLearning } from './baseline.js';
import { OFFLINE, SILENT } from './cell-state.js';

/** @import { FleetDevice, FleetSensor } from './device-index.js' */

/**
 * @typedef {object} Outliers sensors and devices of the fleet that need attention
 * @property {FleetSensor[]} far those that stand out, the furthest first
 * @property {FleetSensor[]} silent those that are silent while their device is there, the longest first
 * @property {FleetDevice[]} offline devices
 * @property {number} farCount
 * @property {number} silentCount
 * @property {number} learning
 * @property {number} offlineSensors
 */

/** A sensor is silent after this time, or after several of its intervals if that is longer. */
const SILENT_MS = 300_000;
const SILENT_INTERVALS = 5;
/** Entries of each list. */
const LISTED = 50;

/** @param {number} now epoch ms @param {FleetSensor} sensor @returns {boolean} */
const isSilent = (now, { at, gapMs }) => at > 0 && now - at > Math.max(SILENT_MS, SILENT_INTERVALS * gapMs);

/**
 * Goes through the whole fleet: finds sensors that became silent or send again, and values far from their baseline.
 *
 * @param {{ sensors: ReadonlyMap<string, FleetSensor>, devices: ReadonlyMap<string, FleetDevice> }} fleet
 * @param {number} now epoch ms
 * @param {(sensor: FleetSensor) => void} touch sets the cell state by the newest value, and requests a redraw
 * @returns {Outliers}
 */
export function findOutliers({ sensors, devices }, now, touch) {
  /** @type {Outliers} */
  const outliers = {
    far: [],
    silent: [],
    offline: [],
    farCount: 0,
    silentCount: 0,
    learning: 0,
    offlineSensors: 0,
  };
  for (const device of devices.values()) {
    if (device.offline) outliers.offline.push(device);
  }
  for (const sensor of sensors.values()) {
    const silent = isSilent(now, sensor);
    if (silent !== (sensor.cellState === SILENT) && sensor.cellState !== OFFLINE) {
      touch(sensor);
      if (silent) sensor.cellState = SILENT;
    }
    if (sensor.cellState === OFFLINE) outliers.offlineSensors += 1;
    else if (silent) outliers.silent.push(sensor);
    else if (Math.abs(sensor.score) >= FAR) outliers.far.push(sensor);
    else if (isLearning(sensor.baseline)) outliers.learning += 1;
  }
  outliers.farCount = outliers.far.length;
  outliers.silentCount = outliers.silent.length;
  outliers.far = outliers.far.sort((a, b) => Math.abs(b.score) - Math.abs(a.score)).slice(0, LISTED);
  outliers.silent = outliers.silent.sort((a, b) => a.at - b.at).slice(0, LISTED);
  return outliers;
}

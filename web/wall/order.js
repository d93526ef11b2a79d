/**
 * @typedef {{ name: string | null, devices: FleetDevice[], sensors: number }} Site
 */

/** @import { FleetDevice } from '../state/fleet-types.js' */

/** Numbers in names of this many digits sort by their value. */
const DIGITS = 10;

/**
 * The fleet as one looks for things in it: by site, in it by device, in that by sensor, each by its name; `collar-2` stands before
 * `collar-10`. What has no site comes last.
 *
 * @param {Iterable<FleetDevice>} devices their sensors are put in order in place
 * @returns {Site[]}
 */
export function inOrder(devices) {
  /** @type {Map<string | null, FleetDevice[]>} */
  const bySite = new Map();
  for (const device of devices) {
    if (device.sensors.length === 0) continue;
    const at = bySite.get(device.site);
    if (at) at.push(device);
    else bySite.set(device.site, [device]);
  }
  const sites = [...bySite].map(([name, members]) => ({ name, members }));
  return sorted(sites, ({ name }) => (name === null ? '\uffff' : sortKey(name))).map(({ name, members }) => ({
    name,
    devices: sorted(members, (device) => sortKey(device.name)).map(withSensorsInOrder),
    sensors: members.reduce((sum, device) => sum + device.sensors.length, 0),
  }));
}

/** @param {FleetDevice} device */
function withSensorsInOrder(device) {
  if (!device.isInOrder) device.sensors = sorted(device.sensors, (sensor) => sortKey(sensor.name));
  device.isInOrder = true;
  return device;
}

/** A text that plain comparison sorts as people would: a collator takes twenty times as long. @param {string} name */
const sortKey = (name) => name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(DIGITS, '0'));

/**
 * @template T
 * @param {T[]} things
 * @param {(thing: T) => string} keyOf
 * @returns {T[]}
 */
function sorted(things, keyOf) {
  const keyed = things.map((thing) => ({ key: keyOf(thing), thing }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ thing }) => thing);
}

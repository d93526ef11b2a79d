import { groupOf } from '../../../schema/ids.js';

/** Items of one snapshot event. */
const PAGE = 1000;

/**
 * The latest values of everything that a reader follows, in pages.
 *
 * @param {import('../../store/devices/index.js').Fleet} fleet
 * @param {number} groups
 * @param {import('./subscription.js').Subscription} subscription
 * @returns {AsyncGenerator<import('../../store/devices/index.js').LatestRow[]>}
 */
export async function* snapshotOf(fleet, groups, { everything, devices, sensors }) {
  if (everything) yield* wholeFleet(fleet);
  for (const { bytes } of devices.values()) {
    yield await fleet.latestOfDevice({ group: groupOf(bytes, groups), bytes });
  }
  /** @type {Map<number, Array<{ device: Buffer, sensor: Buffer }>>} */
  const byGroup = new Map();
  for (const { device, sensor } of sensors.values()) {
    const group = groupOf(device.bytes, groups);
    const keys = byGroup.get(group) ?? [];
    byGroup.set(group, keys);
    keys.push({ device: device.bytes, sensor: sensor.bytes });
  }
  for (const [group, keys] of byGroup) yield await fleet.latestOfSensors(group, keys);
}

/** @param {import('../../store/devices/index.js').Fleet} fleet */
async function* wholeFleet(fleet) {
  let after = null;
  do {
    /** @type {Awaited<ReturnType<typeof fleet.latestPage>>} */
    const page = await fleet.latestPage({ filter: {}, after, limit: PAGE });
    yield page.rows;
    after = page.next;
  } while (after);
}

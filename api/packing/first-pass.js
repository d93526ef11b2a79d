import { someAtOnce } from '../../common/some-at-once.js';
import { DAY_MS, MIN_BATCH_DAYS } from '../../schema/rules.js';
import { bySensor, walkPages } from './walk.js';

/** Devices of a group, and sensors of a device, that are packed at once: enough to hide the round trips. */
const DEVICES_AT_ONCE = 4;
const SENSORS_AT_ONCE = 2;

/** From this age on, in ms, batches may have expired, and what a packer that died has left in history is all there is. */
const MAY_HAVE_EXPIRED_MS = (MIN_BATCH_DAYS - 1) * DAY_MS;

/**
 * Packs an hour of a whole group, once it has closed.
 *
 * @param {object} parts
 * @param {import('../store/index.js').Store['packing']} parts.store
 * @param {Pick<import('../trusted-clock.js').TrustedClock, 'now'>} parts.clock
 * @param {import('./steps.js').Steps} parts.steps
 * @param {import('./sensor-hour.js').SensorPacker} parts.sensors
 */
export function createFirstPass({ store, clock, steps, sensors }) {
  /** @param {Buffer} device @param {number} hour @returns {ReturnType<typeof bySensor<import('../store/history/unpacked.js').StoredRow>>} */
  const sensorsOf = (device, hour) =>
    bySensor(walkPages((after) => steps.run(() => store.deviceHourPage(device, hour, after))));

  /** @param {number} group @param {Buffer} device @param {number} hour epoch ms */
  async function packDevice(group, device, hour) {
    const readFrom = await clock.now();
    /** @type {Set<string>} */
    const packed = new Set();
    await someAtOnce(SENSORS_AT_ONCE, sensorsOf(device, hour), async ({ sensor, rows }) => {
      const batches = rows.map(({ series }) => series);
      await sensors.pack({ device, sensor, hour }, batches, readFrom);
      packed.add(sensor.toString('hex'));
    });
    if (readFrom - hour < MAY_HAVE_EXPIRED_MS) return;
    for (const sensor of await steps.run(() => store.sensorIds(group, device))) {
      if (packed.has(sensor.toString('hex'))) continue;
      await sensors.pack({ device, sensor, hour }, [], readFrom);
    }
  }

  return {
    /**
     * @param {number} group
     * @param {number} hour epoch ms; it has closed, so that no device is still to come that has timely samples of it
     * @returns {Promise<void>} settles when the statistics of all devices are committed
     */
    packHour: (group, hour) =>
      someAtOnce(
        DEVICES_AT_ONCE,
        walkPages((after) => steps.run(() => store.devicePage(group, after))),
        (device) => packDevice(group, device, hour),
      ),
  };
}

/** @typedef {ReturnType<typeof createFirstPass>} FirstPass */

import { someAtOnce } from '../../../common/some-at-once.js';
import { DAY_MS, MIN_BATCH_DAYS } from '../../../schema/rules.js';
import { readDeviceHour } from './device-hour.js';
import { iteratePages } from './steps.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { ClockGuard } from '../../store/clock-guard.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { PackingObserver, SensorPacker } from './sensor-hour.js' */
/** @import { Steps } from './steps.js' */

/** Devices of a group, and sensors of a device, that are packed at once: enough to hide the round trips. */
const DEVICES_AT_ONCE = 4;
const SENSORS_AT_ONCE = 2;

/** From this age on, in ms, rows of `message` may have expired, and what a packer that died has left in history is all there is. */
const MAY_HAVE_EXPIRED_MS = (MIN_BATCH_DAYS - 1) * DAY_MS;

/**
 * Packs an hour of a whole group, once it has closed.
 *
 * @param {object} deps
 * @param {Store['packing']} deps.store
 * @param {Pick<ClockGuard, 'now'>} deps.clock
 * @param {Steps} deps.steps
 * @param {SensorPacker} deps.sensors
 * @param {PackingObserver} deps.observer
 */
export function createFirstPass({ store, clock, steps, sensors, observer }) {
  /** @param {number} group @param {Buffer} device @param {number} hour epoch ms */
  async function packDevice(group, device, hour) {
    const readFrom = await clock.now();
    /** @type {Set<string>} */
    const packed = new Set();
    let unreadable = 0;
    for await (const found of readDeviceHour({ store, steps, observer, device, hour })) {
      unreadable += found.unreadable;
      await someAtOnce(SENSORS_AT_ONCE, found.sensors, async ([id, { sensor, ...series }]) => {
        await sensors.pack({ device, sensor, hour }, series, readFrom, found.unreadable);
        packed.add(id);
      });
    }
    // A row that cannot be read may be of any sensor of the device, and so may be one that has expired.
    if (unreadable === 0 && readFrom - hour < MAY_HAVE_EXPIRED_MS) return;
    for (const sensor of await steps.run(() => store.sensorIds(group, device))) {
      if (packed.has(sensor.toString('hex'))) continue;
      await sensors.pack({ device, sensor, hour }, NOTHING, readFrom, unreadable);
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
        iteratePages((after) => steps.run(() => store.devicePage(group, after))),
        (device) => packDevice(group, device, hour),
      ),
  };
}

/** @typedef {ReturnType<typeof createFirstPass>} FirstPass */

/** @type {Series} */
const NOTHING = { times: [], values: [] };

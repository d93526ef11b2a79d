import { MillraceError } from '../../../common/errors.js';
import { someAtOnce } from '../../../common/some-at-once.js';
import { groupOf, identifySensor } from '../../../schema/ids.js';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { firstMessageStamp } from './births.js';
import { blankDevice, blankSensor, createDeviceCache, sensorOf } from './cache.js';

/** @import { ErrorCode } from '../../../common/errors.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { RegistryStore } from '../../store/registry/index.js' */
/** @import { PartitionWrite, SensorChange } from '../../store/registry/sensor-writes.js' */
/** @import { Retry } from '../../store/retry.js' */
/** @import { Device, Sensor } from './cache.js' */

/**
 * Who may send: known devices and sensors from a bounded cache, unknown ones registered by their first message where
 * AUTO_REGISTER allows it. Registering is off the hot path, and committed before the first measurement is sent.
 *
 * @param {object} parts
 * @param {RegistryStore} parts.store
 * @param {number} parts.groups `LATEST_GROUPS`
 * @param {{ autoRegister: boolean, autoRegisterMax: number }} parts.limits
 * @param {Retry} parts.retry
 * @param {() => number} parts.clock epoch ms
 */
export function createRegistry({ store, groups, limits, retry, clock }) {
  const cache = createDeviceCache({ store, groups });
  const { write: writeSensors } = createSensorWriter({ store, retry, clock });
  /** @type {Map<string, Promise<unknown>>} changes of one device come one after the other */
  const changing = new Map();
  let devices = 0;

  /** @param {Pick<Device, 'id' | 'bytes'>} identity @returns {Promise<Device | null>} null: nobody has registered it */
  const find = (identity) => retry.run(() => cache.find(identity));

  /**
   * @template T
   * @param {string} id
   * @param {() => Promise<T>} change
   * @returns {Promise<T>}
   */
  function inTurn(id, change) {
    const done = (changing.get(id) ?? Promise.resolve()).then(change, change);
    changing.set(id, done);
    const leave = () => {
      if (changing.get(id) === done) changing.delete(id);
    };
    done.then(leave, leave);
    return done;
  }

  /** @param {Pick<Device, 'id' | 'bytes' | 'name'>} known @returns {Promise<Device>} one that is not registered yet */
  async function newDevice({ id, bytes, name }) {
    const group = groupOf(bytes, groups);
    const retiredAt = await retry.run(() => store.retiredAt({ group, bytes }));
    return blankDevice({ id, bytes, group, name, retiredAt });
  }

  /** @param {Pick<Device, 'id' | 'bytes' | 'name'>} identity @returns {Promise<Device>} */
  async function registerDevice(identity) {
    if (devices >= limits.autoRegisterMax) throw new MillraceError('registration_limit');
    devices++;
    const device = await newDevice(identity);
    const change = { name: device.name ?? undefined, registeredAt: clock() };
    await retry.run(() => store.writeDevice(device, change, firstMessageStamp(device)));
    cache.keep(device);
    return device;
  }

  /**
   * @param {Device} known whose sensors the message has looked up before it was its turn
   * @param {string[]} refs that named no sensor of it then
   * @returns {Promise<Device>} as it is now, with as many of these as it has room for
   */
  async function registerSensors(known, refs) {
    // A birth, or the age of its entry, may have put another in its place meanwhile, or it was retired; this one must
    // not come back.
    const device = (await find(known)) ?? (await registerDevice(known));
    const now = clock();
    /** @type {Map<string, Identity>} */
    const missing = new Map();
    for (const ref of refs) {
      const identity = identifySensor(device.id, ref);
      if (!identity || device.sensors.has(identity.id)) continue;
      // One message may call a sensor by its id and by its name: the name says more.
      if (identity.name !== null || !missing.has(identity.id)) missing.set(identity.id, identity);
    }
    const fresh = [...missing.values()].slice(0, Math.max(0, MAX_SENSORS_PER_DEVICE - device.sensors.size));
    if (fresh.length === 0) return device;
    const changes = fresh.map(({ bytes, name }) => ({
      bytes,
      deviceName: device.name ?? undefined,
      name: name ?? undefined,
      site: device.site ?? undefined,
      registeredAt: now,
      writeTimestamp: firstMessageStamp(device),
    }));
    await writeSensors(device, changes, now);
    for (const { id, bytes, name } of fresh) {
      const { name: deviceName, site } = device;
      device.sensors.set(id, blankSensor({ id, bytes, deviceName, name, site }));
    }
    cache.keep(device);
    return device;
  }

  return {
    cache,
    find,
    newDevice,
    inTurn,
    writeSensors,

    /** Counts what is registered; from then on this process counts by itself, so the limit is approximate. */
    async start() {
      devices = await store.countDevices(groups);
    },

    /**
     * @param {Identity} identity
     * @returns {Promise<Device | null>} null: unknown, and not to be registered by a message
     * @throws {MillraceError} `registration_limit`
     */
    async device(identity) {
      const known = cache.peek(identity.id);
      if (known) return known;
      const found = await find(identity);
      if (found || !limits.autoRegister) return found;
      return inTurn(identity.id, async () => cache.peek(identity.id) ?? registerDevice(identity));
    },

    /**
     * As the database has it now: what was retired by another process is not believed to be known.
     *
     * @param {Pick<Device, 'id' | 'bytes'>} identity
     * @returns {Promise<Device | null>}
     */
    async findNow(identity) {
      const known = cache.peek(identity.id);
      if (!known) return find(identity);
      const row = await retry.run(() => store.device(known));
      if (row?.retiredAt === known.retiredAt) return known;
      cache.forget(identity.id);
      return find(identity);
    },

    /** Counted by a birth that registers a device. */
    countDevice: () => {
      devices++;
    },

    /** Counted by its retirement. */
    uncountDevice: () => {
      devices--;
    },

    /** A device that is known already, by its id. */
    known: cache.peek,

    /** A sensor that is known already, by what a message calls it. */
    sensor: sensorOf,

    /**
     * The sensors that a message names and nobody knows here yet.
     *
     * @param {Device} device
     * @param {string[]} missing
     * @returns {Promise<{ known: Map<string, Sensor>, refused: Map<string, ErrorCode> }>}
     */
    async register(device, missing) {
      /** @type {Map<string, Sensor>} */
      const known = new Map();
      /** @type {Map<string, ErrorCode>} */
      const refused = new Map();
      const grown = limits.autoRegister
        ? await inTurn(device.id, () => registerSensors(device, missing))
        : device;
      for (const ref of missing) {
        const sensor = sensorOf(grown, ref);
        if (sensor) known.set(ref, sensor);
        else if (!identifySensor(device.id, ref)) refused.set(ref, 'bad_id');
        else refused.set(ref, limits.autoRegister ? 'registration_limit' : 'unknown_sensor');
      }
      return { known, refused };
    },
  };
}

/** @typedef {ReturnType<typeof createRegistry>} Registry */

/** Requests that one registration has under way at most: a birth of 10,000 sensors must not crowd out everybody else. */
const WRITES_AT_ONCE = 16;

/**
 * Commits what registering sensors writes, each request by itself: 10,000 sensors of different types are as many, and
 * one that times out is repeated alone.
 *
 * @param {object} parts
 * @param {RegistryStore} parts.store
 * @param {Retry} parts.retry
 * @param {() => number} parts.clock epoch ms
 */
function createSensorWriter({ store, retry, clock }) {
  /** @param {PartitionWrite[]} writes */
  const commit = (writes) =>
    someAtOnce(WRITES_AT_ONCE, writes, (write) => retry.run(() => store.commit(write)));

  return {
    /**
     * @param {Device} device
     * @param {SensorChange[]} changes
     * @param {number} now epoch ms
     * @returns {Promise<void>} settles when all is committed
     */
    async write(device, changes, now) {
      const { indexes, sensors } = store.sensorWrites(device, changes, now);
      await commit(indexes);
      await commit(sensors);
      // Behind what it tells of: who counts sees the new sensors when he sees this.
      await retry.run(() => store.writeSensorsAt(device, clock()));
    },
  };
}

/** @typedef {ReturnType<typeof createSensorWriter>} SensorWriter */

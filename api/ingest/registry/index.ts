import { forEachConcurrently } from '../../../common/concurrency.ts';
import { type ErrorCode, MillraceError } from '../../../common/errors.ts';
import { groupOf, type Identity, identifySensor, type SensorIdentity } from '../../../schema/ids.ts';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.ts';
import type { RegistryStore } from '../../store/registry/index.ts';
import type { RetirementStore } from '../../store/registry/retirement.ts';
import type { PartitionWrite, SensorChange } from '../../store/registry/sensor-writes.ts';
import type { Retry } from '../../store/sending/retry.ts';
import { blankDevice, blankSensor, type Device, DeviceCache, type Sensor, sensorOf } from './cache.ts';
import { firstMessageStamp, nextStamp } from './sessions.ts';

export { sensorOf } from './cache.ts';
export { readSession } from './sessions.ts';
export { arrivalOfSession, eventOf } from './status.ts';

/** type and unit by the id or name in the message */
export type Described = Map<string, { type?: string; unit?: string }>;

/** Without the limit a birth of 10,000 sensors would block all other messages. */
const WRITES_AT_ONCE = 16;

/** While AUTO_REGISTER_MAX is reached, a sender that invents device names could otherwise cause a count with each message. */
const COUNT_EVERY_MS = 60_000;

/**
 * If AUTO_REGISTER is on, the first message of an unknown device or sensor registers it. The registration is committed
 * before the first measurement is written.
 */
export class Registry {
  #store;
  #groups;
  #limits;
  #retry;
  #clock;
  /** The newest change of each device. Changes of one device run one after the other. */
  #changing: Map<string, Promise<unknown>> = new Map();
  #onRegistered;
  #devices = 0;
  /** epoch ms */
  #countedAt = Number.NEGATIVE_INFINITY;
  cache;

  constructor({
    store,
    groups,
    limits,
    retry,
    clock,
    onRegistered = () => {},
  }: {
    store: RegistryStore;
    /** value of `LATEST_GROUPS` */
    groups: number;
    limits: { autoRegister: boolean; autoRegisterMax: number };
    retry: Retry;
    /** epoch ms */
    clock: () => number;
    /** after the commit of a new device; it must return at once */
    onRegistered?: (device: Device) => void;
  }) {
    this.#onRegistered = onRegistered;
    this.#store = store;
    this.#groups = groups;
    this.#limits = limits;
    this.#retry = retry;
    this.#clock = clock;
    this.cache = new DeviceCache({ store, groups });
  }

  get registersUnknown() {
    return this.#limits.autoRegister;
  }

  /** Returns null if the device is not registered. */
  find(identity: Pick<Device, 'id' | 'bytes'>): Promise<Device | null> {
    return this.#retry.run(() => this.cache.find(identity));
  }

  /** Reads from the database, even if the device is in the cache. Returns null if the device is not registered. */
  reload(identity: Pick<Device, 'id' | 'bytes'>): Promise<Device | null> {
    this.cache.forget(identity.id);
    return this.find(identity);
  }

  /** Does not register the device. */
  async newDevice({ id, bytes, name }: Pick<Device, 'id' | 'bytes' | 'name'>): Promise<Device> {
    const group = groupOf(bytes, this.#groups);
    const retiredAt = await this.#retry.run(() => this.#store.retiredAt({ group, bytes }));
    return blankDevice({ id, bytes, group, name, retiredAt });
  }

  /** Runs after the earlier changes of the same device. */
  serialize<T>(id: string, change: () => Promise<T>): Promise<T> {
    const result = (this.#changing.get(id) ?? Promise.resolve()).then(change, change);
    this.#changing.set(id, result);
    const leave = () => {
      if (this.#changing.get(id) === result) this.#changing.delete(id);
    };
    result.then(leave, leave);
    return result;
  }

  /** A failed request is retried without the others, because 10,000 sensors of different types need 10,000 requests. */
  async writeSensors(device: Device, changes: SensorChange[], now: number): Promise<void> {
    const { indexes, sensors } = this.#store.sensorWrites(device, changes, now);
    await this.#commit(indexes);
    await this.#commit(sensors);
    // This time is written after the sensors. So a reader that sees this time and counts the sensors again also sees the new sensors.
    await this.#retry.run(() => this.#store.writeSensorsAt(device, this.#clock()));
  }

  /**
   * A current description comes from the message itself, so it replaces an older one. Any other description only fills
   * empty attributes, and its write timestamp is older than that of any birth. `currentAt` null: they are not current.
   */
  describeSensors(
    device: Device,
    described: Array<{ sensor: Sensor; unit?: string; type?: string }>,
    currentAt: number | null,
  ): Promise<unknown> {
    return this.serialize(device.id, async () => {
      const writeTimestamp = currentAt === null ? firstMessageStamp(device) : nextStamp(device, currentAt);
      const changes = described.map(({ sensor: { bytes, deviceName, name, site }, unit, type }) => ({
        bytes,
        deviceName: deviceName ?? undefined,
        name: name ?? undefined,
        site: site ?? undefined,
        unit,
        type,
        writeTimestamp,
      }));
      await this.writeSensors(device, changes, this.#clock());
      for (const { sensor, unit, type } of described) {
        if (unit !== undefined) sensor.unit = unit;
        if (type !== undefined) sensor.type = type;
      }
    });
  }

  /** Until the next count only changes by this process are added, so AUTO_REGISTER_MAX is approximate. */
  async recount() {
    this.#countedAt = this.#clock();
    this.#devices = await this.#store.countDevices(this.#groups);
  }

  /** Registers an unknown device if AUTO_REGISTER is on, with this site; otherwise null. @throws `registration_limit` */
  async device(identity: Identity, site?: string): Promise<Device | null> {
    const known = this.cache.peek(identity.id);
    if (known) return known;
    const found = await this.find(identity);
    if (found || !this.#limits.autoRegister) return found;
    return this.serialize(
      identity.id,
      async () => this.cache.peek(identity.id) ?? this.#registerDevice(identity, site),
    );
  }

  /** The database is always read, because another process may have retired or described the device. */
  async findNow(identity: Pick<Device, 'id' | 'bytes'>): Promise<Device | null> {
    const known = this.cache.peek(identity.id);
    if (!known) return this.find(identity);
    const row = await this.#retry.run(() => this.#store.device(known));
    if (row?.retiredAt === known.retiredAt && row.describedAt === known.describedAt) return known;
    return this.reload(identity);
  }

  /** A birth has committed a new device. */
  noteRegistered(device: Device) {
    this.#devices++;
    this.#onRegistered(device);
  }

  uncountDevice() {
    this.#devices--;
  }

  async register(
    device: Device,
    missing: string[],
    described: Described = new Map(),
  ): Promise<{ known: Map<string, Sensor>; refused: Map<string, ErrorCode> }> {
    const known: Map<string, Sensor> = new Map();
    const refused: Map<string, ErrorCode> = new Map();
    const grown = this.#limits.autoRegister
      ? await this.serialize(device.id, () => this.#registerSensors(device, missing, described))
      : device;
    for (const ref of missing) {
      const sensor = sensorOf(grown, ref);
      if (sensor) known.set(ref, sensor);
      else if (!identifySensor(device.id, ref)) refused.set(ref, 'bad_id');
      else refused.set(ref, this.#limits.autoRegister ? 'registration_limit' : 'unknown_sensor');
    }
    return { known, refused };
  }

  #commit(writes: PartitionWrite[]) {
    return forEachConcurrently(WRITES_AT_ONCE, writes, (write) =>
      this.#retry.run(() => this.#store.commit(write)),
    );
  }

  async #registerDevice(identity: Pick<Device, 'id' | 'bytes' | 'name'>, site?: string): Promise<Device> {
    const isFull = () => this.#devices >= this.#limits.autoRegisterMax;
    // Other processes may have retired devices since the last count.
    if (isFull() && Math.abs(this.#clock() - this.#countedAt) >= COUNT_EVERY_MS)
      await this.#retry.run(() => this.recount());
    if (isFull()) throw new MillraceError('registration_limit');
    this.#devices++;
    const device = await this.newDevice(identity);
    const [now, stamp] = [this.#clock(), firstMessageStamp(device)];
    if (site !== undefined) await this.#retry.run(() => this.#store.indexDevice(device, site, now, stamp));
    const change = { name: device.name ?? undefined, site, registeredAt: now };
    await this.#retry.run(() => this.#store.writeDevice(device, change, stamp));
    device.site = site ?? null;
    this.cache.keep(device);
    this.#onRegistered(device);
    return device;
  }

  /** Registers up to the limit of the device. `known`: the device at the lookup of the sensors; `refs`: those unknown then. */
  async #registerSensors(known: Device, refs: string[], described: Described): Promise<Device> {
    // Since the lookup, a birth or the TTL may have replaced the cache entry, or the device was retired. So the device is looked up again.
    const device = (await this.find(known)) ?? (await this.#registerDevice(known));
    const now = this.#clock();
    const missing: Map<string, SensorIdentity & { type?: string; unit?: string }> = new Map();
    for (const ref of refs) {
      const identity = identifySensor(device.id, ref);
      if (!identity || device.sensors.has(identity.id)) continue;
      // A message may refer to a sensor by id and by name. The reference by name contains more information.
      if (identity.name !== null || !missing.has(identity.id))
        missing.set(identity.id, { ...identity, ...described.get(ref) });
    }
    const fresh = [...missing.values()].slice(0, Math.max(0, MAX_SENSORS_PER_DEVICE - device.sensors.size));
    if (fresh.length === 0) return device;
    const changes = fresh.map(({ bytes, name, type, unit }) => ({
      bytes,
      deviceName: device.name ?? undefined,
      name: name ?? undefined,
      type,
      unit,
      site: device.site ?? undefined,
      registeredAt: now,
      writeTimestamp: firstMessageStamp(device),
    }));
    await this.writeSensors(device, changes, now);
    for (const { id, bytes, name, type = null, unit = null } of fresh) {
      const { name: deviceName, site } = device;
      device.sensors.set(id, {
        ...blankSensor({ id, bytes, deviceName, name, site, registeredAt: now }),
        type,
        unit,
      });
    }
    this.cache.keep(device);
    return device;
  }
}

/**
 * Removes devices from the registry and from the cache of this process. Another process may accept messages of a
 * retired device for up to ten minutes, while the device is in its cache.
 */
export function createRetirement({
  registry,
  store,
  groups,
  clock,
}: {
  registry: Registry;
  store: RetirementStore;
  groups: number;
  /** epoch ms */
  clock: () => number;
}) {
  return {
    /** Resolves to false for an unknown device. @throws `unavailable`: a second call finishes the removal */
    retire: ({ id, bytes }: Identity): Promise<boolean> =>
      registry.serialize(id, async () => {
        try {
          const isRetired = await store.retire({ group: groupOf(bytes, groups), bytes }, clock());
          if (isRetired) registry.uncountDevice();
          return isRetired;
        } finally {
          registry.cache.forget(id);
        }
      }),
  };
}

export type Retirement = ReturnType<typeof createRetirement>;

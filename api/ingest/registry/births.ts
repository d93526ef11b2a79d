import type { Identity } from '../../../schema/ids.ts';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.ts';
import type { Refusals } from '../../store/dead-letters.ts';
import type { Stamp } from '../../store/index.ts';
import type { RegistryStore } from '../../store/registry/index.ts';
import type { Retry } from '../../store/sending/retry.ts';
import { PATHS, ruleOf } from '../decode/refusals.ts';
import type { Arrival } from '../pipeline.ts';
import type { Birth, SensorBirth } from './birth-message.ts';
import { blankSensor, type Device, type Sensor } from './cache.ts';
import type { Registry } from './index.ts';
import type { ClockNotices } from './sessions.ts';
import { beginSession, firstMessageStamp, isOver, nextStamp } from './sessions.ts';

/**
 * Only attributes that differ from the registry are written. Their write timestamp is the time of receipt, so the birth
 * that arrived last describes the device, whatever the clock of the device shows.
 *
 * A birth of an ended session may arrive again: repeated by the broker, retained, or replayed. It only adds unknown
 * sensors, with a write timestamp that every other birth overwrites. Several processes receive every birth in the same
 * order, so in each the last write comes from the newest birth.
 */
export class Births {
  #registry;
  #store;
  #retry;
  #clock;
  #clocks;

  constructor({
    registry,
    store,
    retry,
    clock,
    clocks,
  }: {
    registry: Registry;
    store: RegistryStore;
    retry: Retry;
    /** epoch ms */
    clock: () => number;
    clocks: ClockNotices;
  }) {
    this.#registry = registry;
    this.#store = store;
    this.#retry = retry;
    this.#clock = clock;
    this.#clocks = clocks;
  }

  /** Returns whether anything was written. */
  async #writeDevice(
    device: Device,
    birth: Description,
    { isNew, stamp }: { isNew: boolean; stamp: Stamp },
  ): Promise<boolean> {
    const attributes = changedAttributes(device, birth);
    if (Object.keys(attributes).length === 0) return false;
    const now = this.#clock();
    const { site } = attributes;
    if (site !== undefined) await this.#retry.run(() => this.#store.indexDevice(device, site, now, stamp));
    const change = { ...attributes, registeredAt: isNew ? now : undefined };
    await this.#retry.run(() => this.#store.writeDevice(device, change, stamp));
    Object.assign(device, attributes, birth.session === undefined ? {} : { sessionStamp: stamp });
    if (isNew) this.#registry.noteRegistered(device);
    return true;
  }

  /** Returns whether anything was written. */
  async #writeSensors(device: Device, planned: PlannedSensor[], writeTimestamp: Stamp): Promise<boolean> {
    if (planned.length === 0) return false;
    const now = this.#clock();
    const changes = planned.map(({ sensor, isNew, attributes }) => ({
      ...attributes,
      bytes: sensor.bytes,
      registeredAt: isNew ? now : undefined,
      writeTimestamp,
    }));
    await this.#registry.writeSensors(device, changes, now);
    for (const { sensor, isNew, attributes } of planned)
      device.sensors.set(sensor.id, Object.assign(sensor, attributes, isNew && { registeredAt: now }));
    return true;
  }

  /** Settles when the birth is committed, with a refusal for each sensor above the limit of a device. */
  register(identity: Identity, birth: Birth, arrival: Arrival): Promise<Refusals> {
    return this.#registry.serialize(identity.id, async () => {
      const found = await this.#registry.findNow(identity);
      const device = found ?? (await this.#registry.newDevice({ ...identity, name: null }));
      const { taken, refused } = admit(device, birth);
      if (isOver(device, birth.session, arrival)) {
        const written = await this.#writeSensors(device, planNew(device, taken), firstMessageStamp(device));
        // The write timestamps in the database decide which attributes are valid, so the device must be read again.
        if (written) this.#registry.cache.forget(device.id);
        return refused;
      }
      const stamp = nextStamp(device, arrival.receivedAt);
      const begun = beginSession(device, birth.session, arrival.receivedAt);
      this.#clocks.note(device, begun.clockOffset);
      // The write timestamp of the session shows when the session was announced. So a repeated birth must not write the session again.
      const session =
        birth.session.id === null || begun.session !== device.session ? begun : { session: undefined };
      await this.#writeDevice(device, { ...birth, ...session }, { isNew: found === null, stamp });
      await this.#writeSensors(device, planSensors(device, taken), stamp);
      this.#registry.cache.keep(device);
      return refused;
    });
  }

  /**
   * A description over HTTP overwrites every earlier birth. A later birth overwrites attributes for which it has another
   * value. A description begins no session. Each sensor above the limit of a device is refused.
   */
  describe(
    identity: Identity,
    { sensors, ...description }: Pick<Description, 'site' | 'label'> & Pick<Birth, 'sensors'>,
  ): Promise<Refusals> {
    return this.#registry.serialize(identity.id, async () => {
      // The device is read again, because another process may have received a birth. Compared with an outdated cache
      // entry, the description could seem to change nothing.
      const found = await this.#registry.reload(identity);
      const device = found ?? (await this.#registry.newDevice({ ...identity, name: null }));
      const { taken, refused } = admit(device, { sensors });
      const name = found ? undefined : (identity.name ?? undefined);
      const at = this.#clock();
      const stamp = nextStamp(device, at);
      await this.#writeDevice(
        device,
        { ...description, name, describedAt: at },
        { isNew: found === null, stamp },
      );
      await this.#writeSensors(device, planSensors(device, taken), stamp);
      // Another process may have written a newer session during these writes, so the device must be read again.
      this.#registry.cache.forget(device.id);
      return refused;
    });
  }
}

type Description = {
  name?: string;
  site?: string;
  label?: string;
  describedAt?: number;
  session?: number;
  endedSessions?: number[];
  clockOffset?: number;
};

type Attributes = {
  deviceName?: string;
  name?: string;
  type?: string;
  unit?: string;
  site?: string;
  label?: string;
  intervalMs?: number;
};

type PlannedSensor = { sensor: Sensor; isNew: boolean; attributes: Attributes };

const LIMIT = 'registration_limit';

/** The others are above the limit of the device. */
export function admit(
  device: Device,
  { sensors, pathOf = PATHS.birth }: Pick<Birth, 'sensors' | 'pathOf'>,
): { taken: SensorBirth[]; refused: Refusals } {
  let room = MAX_SENSORS_PER_DEVICE - device.sensors.size;
  const fits = sensors.map(({ identity }) => device.sensors.has(identity.id) || room-- > 0);
  return {
    taken: sensors.filter((_, index) => fits[index]),
    refused: sensors
      .filter((_, index) => !fits[index])
      .map(({ index }) => ({ index, code: LIMIT, path: pathOf(index), rule: ruleOf(LIMIT) })),
  };
}

export const changedAttributes = (device: Device, birth: Description) => {
  const { name, site, label, describedAt, session, endedSessions, clockOffset } = birth;
  const changes = differing({ name, site, label, describedAt }, device);
  return session === undefined ? changes : { ...changes, session, endedSessions, clockOffset };
};

/**
 * The device has the attributes of the birth already. Sensors that the birth does not list may change too, because
 * their rows contain the name and site of the device.
 */
export function planSensors(device: Device, born: SensorBirth[]): PlannedSensor[] {
  const mentioned = new Set(born.map(({ identity }) => identity.id));
  const others = [...device.sensors.values()].filter(({ id }) => !mentioned.has(id));
  return [
    ...planNew(device, born),
    ...born.flatMap((birth) => planKnown(device, device.sensors.get(birth.identity.id), birth)),
    ...others.flatMap((sensor) => planKnown(device, sensor, {})),
  ];
}

export const planNew = (device: Device, born: SensorBirth[]): PlannedSensor[] =>
  born
    .filter(({ identity }) => !device.sensors.has(identity.id))
    .map((birth) => {
      const { id, bytes } = birth.identity;
      const sensor = blankSensor({ id, bytes, deviceName: null, name: null, site: null });
      return { sensor, isNew: true, attributes: differing(attributesOf(device, birth), sensor) };
    });

function planKnown(device: Device, sensor: Sensor | undefined, birth: Partial<SensorBirth>): PlannedSensor[] {
  const attributes = sensor && differing(attributesOf(device, birth), sensor);
  return attributes && Object.keys(attributes).length > 0 ? [{ sensor, isNew: false, attributes }] : [];
}

const attributesOf = (device: Device, { name, type, unit, label, intervalMs }: Partial<SensorBirth>) => ({
  deviceName: device.name,
  name,
  type,
  unit,
  site: device.site,
  label,
  intervalMs,
});

/** Undefined or null means that no value is given. */
const differing = <T extends Record<string, unknown>>(
  wanted: T,
  current: Record<string, unknown>,
): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(
    Object.entries(wanted).filter(
      ([key, value]) => value !== undefined && value !== null && value !== current[key],
    ),
  ) as { [K in keyof T]?: NonNullable<T[K]> };

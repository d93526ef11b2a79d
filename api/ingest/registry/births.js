import { admit, deviceWords, planNew, planSensors } from './birth-changes.js';
import { sessionStamp } from './stamps.js';

/** @typedef {import('./cache.js').Device} Device */
/** @typedef {import('./birth-message.js').Birth} Birth */

/**
 * Registers what a birth tells. Only what differs from the registry is written, stamped with the session's start; the
 * birth may be acknowledged when this is done.
 *
 * A word that has not changed since an older session bears that one's stamp. So what a late birth says, of a session
 * before the newest, must not be written at all: its stamp could be the greater. Another process may not know of the
 * newest session yet, and write. But each process gets every birth, and one that has written a late word finds that
 * the newest session's differs when that comes: whoever was misled ends with writing what is right.
 *
 * @param {object} parts
 * @param {import('./index.js').Registry} parts.registry
 * @param {import('../../store/registry/index.js').RegistryStore} parts.store
 * @param {import('../../store/retry.js').Patience} parts.patience
 * @param {() => number} parts.clock epoch ms
 */
export function createBirths({ registry, store, patience, clock }) {
  /** @param {Device} device @param {Birth} birth @param {boolean} isNew @returns {Promise<boolean>} whether anything was to be written */
  async function writeDevice(device, birth, isNew) {
    const words = deviceWords(device, birth);
    if (Object.keys(words).length === 0) return false;
    const now = clock();
    const stamp = sessionStamp(device, birth.session);
    const { site } = words;
    if (site !== undefined) await patience.persist(() => store.indexDevice(device, site, now, stamp));
    const change = { ...words, registeredAt: isNew ? now : undefined };
    await patience.persist(() => store.writeDevice(device, change, stamp));
    if (isNew) registry.countDevice();
    Object.assign(device, words);
    return true;
  }

  /** @param {Device} device @param {import('./birth-changes.js').Planned[]} planned @param {Birth} birth @returns {Promise<boolean>} whether anything was to be written */
  async function writeSensors(device, planned, birth) {
    if (planned.length === 0) return false;
    const now = clock();
    const changes = planned.map(({ sensor, isNew, words }) => ({
      ...words,
      bytes: sensor.bytes,
      registeredAt: isNew ? now : undefined,
      stamp: sessionStamp(device, birth.session),
    }));
    await registry.writeSensors(device, changes, now);
    for (const { sensor, words } of planned) device.sensors.set(sensor.id, Object.assign(sensor, words));
    return true;
  }

  return {
    /**
     * @param {import('../../../schema/ids.js').Identity} identity
     * @param {Birth} birth
     * @returns {Promise<import('../../store/dead-letters/writes.js').Refusals>} when the registry has committed it: the
     *   sensors that are more than a device may have
     */
    register: (identity, birth) =>
      registry.inTurn(identity.id, async () => {
        const found = await registry.findNow(identity);
        const device = found ?? (await registry.newDevice({ ...identity, name: null }));
        const newest = device.session ?? 0;
        const late = birth.session < newest;
        const { taken, refused } = admit(device, birth);
        const deviceWritten = !late && (await writeDevice(device, birth, found === null));
        // All that a late birth can say is which sensors nobody knew of.
        const planned = late ? planNew(device, taken) : planSensors(device, taken);
        const written = (await writeSensors(device, planned, birth)) || deviceWritten;
        if (birth.session > newest) registry.cache.keep(device);
        // Of a session that is not newer than all others, only the database's stamps tell which words hold.
        else if (written) registry.cache.forget(device.id);
        return refused;
      }),
  };
}

/** @typedef {ReturnType<typeof createBirths>} Births */

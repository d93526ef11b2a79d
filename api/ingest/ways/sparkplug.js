import { notReplayable, toldOf } from '../telling.js';
import { noteSettled } from './settled.js';

/** @typedef {import('../../../schema/ids.js').Identity} Identity */

/**
 * What an edge node says is a birth, the end of some devices, measurements, or several of these.
 *
 * @param {object} parts
 * @param {import('../sparkplug/index.js').Sparkplug} parts.sparkplug
 * @param {import('../registry/index.js').Registry} parts.registry
 * @param {import('../registry/births.js').Births} parts.births
 * @param {import('../registry/status.js').Statuses} parts.statuses
 * @param {import('../measurements.js').Measurements} parts.measurements
 * @param {import('./sightings.js').Sightings} parts.sightings
 * @param {import('../dead-letter-box.js').DeadLetterBox} parts.deadLetters
 * @param {import('../../vitals.js').Vitals} parts.vitals
 * @returns {import('./index.js').Way<import('../topics.js').EdgeTopic>}
 */
export function createSparkplugWay(parts) {
  const { sparkplug, registry, births, statuses, measurements, sightings, deadLetters, vitals } = parts;

  /** @param {import('../registry/birth-message.js').Birth} birth @param {Identity} identity */
  async function begin(birth, identity) {
    const tooMany = await births.register(identity, birth);
    const device = await registry.device(identity);
    if (device) await statuses.write(device, { state: 'online', session: birth.session });
    return tooMany;
  }

  return {
    async accept(message, identity, { device: name, sparkplug: topic }) {
      const began = performance.now();
      const { retained, receivedAt } = message;
      const { birth, ended, basket } = await sparkplug.read(message, topic, identity);
      const tooMany = birth ? await begin(birth, identity) : [];
      for (const device of ended) {
        await statuses.write(device, { state: 'offline', session: device.session ?? receivedAt });
      }
      if (!basket) return 'accepted';
      await measurements.store(identity, basket, retained ? null : receivedAt);
      await deadLetters.put(message, name, eachOnce([...basket.refused, ...tooMany]));
      await sightings.note(message, identity);
      noteSettled(vitals, basket, began);
      return 'accepted';
    },

    async replay({ payload, receivedAt, now, isRefused }, identity, { sparkplug: topic }) {
      const { birth, basket } = await sparkplug.readAgain({ payload, receivedAt, now }, topic, identity);
      if (!basket) throw notReplayable('A death says nothing of now.');
      if (birth) await births.register(identity, birth);
      if (isRefused) basket.keepOnly(isRefused);
      await measurements.store(identity, basket, null);
      return toldOf(basket);
    },
  };
}

/**
 * A metric of a birth is refused as a sensor and as a measurement, and counts once.
 *
 * @param {import('../basket.js').Refusals} refused
 */
const eachOnce = (refused) => [...new Map(refused.map((one) => [one.index, one])).values()];

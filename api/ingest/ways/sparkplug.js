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
 * @param {import('../registry/events.js').Events} parts.events
 * @param {import('../measurements.js').Measurements} parts.measurements
 * @param {import('./sightings.js').Sightings} parts.sightings
 * @param {import('../dead-letter-box.js').DeadLetterBox} parts.deadLetters
 * @param {import('../../vitals.js').Vitals} parts.vitals
 * @returns {import('./index.js').Way<import('../topics.js').EdgeTopic>}
 */
export function createSparkplugWay(parts) {
  const { sparkplug, registry, births, statuses, events, measurements } = parts;
  const { sightings, deadLetters, vitals } = parts;

  /** @param {import('../registry/birth-message.js').Birth} birth @param {Identity} identity @param {number | null} at epoch ms of its receipt; null: of a retained message */
  async function begin(birth, identity, at) {
    const { session } = birth;
    const tooMany = await births.register(identity, birth);
    if (at !== null) await events.note(identity, { session, kind: 'birth', ts: session });
    const device = await registry.device(identity);
    if (device) await statuses.write(device, { state: 'online', session }, at);
    return tooMany;
  }

  return {
    async accept(message, identity, { device: name, sparkplug: topic }) {
      const began = performance.now();
      const { retained, receivedAt } = message;
      const at = retained ? null : receivedAt;
      const { birth, ended, basket } = await sparkplug.read(message, topic, identity);
      const tooMany = birth ? await begin(birth, identity, at) : [];
      for (const device of ended) {
        await statuses.write(device, { state: 'offline', session: device.session ?? receivedAt }, at);
      }
      if (!basket) return 'accepted';
      await measurements.store(identity, basket, at);
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

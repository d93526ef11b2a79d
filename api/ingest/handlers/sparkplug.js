import { notReplayable, resultOf } from '../ingest-result.js';

/** @typedef {import('../../../schema/ids.js').Identity} Identity */

/**
 * What an edge node says is a birth, the end of some devices, measurements, or several of these.
 *
 * @param {object} parts
 * @param {import('../sparkplug/index.js').Sparkplug} parts.sparkplug
 * @param {import('../registry/index.js').Registry} parts.registry
 * @param {import('../registry/births.js').Births} parts.births
 * @param {import('../registry/status.js').Statuses} parts.statuses
 * @param {import('../registry/status.js').Events} parts.events
 * @param {import('../pipeline.js').IngestPipeline} parts.measurements
 * @param {import('./index.js').Sightings} parts.sightings
 * @param {import('../dead-letter-box.js').DeadLetterBox} parts.deadLetters
 * @returns {import('./index.js').Handler<import('../../../schema/topics.js').EdgeTopic>}
 */
export function createSparkplugHandler(parts) {
  const { sparkplug, registry, births, statuses, events, measurements } = parts;
  const { sightings, deadLetters } = parts;

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
    async handle(message, identity, { device: name, sparkplug: topic }) {
      const began = performance.now();
      const { retained, receivedAt } = message;
      const at = retained ? null : receivedAt;
      const { birth, ended, batch } = await sparkplug.read(message, topic, identity);
      const tooMany = birth ? await begin(birth, identity, at) : [];
      for (const device of ended) {
        await statuses.write(device, { state: 'offline', session: device.session ?? receivedAt }, at);
      }
      if (!batch) return 'accepted';
      await measurements.store(identity, batch, at);
      await deadLetters.put(message, name, eachOnce([...batch.refused, ...tooMany]));
      await sightings.note(message, identity);
      measurements.noteSettled(batch, began);
      return 'accepted';
    },

    async replay({ payload, receivedAt, now, isRefused }, identity, { sparkplug: topic }) {
      const { birth, batch } = await sparkplug.readAgain({ payload, receivedAt, now }, topic, identity);
      if (!batch) throw notReplayable('A death says nothing of now.');
      if (birth) await births.register(identity, birth);
      if (isRefused) batch.keepOnly(isRefused);
      await measurements.store(identity, batch, null);
      return resultOf(batch);
    },
  };
}

/**
 * A metric of a birth is refused as a sensor and as a measurement, and counts once.
 *
 * @param {import('../decode/message-batch.js').Refusals} refused
 */
const eachOnce = (refused) => [...new Map(refused.map((one) => [one.index, one])).values()];

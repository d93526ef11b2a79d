import { notReplayable, resultOf } from '../ingest-result.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { EdgeTopic } from '../../../schema/topics.js' */
/** @import { Refusals } from '../../store/dead-letters/writes.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { IngestPipeline } from '../pipeline.js' */
/** @import { Birth } from '../registry/birth-message.js' */
/** @import { Births } from '../registry/births.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Events, Statuses } from '../registry/status.js' */
/** @import { Sparkplug } from '../sparkplug/index.js' */
/** @import { Handler, Sightings } from './index.js' */

/**
 * What an edge node says is a birth, the end of some devices, measurements, or several of these.
 *
 * @param {object} deps
 * @param {Sparkplug} deps.sparkplug
 * @param {Registry} deps.registry
 * @param {Births} deps.births
 * @param {Statuses} deps.statuses
 * @param {Events} deps.events
 * @param {IngestPipeline} deps.measurements
 * @param {Sightings} deps.sightings
 * @param {DeadLetterBox} deps.deadLetters
 * @returns {Handler<EdgeTopic>}
 */
export function createSparkplugHandler(deps) {
  const { sparkplug, registry, births, statuses, events, measurements } = deps;
  const { sightings, deadLetters } = deps;

  /** @param {Birth} birth @param {Identity} identity @param {number | null} at epoch ms of its receipt; null: of a retained message */
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
 * @param {Refusals} refused
 */
const eachOnce = (refused) => [...new Map(refused.map((one) => [one.index, one])).values()];

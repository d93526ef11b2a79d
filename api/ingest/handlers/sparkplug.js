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
/** @import { Handler, NoteLastSeen } from './index.js' */

/**
 * Handles the messages of Sparkplug edge nodes. A message may be a birth, the end of some devices, measurements, or several of these.
 *
 * @param {object} deps
 * @param {Sparkplug} deps.sparkplug
 * @param {Registry} deps.registry
 * @param {Births} deps.births
 * @param {Statuses} deps.statuses
 * @param {Events} deps.events
 * @param {IngestPipeline} deps.measurements
 * @param {NoteLastSeen} deps.noteLastSeen
 * @param {DeadLetterBox} deps.deadLetters
 * @returns {Handler<EdgeTopic>}
 */
export function createSparkplugHandler(deps) {
  const { sparkplug, registry, births, statuses, events, measurements } = deps;
  const { noteLastSeen, deadLetters } = deps;

  /** @param {Birth} birth @param {Identity} identity @param {number | null} receivedAt epoch ms; null: a retained message */
  async function begin(birth, identity, receivedAt) {
    const { session } = birth;
    const tooMany = await births.register(identity, birth);
    if (receivedAt !== null) await events.note(identity, { session, kind: 'birth', ts: session });
    const device = await registry.device(identity);
    if (device) await statuses.write(device, { state: 'online', session }, receivedAt);
    return tooMany;
  }

  return {
    async handle(message, identity, { device: name, sparkplug: topic }) {
      const began = performance.now();
      const { retained, receivedAt } = message;
      const seenAt = retained ? null : receivedAt;
      const { birth, ended, batch } = await sparkplug.read(message, topic, identity);
      const tooMany = birth ? await begin(birth, identity, seenAt) : [];
      for (const device of ended) {
        await statuses.write(device, { state: 'offline', session: device.session ?? receivedAt }, seenAt);
      }
      if (!batch) return 'accepted';
      const receipt = message.receipt ?? { from: null };
      await measurements.store(identity, batch, { receivedAt, isRetained: retained, receipt });
      // A replay has to compute the same times.
      const kept = { ...message, receivedAt: receipt.from ?? receivedAt };
      await deadLetters.put(kept, name, eachOnce([...batch.refused, ...tooMany]));
      await noteLastSeen(message, identity);
      measurements.noteSettled(batch, began);
      return 'accepted';
    },

    async replay({ payload, receivedAt, now, isRefused }, identity, { sparkplug: topic }) {
      const { birth, batch } = await sparkplug.readAgain({ payload, receivedAt, now }, topic, identity);
      if (!batch) throw notReplayable('A death only describes the past.');
      if (birth) await births.register(identity, birth);
      await measurements.storeAgain(identity, batch, { receivedAt, isRefused });
      return resultOf(batch);
    },
  };
}

/**
 * A metric of a birth may be refused twice, as a sensor and as a measurement. It counts once.
 *
 * @param {Refusals} refused
 */
const eachOnce = (refused) => [...new Map(refused.map((refusal) => [refusal.index, refusal])).values()];

import { storeWaiting } from '../awaiting-registration.js';
import { arrivalOf } from '../pipeline.js';
import { readBirth } from '../registry/birth-message.js';
import { arrivalOfSession, eventOf } from '../registry/status.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { OwnTopic } from '../../../schema/topics.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { AwaitingRegistration } from '../awaiting-registration.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { IngestResult } from '../ingest-result.js' */
/** @import { Arrival, Message, Outcome } from '../pipeline.js' */
/** @import { Devices, Kept, NoteLastSeen } from './index.js' */
/** @import { MappedHandler } from './mapped.js' */
/** @import { MeasurementHandler } from './measurements.js' */
/** @import { StatusHandler } from './status.js' */

/** Handlers of messages that may wait for a birth. @typedef {{ measurements: MeasurementHandler, status: StatusHandler, mapped: MappedHandler }} Others */

/**
 * @param {object} deps
 * @param {Devices} deps.devices
 * @param {NoteLastSeen} deps.noteLastSeen
 * @param {AwaitingRegistration} deps.awaitingRegistration
 * @param {DeadLetterBox} deps.deadLetters
 * @param {Others} deps.others
 * @param {Metrics} deps.metrics
 */
export function createBirthHandler(deps) {
  const { noteLastSeen, awaitingRegistration, deadLetters, others, metrics } = deps;
  const { registry, births, events, statuses } = deps.devices;

  /** @param {Pick<Message, 'payload' | 'contentType'>} message @param {Arrival} arrival @param {Identity} identity */
  async function register({ payload, contentType }, arrival, identity) {
    const { receivedAt, as } = arrival;
    const birth = readBirth(payload, identity, receivedAt, contentType);
    const tooMany = await births.register(identity, birth, arrival);
    if (as !== 'retained') {
      const device = registry.cache.peek(identity.id);
      const began = arrivalOfSession(device, receivedAt);
      await events.note(identity, eventOf('birth', birth.session, device?.clockOffset ?? 0, began));
    }
    return { birth, refused: [...birth.refused, ...tooMany] };
  }

  /** Stores a message that waited for this birth. @param {Message} message @param {Identity} identity */
  async function replayWaiting({ route, payload, contentType, receivedAt }, identity) {
    if (!route || !registry.cache.peek(identity.id)) return;
    const kept = { payload, contentType, receivedAt, now: receivedAt, isRefused: null };
    if (route.kind === 'mapped') await others.mapped.replay(kept, route, null);
    else if (route.kind === 'measurements') await others.measurements.replay(kept, route, identity);
    else if (route.kind === 'status') await others.status.replay(kept, route, identity);
  }

  return {
    /** @param {Message} message @param {OwnTopic} topic @param {Identity} identity @returns {Promise<Outcome>} */
    async handle(message, { device: name }, identity) {
      const arrival = arrivalOf(message);
      const { birth, refused } = await register(message, arrival, identity);
      const device = registry.cache.peek(identity.id);
      if (device && arrival.as === 'live') await statuses.setOnline(device, arrival, birth.session);
      await deadLetters.put(message, name, refused);
      await noteLastSeen(message, identity);
      storeWaiting(awaitingRegistration.take(identity.id), metrics, (waiting) =>
        replayWaiting(waiting, identity),
      );
      return 'accepted';
    },

    /** @param {Kept} kept @param {OwnTopic} _topic @param {Identity} identity @returns {Promise<IngestResult>} */
    async replay(kept, _topic, identity) {
      const { receivedAt } = kept;
      const { refused } = await register(kept, { receivedAt, as: 'replayed' }, identity);
      return { accepted: 1, refused };
    },
  };
}

import { parseTopic } from '../../../schema/topics.js';
import { readBirth } from '../registry/birth-message.js';
import { arrivalOf } from '../registry/sessions.js';
import { arrivalOfSession, eventOf } from '../registry/status.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { AwaitingRegistration } from '../awaiting-registration.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { IngestPipeline, Message } from '../pipeline.js' */
/** @import { Mappings } from '../mappings/index.js' */
/** @import { Births } from '../registry/births.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Arrival } from '../registry/sessions.js' */
/** @import { Events, Statuses } from '../registry/status.js' */
/** @import { Handler, NoteLastSeen } from './index.js' */
/** @import { MappedHandler } from './mapped.js' */

/**
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {Births} deps.births
 * @param {Events} deps.events
 * @param {Statuses} deps.statuses
 * @param {NoteLastSeen} deps.noteLastSeen
 * @param {AwaitingRegistration} deps.awaitingRegistration
 * @param {IngestPipeline} deps.measurements
 * @param {Mappings} deps.mappings
 * @param {MappedHandler} deps.mapped
 * @param {Handler} deps.status
 * @param {DeadLetterBox} deps.deadLetters
 * @param {Metrics} deps.metrics
 * @returns {Handler}
 */
export function createBirthHandler(deps) {
  const {
    registry,
    births,
    events,
    statuses,
    noteLastSeen,
    awaitingRegistration,
    measurements,
    mappings,
    mapped,
    status,
    deadLetters,
    metrics,
  } = deps;

  /** @param {Buffer} payload @param {Arrival} arrival @param {Identity} identity */
  async function register(payload, arrival, identity) {
    const { receivedAt, as } = arrival;
    const birth = readBirth(payload, identity, receivedAt);
    const tooMany = await births.register(identity, birth, arrival);
    if (as !== 'retained') {
      const device = registry.cache.peek(identity.id);
      const began = arrivalOfSession(device, receivedAt);
      await events.note(identity, eventOf('birth', birth.session, device?.clockOffset ?? 0, began));
    }
    return { birth, refused: [...birth.refused, ...tooMany] };
  }

  /** Stores a message that waited for this birth. It is already a dead letter, which remains if this fails. @param {Message} message @param {Identity} identity */
  async function storeAfterAll({ topic, payload, contentType, receivedAt }, identity) {
    const parsed = parseTopic(topic) ?? mappings.match(topic);
    if (!parsed || !registry.cache.peek(identity.id)) return;
    const kept = { payload, contentType, receivedAt, now: receivedAt, isRefused: null };
    try {
      if (parsed.kind === 'mapped') await mapped.replay(kept, parsed);
      else await (parsed.kind === 'status' ? status : measurements).replay(kept, identity, parsed);
    } catch {
      metrics.messages.inc({ result: 'unsettled' });
    }
  }

  return {
    async handle(message, identity, { device: name }) {
      const arrival = arrivalOf(message);
      const { birth, refused } = await register(message.payload, arrival, identity);
      const device = registry.cache.peek(identity.id);
      if (device && arrival.as === 'live') await statuses.prove(device, message.receivedAt, birth.session);
      await deadLetters.put(message, name, refused);
      await noteLastSeen(message, identity);
      for (const waiting of awaitingRegistration.take(identity.id)) void storeAfterAll(waiting, identity);
      return 'accepted';
    },

    async replay(kept, identity) {
      const { payload, receivedAt } = kept;
      const { refused } = await register(payload, { receivedAt, as: 'replayed' }, identity);
      return { accepted: 1, refused };
    },
  };
}

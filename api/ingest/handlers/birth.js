import { parseTopic } from '../../../schema/topics.js';
import { readBirth } from '../registry/birth-message.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { AwaitingRegistration } from '../awaiting-registration.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { IngestPipeline, Message } from '../pipeline.js' */
/** @import { Births } from '../registry/births.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Events } from '../registry/status.js' */
/** @import { Handler, Sightings } from './index.js' */

/**
 * @param {object} parts
 * @param {Registry} parts.registry
 * @param {Births} parts.births
 * @param {Events} parts.events
 * @param {Sightings} parts.sightings
 * @param {AwaitingRegistration} parts.awaitingRegistration
 * @param {IngestPipeline} parts.measurements
 * @param {Handler} parts.status
 * @param {DeadLetterBox} parts.deadLetters
 * @param {Metrics} parts.metrics
 * @returns {Handler}
 */
export function createBirthHandler(parts) {
  const {
    registry,
    births,
    events,
    sightings,
    awaitingRegistration,
    measurements,
    status,
    deadLetters,
    metrics,
  } = parts;

  /** @param {{ payload: Buffer, receivedAt: number, retained?: boolean }} message `receivedAt` in epoch ms @param {Identity} identity */
  async function register({ payload, receivedAt, retained }, identity) {
    const birth = readBirth(payload, identity, receivedAt);
    const tooMany = await births.register(identity, birth);
    const { session } = birth;
    if (!retained) await events.note(identity, { session, kind: 'birth', ts: session });
    return [...birth.refused, ...tooMany];
  }

  /** Its dead letter stands already; should this fail, the letter is what is left. @param {Message} message @param {Identity} identity */
  async function storeAfterAll({ topic, payload, contentType, receivedAt }, identity) {
    const parsed = parseTopic(topic);
    if (!parsed || !registry.cache.peek(identity.id)) return;
    const handler = parsed.kind === 'status' ? status : measurements;
    try {
      await handler.replay(
        { payload, contentType, receivedAt, now: receivedAt, isRefused: null },
        identity,
        parsed,
      );
    } catch {
      metrics.messages.inc({ result: 'unsettled' });
    }
  }

  return {
    async handle(message, identity, { device: name }) {
      const refused = await register(message, identity);
      await deadLetters.put(message, name, refused);
      await sightings.note(message, identity);
      for (const stray of awaitingRegistration.take(identity.id)) void storeAfterAll(stray, identity);
      return 'accepted';
    },

    async replay(kept, identity) {
      return { accepted: 1, refused: await register(kept, identity) };
    },
  };
}

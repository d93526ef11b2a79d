import { parseTopic } from '../../../schema/topics.js';
import { readBirth } from '../registry/birth-message.js';

/** @typedef {import('../../../schema/ids.js').Identity} Identity */
/** @typedef {import('./index.js').Handler} Handler */

/**
 * @param {object} parts
 * @param {import('../registry/index.js').Registry} parts.registry
 * @param {import('../registry/births.js').Births} parts.births
 * @param {import('../registry/status.js').Events} parts.events
 * @param {import('./index.js').Sightings} parts.sightings
 * @param {import('../awaiting-registration.js').Strays} parts.strays
 * @param {import('../pipeline.js').IngestPipeline} parts.measurements
 * @param {Handler} parts.status
 * @param {import('../dead-letter-box.js').DeadLetterBox} parts.deadLetters
 * @param {import('../../observability/metrics.js').Metrics} parts.metrics
 * @returns {Handler}
 */
export function createBirthHandler(parts) {
  const { registry, births, events, sightings, strays, measurements, status, deadLetters, metrics } = parts;

  /** @param {{ payload: Buffer, receivedAt: number, retained?: boolean }} message `receivedAt` in epoch ms @param {Identity} identity */
  async function register({ payload, receivedAt, retained }, identity) {
    const birth = readBirth(payload, identity, receivedAt);
    const tooMany = await births.register(identity, birth);
    const { session } = birth;
    if (!retained) await events.note(identity, { session, kind: 'birth', ts: session });
    return [...birth.refused, ...tooMany];
  }

  /** Its dead letter stands already; should this fail, the letter is what is left. @param {import('../pipeline.js').Message} message @param {Identity} identity */
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
      for (const stray of strays.take(identity.id)) void storeAfterAll(stray, identity);
      return 'accepted';
    },

    async replay(kept, identity) {
      return { accepted: 1, refused: await register(kept, identity) };
    },
  };
}

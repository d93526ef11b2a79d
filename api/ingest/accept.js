import { brokenNameRule } from '../../schema/ids.js';
import { isBarrier, queueKeyOf } from './backpressure/device-queue.js';
import { refusalOf, wholeRefusal } from './refusals.js';
import { parseTopic } from './topics.js';

/**
 * A message, from whichever intake.
 *
 * @typedef {object} Message
 * @property {string} topic
 * @property {Buffer} payload
 * @property {string} [contentType] MQTT 5
 * @property {boolean} retained a replay of what the broker kept: it says nothing of now
 * @property {number} receivedAt epoch ms
 * @property {boolean} [again] the broker has sent it before: this may be its second time here
 * @property {AbortSignal} [signal] aborts when whoever would be acknowledged is gone; what is begun is finished
 */

/**
 * What became of a message: `accepted`, whatever single measurements of it were refused; `refused`, all of it a dead
 * letter; `foreign`, outside the contract and dropped.
 *
 * @typedef {'accepted' | 'refused' | 'foreign'} Outcome
 */

/** @typedef {(message: Message) => Promise<Outcome>} Accept */

/** @typedef {import('../../common/errors.js').Refusal} Refusal */
/** @typedef {import('./topics.js').Topic} Topic */

/**
 * The one function that both intakes call. Its promise settles when the message is settled: every measurement in it
 * committed or in a dead letter. It fails only while the process ends, and then the message must stay unacknowledged.
 *
 * Every message passes through here and through what it calls, so layers count: asynchronous functions only where something
 * is awaited, known sensors found at once and no Promise.all around one promise saved an eighth of ingest's CPU at one
 * sample a message.
 *
 * @param {object} parts
 * @param {import('./progress.js').Progress} parts.progress
 * @param {import('./backpressure/byte-budget.js').ByteBudget} parts.budget
 * @param {import('./identities.js').Identities} parts.identities
 * @param {import('./backpressure/device-queue.js').DeviceQueue} parts.deviceQueue
 * @param {import('./ways/index.js').Ways} parts.ways
 * @param {boolean} parts.takesSparkplug false: another process takes it
 * @param {import('./dead-letter-box.js').DeadLetterBox} parts.deadLetters
 * @param {import('./failures.js').Failures} parts.failures
 * @param {import('./refusal-notices.js').RefusalNotices} parts.notices
 * @param {import('../trusted-clock.js').TrustedClock} parts.trustedClock
 * @param {number} parts.maxMessageBytes
 * @param {import('../metrics.js').Metrics} parts.metrics
 */
export function createAccept(parts) {
  const { progress, budget, identities, deviceQueue, ways, takesSparkplug, deadLetters, failures, notices } =
    parts;
  const { trustedClock, maxMessageBytes, metrics } = parts;

  /**
   * @param {Message} message
   * @param {Topic} topic
   * @param {Refusal} refusal of the message as a whole
   * @returns {Promise<Outcome>}
   */
  async function refuse(message, topic, refusal) {
    await deadLetters.put(message, topic.device, [refusal]);
    return 'refused';
  }

  /** @param {Message} message @returns {Promise<Outcome>} */
  async function settle(message) {
    const topic = parseTopic(message.topic);
    if (!topic || (topic.kind === 'sparkplug' && !takesSparkplug)) {
      notices.foreign(message.topic);
      return 'foreign';
    }
    const identity = identities.device(topic.device);
    if (!identity) {
      const rule = `the device in its topic ${brokenNameRule(topic.device)}`;
      return refuse(message, topic, wholeRefusal('bad_id', rule));
    }
    if (message.payload.length > maxMessageBytes) {
      const rule = `must not be larger than MAX_MESSAGE_BYTES, ${maxMessageBytes} bytes`;
      return refuse(message, topic, wholeRefusal('too_large', rule));
    }
    const work = () => ways.accept(message, identity, topic);
    try {
      return await deviceQueue.run(queueKeyOf(topic, identity), isBarrier(topic), work);
    } catch (error) {
      return refuse(message, topic, refusalOf(failures.codeOf(error, message), error));
    }
  }

  return {
    /** @type {Accept} */
    async accept(message) {
      const began = performance.now();
      const bytes = message.payload.length;
      progress.begin(message);
      let result = 'unsettled';
      try {
        const room = budget.enter(bytes, message.signal);
        if (room) await room;
        try {
          const outcome = await settle(message);
          // Whoever has not stored measurements has not been kept waiting yet by a clock that is off.
          if (!trustedClock.isTrusted) await trustedClock.now();
          result = outcome === 'foreign' ? 'foreign' : 'settled';
          return outcome;
        } finally {
          budget.leave(bytes);
        }
      } finally {
        progress.end(message, result === 'settled');
        metrics.messages.inc({ result });
        if (result === 'settled') metrics.commitSeconds.observe((performance.now() - began) / 1000);
      }
    },
  };
}

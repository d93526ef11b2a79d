import { identifyDevice } from '../../schema/ids.js';
import { readBirth } from './registry/birth-message.js';
import { readStatus } from './registry/status.js';
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
 * @property {AbortSignal} [signal] aborts when whoever would be acknowledged is gone; what is begun is finished
 */

/**
 * What became of a message: `accepted`, whatever single measurements of it were refused; `refused`, all of it a dead
 * letter; `foreign`, outside the contract and dropped.
 *
 * @typedef {'accepted' | 'refused' | 'foreign'} Outcome
 */

/** @typedef {(message: Message) => Promise<Outcome>} Accept */

/** @typedef {import('../../common/errors.js').ErrorCode} ErrorCode */

/**
 * The one function that both intakes call. Its promise settles when the message is settled: every measurement in it
 * committed or in a dead letter. It fails only while the process ends, and then the message must stay unacknowledged.
 *
 * @param {object} parts
 * @param {import('./budget.js').Budget} parts.budget
 * @param {import('./lanes.js').Lanes} parts.lanes
 * @param {import('./registry/index.js').Registry} parts.registry
 * @param {import('./registry/births.js').Births} parts.births
 * @param {import('./registry/status.js').Statuses} parts.statuses
 * @param {import('./measurements.js').MeasurementsWay} parts.measurements
 * @param {import('./last-seen.js').LastSeen} parts.lastSeen
 * @param {import('./dead-letter-box.js').DeadLetterBox} parts.deadLetters
 * @param {import('./strays.js').Strays} parts.strays
 * @param {import('./failures.js').Failures} parts.failures
 * @param {import('./refusal-notices.js').RefusalNotices} parts.notices
 * @param {number} parts.maxMessageBytes
 * @param {import('../metrics.js').Metrics} parts.metrics
 * @param {import('../vitals.js').Vitals} parts.vitals
 */
export function createAccept(parts) {
  const { budget, lanes, registry, births, statuses, measurements, lastSeen, deadLetters, strays } = parts;
  const { failures, notices, maxMessageBytes, metrics, vitals } = parts;

  /**
   * @param {Message} message
   * @param {string} name as the topic has it
   * @param {ErrorCode} code
   * @returns {Promise<Outcome>}
   */
  async function refuse(message, name, code) {
    await deadLetters.put(message, name, [{ index: -1, code }]);
    return 'refused';
  }

  /** @param {Message} message @param {import('../../schema/ids.js').Identity} identity @param {string} name */
  async function acceptMeasurements(message, identity, name) {
    const began = performance.now();
    const basket = measurements.read(message.payload, message.contentType, message.receivedAt);
    if (basket.sensors.size > 0) {
      const device = await registry.device(identity);
      if (device) await measurements.store(device, basket, message.retained ? null : message.receivedAt);
      else {
        for (const ref of [...basket.sensors.keys()]) basket.refuseSensor(ref, 'unknown_device');
        strays.remember(identity.id, message);
      }
    }
    await deadLetters.put(message, name, basket.refused);
    const { samples } = basket.counts;
    vitals.note({ samples, refused: basket.refused.length, commitMs: performance.now() - began });
  }

  /** @param {Message} message @param {import('../../schema/ids.js').Identity} identity @param {string} name */
  async function acceptBirth(message, identity, name) {
    const birth = readBirth(message.payload, identity, message.receivedAt);
    const tooMany = await births.register(identity, birth);
    await deadLetters.put(message, name, [...birth.refused, ...tooMany]);
    await noteSeen(message, identity);
    for (const stray of strays.take(identity.id)) void replay(stray, identity);
  }

  /** Its dead letter stands already; should this fail, the letter is what is left. @param {Message} message @param {import('../../schema/ids.js').Identity} identity */
  async function replay(message, identity) {
    const device = registry.cache.peek(identity.id);
    if (!device) return;
    try {
      if (parseTopic(message.topic)?.kind === 'status') {
        await statuses.write(device, readStatus(message.payload, message.receivedAt));
        return;
      }
      const basket = measurements.read(message.payload, message.contentType, message.receivedAt);
      if (basket.sensors.size > 0) await measurements.store(device, basket, null);
    } catch {
      metrics.messages.inc({ result: 'unsettled' });
    }
  }

  /**
   * @param {Message} message
   * @param {import('../../schema/ids.js').Identity} identity
   * @param {string} name
   * @returns {Promise<Outcome>}
   */
  async function acceptStatus(message, identity, name) {
    // An empty payload is how a retained message is taken away: it says nothing of the device.
    if (message.payload.length === 0) return 'accepted';
    const status = readStatus(message.payload, message.receivedAt);
    const device = await registry.device(identity);
    if (!device) {
      strays.remember(identity.id, message);
      return refuse(message, name, 'unknown_device');
    }
    await statuses.write(device, status);
    if (status.state === 'online') await noteSeen(message, identity);
    return 'accepted';
  }

  /** @param {Message} message @param {import('../../schema/ids.js').Identity} identity */
  async function noteSeen({ retained, receivedAt }, identity) {
    const device = registry.cache.peek(identity.id);
    if (device && !retained) await lastSeen.note(device, receivedAt);
  }

  const ways = { measurements: acceptMeasurements, birth: acceptBirth, status: acceptStatus };

  /** @param {Message} message @returns {Promise<Outcome>} */
  async function settle(message) {
    const topic = parseTopic(message.topic);
    if (!topic) {
      notices.foreign(message.topic);
      return 'foreign';
    }
    const identity = identifyDevice(topic.device);
    if (!identity) return refuse(message, topic.device, 'bad_id');
    if (message.payload.length > maxMessageBytes) return refuse(message, topic.device, 'too_large');
    const way = ways[topic.kind];
    const work = async () => (await way(message, identity, topic.device)) ?? 'accepted';
    try {
      return await lanes.run(identity.id, topic.kind === 'birth', work);
    } catch (error) {
      return refuse(message, topic.device, failures.codeOf(error, message));
    }
  }

  return {
    /** @type {Accept} */
    async accept(message) {
      const end = metrics.commitSeconds.startTimer();
      try {
        const outcome = await budget.run(message.payload.length, () => settle(message), message.signal);
        metrics.messages.inc({ result: outcome === 'foreign' ? 'foreign' : 'settled' });
        if (outcome !== 'foreign') end();
        return outcome;
      } catch (error) {
        metrics.messages.inc({ result: 'unsettled' });
        throw error;
      }
    },
  };
}

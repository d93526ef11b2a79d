import { ONE_REFUSED, resultOf, resultOrRefusal } from '../ingest-result.js';
import { arrivalOf, toKept } from '../pipeline.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { OwnTopic } from '../../../schema/topics.js' */
/** @import { AwaitingRegistration } from '../awaiting-registration.js' */
/** @import { DeadLetterBox } from '../dead-letter-box.js' */
/** @import { MessageDecoder } from '../decode/index.js' */
/** @import { MessageBatch } from '../decode/message-batch.js' */
/** @import { IngestResult } from '../ingest-result.js' */
/** @import { Message, Outcome } from '../pipeline.js' */
/** @import { Kept } from './index.js' */
/** @import { MeasurementStore } from './measurement-store.js' */

/** Measurements from a client that waits for the answer. @typedef {Pick<Message, 'payload' | 'contentType' | 'receivedAt' | 'retained' | 'signal'>} Submitted */

/**
 * Creates the handler for measurements on topics of the contract, and for measurements that HTTP clients submit.
 *
 * @param {object} deps
 * @param {MessageDecoder} deps.decoder
 * @param {MeasurementStore} deps.measurements
 * @param {DeadLetterBox} deps.deadLetters
 * @param {AwaitingRegistration} deps.awaitingRegistration
 */
export function createMeasurementHandler({ decoder, measurements, deadLetters, awaitingRegistration }) {
  /** Counts a settled batch. @param {MessageBatch} batch @param {number} began by `performance.now()` @returns {Outcome} */
  function outcomeOf(batch, began) {
    measurements.noteSettled(batch, began);
    return batch.outcome;
  }

  /**
   * Puts the refused measurements of a message into a dead letter.
   *
   * @param {Message} message
   * @param {string} device name or id of the device
   * @param {MessageBatch} batch
   * @param {Identity | null} unknown the device, if it is not registered. Then the message also waits for the birth of the device
   */
  async function keepRefused(message, device, batch, unknown) {
    const kept = toKept(message);
    if (unknown) awaitingRegistration.remember(unknown.id, kept);
    await deadLetters.put(kept, device, batch.refused);
  }

  return {
    /**
     * Stores a message from a broker. The function is not async, to save memory: see `pipeline.js`.
     *
     * @param {Message} message
     * @param {OwnTopic} topic
     * @param {Identity} identity
     * @returns {Promise<Outcome>}
     */
    handle(message, { device }, identity) {
      const arrival = arrivalOf(message);
      const { payload, contentType, receivedAt } = message;
      const batch = decoder.decode(payload, contentType, receivedAt);
      const stored = measurements.store(identity, batch, arrival, message.receipt);
      return stored.then((isKnown) => {
        if (isKnown && batch.refused.length === 0) return outcomeOf(batch, arrival.began);
        const kept = keepRefused(message, device, batch, isKnown ? null : identity);
        return kept.then(() => outcomeOf(batch, arrival.began));
      });
    },

    /** @param {Kept} kept @param {OwnTopic} _topic @param {Identity} identity @returns {Promise<IngestResult>} */
    async replay({ payload, contentType, receivedAt, now, isRefused }, _topic, identity) {
      const batch = decoder.decode(payload, contentType, receivedAt, now);
      await measurements.storeAgain(identity, batch, { receivedAt, isRefused });
      return resultOf(batch);
    },

    /**
     * Stores a message from an HTTP client. Refusals are returned to the client, and do not become a dead letter.
     *
     * @param {Submitted} message
     * @param {Identity} identity
     * @returns {Promise<IngestResult>} settles when the good measurements are committed
     */
    async submit(message, identity) {
      const arrival = arrivalOf(message);
      let counts = ONE_REFUSED;
      const result = await resultOrRefusal(async () => {
        const batch = decoder.decode(message.payload, message.contentType, message.receivedAt);
        await measurements.store(identity, batch, arrival, { from: null });
        counts = batch.measurementCounts();
        return resultOf(batch);
      });
      return measurements.noteAnswered(result, counts, arrival.began);
    },
  };
}

/** @typedef {ReturnType<typeof createMeasurementHandler>} MeasurementHandler */

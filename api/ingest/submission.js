import { MillraceError } from '../../common/errors.js';
import { ByteBudget } from './backpressure/byte-budget.js';
import { resultOf, resultOrRefusal } from './ingest-result.js';

/** @import { Identity } from '../../schema/ids.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { ProcessStats } from '../observability/process-stats.js' */
/** @import { DeviceQueue } from './backpressure/queue.js' */
/** @import { MessageDecoder } from './decode/index.js' */
/** @import { IngestResult } from './ingest-result.js' */
/** @import { IngestPipeline } from './pipeline.js' */

/** Bytes of submissions that are being received and settled at once: a slow sender holds its part of these alone. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Measurements of one device from a sender who waits for the answer.
 *
 * @typedef {object} Submission
 * @property {Identity} device
 * @property {string | undefined} contentType
 * @property {number} bytes that the payload has at most
 * @property {() => Promise<Buffer>} read gets the payload; called when there is room for it
 * @property {AbortSignal} signal aborts when the sender is gone; what is begun is finished
 */

/**
 * Takes measurements from senders who wait for the answer, as HTTP's do. Under pressure they are sent away at once:
 * unlike a broker they have no acknowledgement that can be held back, and would try again while they are waited for.
 *
 * @param {object} deps
 * @param {ByteBudget} deps.budget of all messages
 * @param {() => boolean} deps.isStuck the database has been refusing everything for a while
 * @param {DeviceQueue} deps.deviceQueue
 * @param {MessageDecoder} deps.decoder
 * @param {IngestPipeline} deps.pipeline
 * @param {() => number} deps.clock epoch ms
 * @param {Metrics} deps.metrics
 * @param {ProcessStats} deps.processStats
 */
export function createSubmission(deps) {
  const { budget, isStuck, deviceQueue, decoder, pipeline, clock, metrics, processStats } = deps;
  const places = new ByteBudget(MOST_BYTES);

  /** @param {Submission} submission @param {Buffer} payload @returns {Promise<IngestResult>} */
  async function settle({ device, contentType }, payload) {
    const began = performance.now();
    const receivedAt = clock();
    const result = await resultOrRefusal(async () => {
      const batch = decoder.decode(payload, contentType, receivedAt);
      await pipeline.store(device, batch, receivedAt);
      return resultOf(batch);
    });
    for (const { code } of result.refused) metrics.refused.inc({ code });
    const commitMs = performance.now() - began;
    processStats.note({ samples: result.accepted, refused: result.refused.length, commitMs });
    metrics.commitSeconds.observe(commitMs / 1000);
    return result;
  }

  return {
    /**
     * @param {Submission} submission
     * @returns {Promise<IngestResult>} settles when all that is good is committed
     * @throws {MillraceError} `busy`; `unavailable`: this process ends, or the sender was gone before it was begun
     */
    async submit(submission) {
      const { device, bytes, read, signal } = submission;
      if (isStuck() || !budget.fits(bytes) || !places.fits(bytes)) throw new MillraceError('busy');
      return places.run(bytes, async () => {
        const payload = await read();
        const work = () => deviceQueue.run(device.id, false, () => settle(submission, payload));
        const result = await budget.run(payload.length, work, signal);
        metrics.messages.inc({ result: 'settled' });
        return result;
      });
    },
    /** Bytes of submissions that are being received or settled. */
    get held() {
      return places.used;
    },
  };
}

/** @typedef {ReturnType<typeof createSubmission>['submit']} Submit */

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

/** Bytes of submissions under way. A slow client only occupies its part of them. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Measurements of one device from a client that waits for the answer.
 *
 * @typedef {object} Submission
 * @property {Identity} device
 * @property {string | undefined} contentType
 * @property {number} bytes upper limit of the payload size
 * @property {() => Promise<Buffer>} read receives the payload; called when there is room for it
 * @property {AbortSignal} signal aborts when the client disconnects; a message that has begun is finished
 */

/**
 * Accepts measurements from clients that wait for the answer, such as HTTP clients. When ingest is overloaded it refuses them at once.
 * Ingest cannot delay an acknowledgement here as it does behind a broker, and a waiting client would send the request again.
 *
 * @param {object} deps
 * @param {ByteBudget} deps.budget of all messages
 * @param {() => boolean} deps.isStuck whether the database has refused all requests for a while
 * @param {DeviceQueue} deps.deviceQueue
 * @param {MessageDecoder} deps.decoder
 * @param {IngestPipeline} deps.pipeline
 * @param {() => number} deps.clock epoch ms
 * @param {Metrics} deps.metrics
 * @param {ProcessStats} deps.processStats
 */
export function createSubmission(deps) {
  const { budget, isStuck, deviceQueue, decoder, pipeline, clock, metrics, processStats } = deps;
  const submissions = new ByteBudget(MAX_BYTES);

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
     * @returns {Promise<IngestResult>} settles when all good measurements are committed
     * @throws {MillraceError} `busy`; `unavailable`: this process ends, or the client disconnected before the message began
     */
    async submit(submission) {
      const { device, bytes, read, signal } = submission;
      if (isStuck() || !budget.fits(bytes) || !submissions.fits(bytes)) throw new MillraceError('busy');
      return submissions.run(bytes, async () => {
        const payload = await read();
        const work = () => deviceQueue.run(device.id, false, () => settle(submission, payload));
        const result = await budget.run(payload.length, work, signal);
        metrics.messages.inc({ result: 'settled' });
        return result;
      });
    },
    /** Bytes of submissions that are received or settled. */
    get held() {
      return submissions.used;
    },
  };
}

/** @typedef {ReturnType<typeof createSubmission>['submit']} Submit */

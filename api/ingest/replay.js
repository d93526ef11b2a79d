import { MillraceError } from '../../common/errors.js';
import { identifyDevice } from '../../schema/ids.js';
import { parseTopic } from '../../schema/topics.js';
import { isBarrier, queueKeyOf } from './backpressure/queue.js';
import { notReplayable, resultOrRefusal } from './ingest-result.js';

/** @import { StoredDeadLetter } from '../store/dead-letters/dead-letter.js' */
/** @import { ByteBudget } from './backpressure/byte-budget.js' */
/** @import { DeviceQueue } from './backpressure/queue.js' */
/** @import { IngestResult } from './ingest-result.js' */
/** @import { IngestPipeline } from './pipeline.js' */

/**
 * Stores what a dead letter holds, after whatever refused it was mended. Of a message of measurements these are the
 * refused ones alone: the others were stored when it came, and once more would be another row with the same samples.
 * Times relative to now count from the time of receipt, as then; how old or how far ahead one may be counts from now.
 * What is refused again is told: it has its letter. Doing it twice writes the same rows.
 *
 * @param {object} parts
 * @param {ByteBudget} parts.budget
 * @param {DeviceQueue} parts.deviceQueue
 * @param {IngestPipeline} parts.pipeline
 * @param {number} parts.maxMessageBytes
 * @param {() => number} parts.clock epoch ms
 */
export function createReplay({ budget, deviceQueue, pipeline, maxMessageBytes, clock }) {
  return {
    /**
     * @param {StoredDeadLetter} letter
     * @returns {Promise<IngestResult>} a birth or a status counts as one; settles when all that is good is committed
     * @throws {MillraceError} `not_replayable`, and why
     */
    async replay({ topic, receivedAt, content }) {
      const parsed = parseTopic(topic);
      if (!content) throw notReplayable('It only counts what was refused; no payload was kept.');
      if (!parsed) throw notReplayable('Its topic is none that can be replayed.');
      const { size, payload, contentType, isRefused } = content;
      if (size > payload.length) {
        throw notReplayable(`Only the first ${payload.length} bytes of its ${size} were kept.`);
      }
      return resultOrRefusal(async () => {
        const identity = identifyDevice(parsed.device);
        if (!identity) throw new MillraceError('bad_id');
        if (size > maxMessageBytes) throw new MillraceError('too_large');
        const kept = { payload, contentType, receivedAt, now: clock(), isRefused };
        const work = () => pipeline.replay(kept, identity, parsed);
        return budget.run(size, () => deviceQueue.run(queueKeyOf(parsed, identity), isBarrier(parsed), work));
      });
    },
  };
}

/** @typedef {ReturnType<typeof createReplay>['replay']} Replay */

import { MillraceError } from '../../common/errors.js';
import { identifyDevice } from '../../schema/ids.js';
import { parseTopic } from '../../schema/topics.js';
import { isBarrier, queueKeyOf } from './admission/device-queue.js';
import { notReplayable, resultOrRefusal } from './ingest-result.js';

/** @import { StoredDeadLetter } from '../store/dead-letters/dead-letter.js' */
/** @import { ByteBudget } from './admission/byte-budget.js' */
/** @import { DeviceQueue } from './admission/device-queue.js' */
/** @import { IngestResult } from './ingest-result.js' */
/** @import { Mappings } from './mappings/index.js' */
/** @import { IngestPipeline } from './pipeline.js' */

/**
 * Replays a dead letter after an operator has fixed the reason of its refusal. Only refused measurements are stored. The others were
 * stored when the message arrived, and a second time they would become another row with the same samples. Relative times count from
 * the first receipt. The limits of age and clock skew count from now. Measurements that are refused again are returned, without a new
 * dead letter. Replaying twice writes the same rows.
 *
 * @param {object} deps
 * @param {ByteBudget} deps.budget
 * @param {DeviceQueue} deps.deviceQueue
 * @param {IngestPipeline} deps.pipeline
 * @param {Mappings} deps.mappings
 * @param {number} deps.maxMessageBytes
 * @param {() => number} deps.clock epoch ms
 */
export function createReplay({ budget, deviceQueue, pipeline, mappings, maxMessageBytes, clock }) {
  return {
    /**
     * @param {StoredDeadLetter} deadLetter
     * @returns {Promise<IngestResult>} settles when all good measurements are committed; a birth or a status counts as one
     * @throws {MillraceError} `not_replayable` with the reason
     */
    async replay({ topic, receivedAt, content }) {
      const parsed = parseTopic(topic) ?? mappings.match(topic);
      if (!content) throw notReplayable('It only counts what was refused; no payload was kept.');
      if (!parsed) throw notReplayable('Its topic is unknown, and no mapping reads it.');
      const { size, payload, contentType, isRefused } = content;
      if (size > payload.length) {
        throw notReplayable(`Only the first ${payload.length} bytes of its ${size} were kept.`);
      }
      return resultOrRefusal(async () => {
        if (size > maxMessageBytes) throw new MillraceError('too_large');
        const kept = { payload, contentType, receivedAt, now: clock(), isRefused };
        if (parsed.kind === 'mapped') return budget.run(size, () => pipeline.replayMapped(kept, parsed));
        const identity = identifyDevice(parsed.device);
        if (!identity) throw new MillraceError('bad_id');
        const work = () => pipeline.replay(kept, identity, parsed);
        return budget.run(size, () => deviceQueue.run(queueKeyOf(parsed, identity), isBarrier(parsed), work));
      });
    },
  };
}

/** @typedef {ReturnType<typeof createReplay>['replay']} Replay */

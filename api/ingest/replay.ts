import { notReplayable, resultOrRefusal } from './ingest-result.js';

/** @import { StoredDeadLetter } from '../store/dead-letters/dead-letter.js' */
/** @import { IngestResult } from './ingest-result.js' */
/** @import { IngestPipeline } from './pipeline.js' */

/**
 * Creates the function that replays a dead letter, after an operator has fixed the reason of its refusal. Only the
 * refused measurements are stored. The good measurements were stored when the message arrived, and a second write
 * would add another row with the same samples. Relative times count from the first receipt. The limits of age and
 * clock skew count from now. Measurements that are refused again are returned, without a new dead letter. A second
 * replay writes the same rows.
 *
 * @param {object} deps
 * @param {IngestPipeline} deps.pipeline
 * @param {() => number} deps.clock epoch ms
 */
export function createReplay({ pipeline, clock }) {
  return {
    /**
     * @param {StoredDeadLetter} deadLetter
     * @returns {Promise<IngestResult>} settles when all good measurements are committed; a birth or a status counts as one
     *   accepted measurement
     * @throws {MillraceError} `not_replayable` with the reason
     */
    async replay({ topic, receivedAt, content }) {
      const route = pipeline.routeOf(topic);
      if (!content) throw notReplayable('It only counts what was refused; no payload was kept.');
      if (!route) throw notReplayable('Its topic is unknown, and no mapping reads it.');
      const { size, payload, contentType, isRefused } = content;
      if (size > payload.length) {
        throw notReplayable(`Only the first ${payload.length} bytes of its ${size} were kept.`);
      }
      return resultOrRefusal(() =>
        pipeline.replay({ payload, contentType, receivedAt, isRefused }, route, clock()),
      );
    },
  };
}

/** @typedef {ReturnType<typeof createReplay>['replay']} Replay */

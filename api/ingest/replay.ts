import { DAY_MS, UNDO_DAYS } from '../../schema/rules.ts';
import type { StoredDeadLetter } from '../store/dead-letters.ts';
import { type IngestResult, notReplayable, resultOrRefusal } from './ingest-result.ts';
import type { IngestPipeline } from './pipeline.ts';

/**
 * Replays a dead letter, after an operator has fixed the reason of its refusal. Only the refused measurements are
 * stored: the good ones are stored already, and a second write would add another row with the same samples.
 * Measurements that are refused again are returned, without a new dead letter. A second replay writes the same rows.
 */
export function createReplay({
  pipeline,
  clock,
}: {
  pipeline: IngestPipeline;
  /** epoch ms */
  clock: () => number;
}) {
  return {
    /** A birth or a status counts as one accepted measurement. @throws `not_replayable` with the reason */
    async replay({ topic, receivedAt, content }: StoredDeadLetter): Promise<IngestResult> {
      const route = pipeline.routeOf(topic);
      if (!content) throw notReplayable('It only counts what was refused; no payload was kept.');
      if (!route) throw notReplayable('Its topic is unknown, and nothing reads it.');
      const { size, payload, contentType, isRefused, replaces } = content;
      if (size > payload.length) {
        throw notReplayable(`Only the first ${payload.length} bytes of its ${size} were kept.`);
      }
      // Corrections before and after it may be one correction by now, and it has its place between them.
      if (replaces && receivedAt < clock() - UNDO_DAYS * DAY_MS)
        throw notReplayable(
          `A replacement can be replayed for ${UNDO_DAYS} days. Correct the values instead.`,
        );
      return resultOrRefusal(() =>
        pipeline.replay({ payload, contentType, receivedAt, isRefused, replaces }, route, clock()),
      );
    },
  };
}

export type Replay = ReturnType<typeof createReplay>['replay'];

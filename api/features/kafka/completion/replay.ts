import { forEachConcurrently } from '../../../../common/concurrency.ts';
import type { Schemas } from '../../../../schema/kafka/schemas.ts';
import { COMPLETED_TOPICS } from '../../../../schema/kafka/topics.ts';
import { bucketOf, HOUR_MS } from '../../../../schema/rules.ts';
import { type createAnnouncedCompletion, KINDS } from './announced.ts';
import type { BlockCompletion } from './blocks.ts';
import { DEVICES_AT_ONCE, devicesOf, type Sending } from './sending.ts';

export function createReplay({
  sending,
  groups,
  schemas,
  blocks,
  sendAnnounced,
}: {
  sending: Sending;
  groups: number;
  schemas: Pick<Schemas, 'load'>;
  blocks: BlockCompletion;
  sendAnnounced: ReturnType<typeof createAnnouncedCompletion>;
}) {
  /**
   * Sends whole hours again that overlap the range (epoch ms): their blocks, and the items that were committed in
   * them. History has the samples of expired blocks, but a replay does not send them.
   * @throws `TopicRefused`
   */
  return async function replay(
    { from, to }: { from: number; to: number },
    onProgress: (blocks: number) => void,
  ): Promise<{ blocks: number; others: number }> {
    for (const topic of COMPLETED_TOPICS) await schemas.load(topic);
    let sent = 0;
    let others = 0;
    for (let hour = bucketOf(from); hour < to; hour += HOUR_MS) {
      for (let group = 0; group < groups; group++) {
        await forEachConcurrently(DEVICES_AT_ONCE, devicesOf(sending, group), async (device) => {
          // `sent += await …` would read `sent` before the wait, and lose what other devices add meanwhile.
          const blocksSent = await blocks.sendHour(group, device, hour, 'replay', () => true);
          sent += blocksSent;
          onProgress(sent);
        });
        for (const kind of Object.values(KINDS)) others += await sendAnnounced(group, hour, kind, 'replay');
      }
    }
    return { blocks: sent, others };
  };
}

import {
  ANNOUNCED_TOPICS,
  type AnnouncedKind,
  type CompletedTopic,
} from '../../../../schema/kafka/topics.ts';
import type { OutboxEntry } from '../../../store/outbox.ts';
import { findAnnounced } from '../announced.ts';
import { outboxDigest, outboxOwner } from '../notes.ts';
import type { Source } from '../record-maker.ts';
import { chunks } from '../sender.ts';
import type { Sending } from './sending.ts';

const ENTRIES_AT_ONCE = 16;

/** The kind of the announcements of each topic. */
export const KINDS = Object.fromEntries(
  Object.entries(ANNOUNCED_TOPICS).map(([kind, topic]) => [topic, kind]),
) as Record<Exclude<CompletedTopic, 'batches'>, AnnouncedKind>;

/** Sends the announced items of a closed hour that no process has sent: the notes lack their digests. */
export function createAnnouncedCompletion(sending: Sending) {
  const { streaming, steps, records, mustSend } = sending;

  /** A replay ignores the notes of sent items, and sends all items. `hour`: epoch ms. Returns the number of sent records. */
  async function sendAnnounced(
    group: number,
    hour: number,
    kind: AnnouncedKind,
    source: Source,
  ): Promise<number> {
    const sent =
      source === 'replay' ? new Set() : await steps.run(() => streaming.notes(outboxOwner(group), hour));
    let count = 0;
    let after: string | undefined;
    do {
      const page = await steps.run(() => streaming.outboxPage(group, hour, kind, after));
      const missing = page.items.filter((entry) => !sent.has(outboxDigest(entry).toString('hex')));
      for (let from = 0; from < missing.length; from += ENTRIES_AT_ONCE)
        count += await sendEntries({ group, hour, source }, missing.slice(from, from + ENTRIES_AT_ONCE));
      after = page.next;
    } while (after);
    return count;
  }

  /** Also notes the digests as sent. */
  async function sendEntries(
    { group, hour, source }: { group: number; hour: number; source: Source },
    entries: OutboxEntry[],
  ): Promise<number> {
    const looked = await Promise.all(
      entries.map((entry) => steps.run(() => findAnnounced(sending, group, entry))),
    );
    const found = looked.filter((announcement) => announcement !== null);
    if (found.length === 0) return 0;
    const made = found.map((announcement) => records.ofAnnouncement(announcement, source));
    for (const some of chunks(made)) await mustSend(some);
    const digests = Buffer.concat(found.map(outboxDigest));
    await steps.run(() => streaming.writeNote(outboxOwner(group), hour, digests));
    return found.length;
  }

  return sendAnnounced;
}

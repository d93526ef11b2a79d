import { formatTime } from '../../../common/times.ts';
import { identifyDevice, uuidBytes } from '../../../schema/ids.ts';
import type { AnnouncedKind } from '../../../schema/kafka/topics.ts';
import type { AnnouncedKinds } from '../../feature.ts';
import type { AnnouncedItem, Announcement } from '../../ingest/outbox.ts';
import { eventId, parseEventId, type Store } from '../../store/index.ts';
import type { OutboxEntry } from '../../store/outbox.ts';

/**
 * An announcement is a device event, a dead letter or an item of another feature. This file makes Kafka records of announcements, and also
 * reads announced items from the database, so that the completion of an hour can send them.
 */

const FIXED_BYTES = 1024;

/**
 * In characters of JSON. A dead letter record omits a longer list of refused samples. So it has room for a topic of 64 KiB, even if JSON
 * escapes every character of the topic.
 */
const MAX_DETAIL = 128 * 1024;

export type AnnouncedRecord = AnnouncedItem & { kind: AnnouncedKind };

type EventAnnouncement = Extract<Announcement, { event: unknown }>;
type DeadLetterAnnouncement = Extract<Announcement, { deadLetter: unknown }>;

/** The kind of the announcement must have a topic. */
export function recordOf(announcement: Announcement): AnnouncedRecord {
  if ('event' in announcement) return eventRecord(announcement);
  if ('deadLetter' in announcement) return deadLetterRecord(announcement);
  return { ...announcement.item, kind: announcement.kind as AnnouncedKind };
}

function eventRecord({ id, device, event }: EventAnnouncement): AnnouncedRecord {
  const { kind, session, ts } = event;
  return {
    kind: 'event',
    key: device.id,
    content: { id, device_id: device.id, device: device.name, event: kind, session, ts },
    times: ['session', 'ts'],
  };
}

function deadLetterRecord({
  id,
  deadLetter: { receivedAt, device, topic, codes, content },
}: DeadLetterAnnouncement): AnnouncedRecord {
  const refused = (content?.refused ?? []).map(({ index, code, path, rule }) => ({
    index,
    code,
    path: path ?? null,
    rule: rule ?? null,
  }));
  return {
    kind: 'dead_letter',
    // A device name that is not valid belongs to no device. The record then has the id of the dead letter as its key.
    key: (device === null ? null : identifyDevice(device)?.id) ?? id,
    content: {
      id,
      ts: receivedAt,
      device,
      topic,
      codes,
      refused: content && JSON.stringify(refused).length <= MAX_DETAIL ? refused : null,
      content_type: content?.contentType ?? null,
      size: content?.size ?? null,
      payload_base64: content?.payload.toString('base64') ?? null,
    },
    times: ['ts'],
  };
}

export function announcedText({ kind, content, times }: AnnouncedRecord): string {
  const texts = times.map((name) => [name, optionalTime(content[name] as number | null)]);
  return JSON.stringify({ kind, ...content, ...Object.fromEntries(texts) });
}

const optionalTime = (ms: number | null) => (ms === null ? null : formatTime(ms));

export function sizeOf(announcement: Announcement): number {
  if ('item' in announcement) return FIXED_BYTES + JSON.stringify(announcement.item.content).length;
  if (!('deadLetter' in announcement)) return FIXED_BYTES;
  const { topic, content } = announcement.deadLetter;
  return FIXED_BYTES + 2 * topic.length + (content?.payload.length ?? 0);
}

/**
 * The item may not exist, because a process writes the outbox entry before the commit and may have ended in between. Null: the item is not
 * committed, has changed since, or has expired. Items of a feature that is not present are not found.
 */
export async function findAnnounced(
  {
    store,
    announced,
  }: { store: Pick<Store, 'events' | 'deadLetters' | 'devices'>; announced: AnnouncedKinds },
  group: number,
  { kind, id }: OutboxEntry,
): Promise<Announcement | null> {
  if (kind === 'event') {
    const { device, ...key } = parseEventId(id);
    const bytes = uuidBytes(device);
    const event = await store.events.find(bytes, key);
    if (!event) return null;
    const row = await store.devices.device({ group, bytes });
    return {
      kind,
      id: eventId(device, event),
      group,
      device: { id: device, name: row?.name ?? null },
      event,
    };
  }
  if (kind === 'dead_letter') {
    const deadLetter = await store.deadLetters.find(id);
    return deadLetter && { kind, id, group, deadLetter };
  }
  const item = await announced.get(kind)?.(id);
  return item ? { kind, id, group, item } : null;
}

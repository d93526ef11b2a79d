import { formatTime } from '../../../common/times.ts';
import { identifyDevice, uuidBytes, uuidText } from '../../../schema/ids.ts';
import type { Announcement } from '../../ingest/outbox.ts';
import type { Alarm } from '../../store/alarms/episodes.ts';
import { alarmId, changeId, eventId, parseAlarmId, parseEventId, type Store } from '../../store/index.ts';
import type { OutboxEntry } from '../../store/outbox.ts';

/**
 * An announcement is a device event, a dead letter or a change of an alarm. This file makes Kafka records of announcements, and also reads
 * announced items from the database, so that the completion of an hour can send them.
 */

const FIXED_BYTES = 1024;

/**
 * In characters of JSON. A dead letter record omits a longer list of refused samples. So it has room for a topic of 64 KiB, even if JSON
 * escapes every character of the topic.
 */
const MAX_DETAIL = 128 * 1024;

/** All instants in `content` are in epoch ms, and `times` has the names of these members. */
export type AnnouncedRecord = {
  kind: Announcement['kind'];
  key: string;
  content: Record<string, unknown>;
  times: string[];
};

export function recordOf(announcement: Announcement): AnnouncedRecord {
  if (announcement.kind === 'event') return eventRecord(announcement);
  if (announcement.kind === 'alarm') return alarmRecord(announcement);
  return deadLetterRecord(announcement);
}

function eventRecord({ id, device, event }: Extract<Announcement, { kind: 'event' }>): AnnouncedRecord {
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
}: Extract<Announcement, { kind: 'dead_letter' }>): AnnouncedRecord {
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

function alarmRecord({ id, event, alarm }: Extract<Announcement, { kind: 'alarm' }>): AnnouncedRecord {
  return {
    kind: 'alarm',
    key: uuidText(alarm.device),
    content: {
      id,
      event,
      alarm_id: alarmId(alarm),
      rule_id: uuidText(alarm.rule),
      rule: alarm.ruleName,
      severity: alarm.severity,
      device_id: uuidText(alarm.device),
      device: alarm.deviceName,
      sensor_id: uuidText(alarm.sensor),
      sensor: alarm.sensorName,
      site: alarm.site,
      started_at: alarm.start,
      opened_at: alarm.opened,
      cleared_at: alarm.cleared,
      peak: alarm.peak,
      state: stateOf(alarm),
      seen_late: alarm.late,
      acknowledged_at: alarm.acknowledgedAt,
      acknowledged_by: alarm.acknowledgedBy,
      comment: alarm.comment,
    },
    times: ['started_at', 'opened_at', 'cleared_at', 'acknowledged_at'],
  };
}

const stateOf = ({ cleared, withdrawn }: Alarm) =>
  withdrawn ? 'withdrawn' : cleared === null ? 'open' : 'cleared';

export function announcedText({ kind, content, times }: AnnouncedRecord): string {
  const texts = times.map((name) => [name, optionalTime(content[name] as number | null)]);
  return JSON.stringify({ kind, ...content, ...Object.fromEntries(texts) });
}

const optionalTime = (ms: number | null) => (ms === null ? null : formatTime(ms));

export function sizeOf(announcement: Announcement): number {
  if (announcement.kind !== 'dead_letter') return FIXED_BYTES;
  const { topic, content } = announcement.deadLetter;
  return FIXED_BYTES + 2 * topic.length + (content?.payload.length ?? 0);
}

/**
 * The item may not exist, because a process writes the outbox entry before the commit and may have ended in between. Null: the item is not
 * committed, has changed since, or has expired.
 */
export async function findAnnounced(
  store: Pick<Store, 'events' | 'deadLetters' | 'devices' | 'alarms'>,
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
  const [episode = '', event = ''] = id.split('.');
  const key = parseAlarmId(episode);
  const alarm = key && (await store.alarms.episodes.find(key));
  // A later change of the alarm has replaced this one in the table. The later change has its own outbox entry.
  return alarm && changeId(event, alarm) === id ? { kind, id, group, event, alarm } : null;
}

import { groupOf, uuidText } from '../../../schema/ids.ts';
import type { AnnouncedItem, Announcement, FindAnnounced } from '../../ingest/outbox.ts';
import { stateOf } from './alarm-item.ts';
import type { AlarmEventKind } from './evaluation/evaluator.ts';
import { changeId } from './store/deliveries.ts';
import { type Alarm, type AlarmStore, alarmId, parseAlarmId } from './store/episodes.ts';

/** The kind of the announcements of alarms in the outbox. */
export const KIND = 'alarm';

export function announcementOf(alarm: Alarm, event: AlarmEventKind, groups: number): Announcement {
  const id = changeId(event, alarm);
  return { kind: KIND, id, group: groupOf(alarm.device, groups), item: itemOf(id, event, alarm) };
}

export const createFindChange =
  (episodes: Pick<AlarmStore, 'find'>): FindAnnounced =>
  async (id) => {
    const [episode = '', event = ''] = id.split('.');
    const key = parseAlarmId(episode);
    const alarm = key && (await episodes.find(key));
    // A later change of the alarm has replaced this one in the table. The later change has its own outbox entry.
    return alarm && changeId(event, alarm) === id ? itemOf(id, event, alarm) : null;
  };

const itemOf = (id: string, event: string, alarm: Alarm): AnnouncedItem => ({
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
});

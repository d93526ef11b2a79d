import { formatTime } from '../../../common/times.ts';
import { uuidText } from '../../../schema/ids.ts';
import { type Alarm, alarmId } from './store/episodes.ts';

const timeOrNull = (ms: number | null) => (ms === null ? null : formatTime(ms));

/** `text`: instructions of the rule that opened the alarm. */
export const alarmItem = (alarm: Alarm, text: string | null) => ({
  alarm_id: alarmId(alarm),
  rule_id: uuidText(alarm.rule),
  rule: alarm.ruleName,
  severity: alarm.severity,
  condition: alarm.condition,
  text,
  device_id: uuidText(alarm.device),
  device: alarm.deviceName,
  sensor_id: uuidText(alarm.sensor),
  sensor: alarm.sensorName,
  site: alarm.site,
  started_at: formatTime(alarm.start),
  opened_at: formatTime(alarm.opened),
  cleared_at: timeOrNull(alarm.cleared),
  peak: alarm.peak,
  unit: alarm.unit,
  state: stateOf(alarm),
  seen_late: alarm.late,
  acknowledged_at: timeOrNull(alarm.acknowledgedAt),
  acknowledged_by: alarm.acknowledgedBy,
  comment: alarm.comment,
  shelved_until: timeOrNull(alarm.shelvedUntil),
  values_corrected_at: timeOrNull(alarm.valuesCorrectedAt ?? null),
});

export type AlarmItem = ReturnType<typeof alarmItem>;

export const stateOf = ({
  cleared,
  withdrawn,
}: Pick<Alarm, 'cleared' | 'withdrawn'>): 'open' | 'cleared' | 'withdrawn' =>
  withdrawn ? 'withdrawn' : cleared === null ? 'open' : 'cleared';

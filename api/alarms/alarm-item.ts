import { formatTime } from '../../common/times.js';
import { uuidText } from '../../schema/ids.js';
import { alarmId } from '../store/index.js';

/** @import { Alarm } from '../store/alarms/episodes.js' */

/** @param {number | null} ms epoch ms */
const timeOrNull = (ms) => (ms === null ? null : formatTime(ms));

/**
 * Formats an alarm as clients and receivers get it.
 *
 * @param {Alarm} alarm
 * @param {string | null} text instructions of the rule that opened the alarm
 */
export const alarmItem = (alarm, text) => ({
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
});

/** @typedef {ReturnType<typeof alarmItem>} AlarmItem */

/** @param {Pick<Alarm, 'cleared' | 'withdrawn'>} alarm @returns {'open' | 'cleared' | 'withdrawn'} */
export const stateOf = ({ cleared, withdrawn }) =>
  withdrawn ? 'withdrawn' : cleared === null ? 'open' : 'cleared';

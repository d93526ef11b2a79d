import type { Slots } from '../../feature.ts';
import { formatCount } from '../../format.ts';
import { useMay } from '../../state/session.ts';
import { Count } from '../shared/count.tsx';
import {
  MOST_OPEN,
  openCountText,
  useActiveAlarms,
  useAlarmNotifications,
  useAlarmsOf,
  useOpenAlarms,
} from './open-alarms.ts';
import './marks.css';

/** Renders a badge with the number of open alarms that are not acknowledged. If the number is 0, the badge is hidden. */
export function OpenAlarms() {
  const open = useOpenAlarms();
  useAlarmNotifications(open);
  const waiting = open?.alarms.filter(({ acknowledged_at }) => acknowledged_at === null) ?? [];
  if (!open || (waiting.length === 0 && !open.isCut)) return null;
  // If not all open alarms were read, an unread alarm may be critical.
  const isCritical = open.isCut || waiting.some(({ severity }) => severity === 'critical');
  const text = openCountText(waiting.length, open);
  return <Count count={waiting.length} text={text} what="open, not acknowledged" isCritical={isCritical} />;
}

/** Renders a note that more alarms are open than this page reads, so devices without a mark may have open alarms. */
export function UnreadAlarms() {
  const isCut = useActiveAlarms()?.isCut ?? false;
  if (!isCut) return null;
  return (
    <p class="slow">
      More than {formatCount(MOST_OPEN)} alarms are open. Devices are marked by the newest of them only.{' '}
      <a class="link" href="/alarms">
        Show all alarms
      </a>
    </p>
  );
}

/** Renders a notice that a device has open alarms, with a link to them. */
export function AlarmMark({ device, isFact }: Slots['deviceMark']) {
  const { alarms, isCut } = useAlarmsOf(device);
  if (alarms.length === 0) return null;
  const mark = (
    <a
      class="alarm-mark"
      href="/alarms"
      data-critical={alarms.some(({ severity }) => severity === 'critical')}
    >
      ▲ {openCountText(alarms.length, { isCut })} {alarms.length === 1 && !isCut ? 'alarm' : 'alarms'}
    </a>
  );
  return isFact ? <li>{mark}</li> : mark;
}

export function RuleButton({ device, sensor }: Slots['sensorButton']) {
  const mayAct = useMay('admin');
  if (!mayAct) return null;
  const query = new URLSearchParams({ device, sensor });
  return (
    <a class="button" href={`/alarms?${query}`}>
      Set an alarm…
    </a>
  );
}

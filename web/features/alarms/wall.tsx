import { keyOf } from '../../api/stream/index.ts';
import { NOTHING } from '../../format.ts';
import { sensorHref } from '../../routes.ts';
import { useServices } from '../../state/hooks.ts';
import { sensorValueText } from '../../units.ts';
import { ENTRIES_OF_KIND, More } from '../shared/stands-out.tsx';
import { hasOpen, openCountText, useActiveAlarms } from './open-alarms.ts';
import './marks.css';
import type { Slots, StandsOutProps } from '../../feature.ts';
import type { Fleet, FleetSensor } from '../../state/fleet.ts';
import type { Matcher } from '../../state/lists.ts';
import type { OpenAlarms } from './open-alarms.ts';

/** Maximum number of marks on the wall. The list next to the wall shows the full number. */
const MOST_MARKS = 500;

export function AlarmMarks({ picture }: Slots['wallMarks']) {
  const { live } = useServices();
  const alarms = useActiveAlarms()?.alarms ?? [];
  return alarms.slice(0, MOST_MARKS).map(({ alarm_id, device_id, sensor_id, severity }) => {
    const sensor = live.fleet.sensors.get(keyOf({ device_id, sensor_id }));
    const box = sensor && picture?.boxOf(sensor);
    if (!box) return null;
    return (
      <i
        key={alarm_id}
        class="wall-alarm"
        data-critical={severity === 'critical'}
        aria-hidden="true"
        style={{ left: `${box.x + box.width}px`, top: `${box.y}px` }}
      />
    );
  });
}

/** @returns number of open alarms; null: not known yet */
export function useOpenCount({ matches }: StandsOutProps): number | null {
  const { live } = useServices();
  const open = withMatching(useActiveAlarms(), live.fleet, matches);
  return open && open.alarms.length + (open.isCut ? 1 : 0);
}

export function AlarmsOnWall({ matches }: StandsOutProps) {
  const { live, preferences } = useServices();
  const open = withMatching(useActiveAlarms(), live.fleet, matches);
  const { units } = preferences.choice.value;
  if (!hasOpen(open)) return null;
  const { alarms } = open;
  return (
    <div class="stands-out-kind">
      <h2>
        <a href="/alarms" title="Show the alarms">
          Alarms <b>{openCountText(alarms.length, open)}</b>
        </a>
      </h2>
      <ul>
        {alarms
          .slice(0, ENTRIES_OF_KIND)
          .map(({ alarm_id, device_id, sensor_id, device, sensor, rule, severity }) => {
            const known = live.fleet.sensors.get(keyOf({ device_id, sensor_id }));
            return (
              <li key={alarm_id}>
                <a href={sensorHref(device_id, sensor_id, { device, sensor })} title={rule}>
                  <span class="stands-out-name">
                    <span class="stands-out-what">{sensor ?? sensor_id}</span>{' '}
                    <span class="stands-out-of small">{device ?? device_id}</span>
                  </span>
                  <span class="stands-out-text" data-tone={severity === 'critical' ? 'bad' : 'warn'}>
                    {known ? sensorValueText(known, units) : NOTHING}
                  </span>
                </a>
              </li>
            );
          })}
      </ul>
      {alarms.length > ENTRIES_OF_KIND && (
        <More count={openCountText(alarms.length - ENTRIES_OF_KIND, open)} href="/alarms" />
      )}
    </div>
  );
}

function withMatching(open: OpenAlarms | null, fleet: Fleet, matches: Matcher | null): OpenAlarms | null {
  if (!open || !matches) return open;
  const isShown = (sensor: FleetSensor | undefined) => sensor !== undefined && matches(sensor);
  return { ...open, alarms: open.alarms.filter((alarm) => isShown(fleet.sensors.get(keyOf(alarm)))) };
}

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Alarm } from '../api/types.ts';
import { formatDateTime, NOTHING } from '../format.ts';
import { sensorHref } from '../routes.ts';
import { isShelved } from '../state/alarms.ts';
import { useServices } from '../state/hooks.ts';
import type { Act } from './act-dialog.tsx';

/** The alarms of a page. Keys: J and K or the arrows move, X chooses, A acknowledges what is chosen, S shelves it, Enter opens the sensor. */
export function AlarmTable({
  alarms,
  mayAct,
  onAct,
}: {
  alarms: Alarm[];
  mayAct: boolean;
  /** asks before it does */
  onAct: (act: Act, alarms: Alarm[]) => void;
}) {
  const { router } = useServices();
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [focus, setFocus] = useState(0);
  const body = useRef<HTMLTableSectionElement | null>(null);
  const place = Math.min(focus, alarms.length - 1);
  const meant = () => {
    const list = alarms.filter(({ alarm_id }) => chosen.has(alarm_id));
    const focused = alarms[place];
    return list.length > 0 || !focused ? list : [focused];
  };

  function toggle(id: string) {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  }

  function go(next: number) {
    const index = Math.max(0, Math.min(next, alarms.length - 1));
    setFocus(index);
    (body.current?.rows[index] as HTMLElement | undefined)?.focus();
  }

  function ask(act: Act) {
    onAct(act, meant());
    setChosen(new Set());
  }

  function onKey(event: KeyboardEvent) {
    const target = event.target as HTMLElement;
    const isTyped = target.closest('input[type=text], input[type=search], textarea, select, dialog');
    const isPressed = event.key === 'Enter' && target.closest('a, button');
    if (isTyped || isPressed || event.ctrlKey || event.metaKey || event.altKey || alarms.length === 0) return;
    const focused = alarms[place] as Alarm;
    const keys: Record<string, (() => void) | undefined> = {
      j: () => go(place + 1),
      ArrowDown: () => go(place + 1),
      k: () => go(place - 1),
      ArrowUp: () => go(place - 1),
      x: () => toggle(focused.alarm_id),
      Enter: () => router.open(hrefOf(focused), focused.alarm_id),
      a: mayAct ? () => ask('acknowledge') : undefined,
      s: mayAct ? () => ask('shelve') : undefined,
    };
    const run = keys[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  }

  const newest = useRef(onKey);
  newest.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => newest.current(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);

  return (
    <>
      <table class="plain alarm-table">
        <thead>
          <tr>
            {mayAct && <th class="alarm-check">{''}</th>}
            <th class="alarm-col-state">State</th>
            <th>Rule</th>
            <th>Sensor</th>
            <th class="alarm-col-time">Opened</th>
            <th class="alarm-col-time">Cleared</th>
            <th class="alarm-col-peak number">Peak</th>
            <th class="alarm-col-who">Acknowledged</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {alarms.map((alarm, index) => (
            <AlarmRow
              key={alarm.alarm_id}
              alarm={alarm}
              mayAct={mayAct}
              isChosen={chosen.has(alarm.alarm_id)}
              isFocused={index === place}
              onFocus={() => setFocus(index)}
              onToggle={() => toggle(alarm.alarm_id)}
            />
          ))}
        </tbody>
      </table>
      {mayAct && (
        <div class="alarm-acts">
          <button type="button" class="button" onClick={() => ask('acknowledge')}>
            <span>Acknowledge{chosen.size > 1 ? ` ${chosen.size}` : ''} …</span> <kbd>A</kbd>
          </button>
          <button type="button" class="button" onClick={() => ask('shelve')}>
            <span>Shelve{chosen.size > 1 ? ` ${chosen.size}` : ''} …</span> <kbd>S</kbd>
          </button>
          <span class="alarm-keys">
            <kbd>J</kbd> <kbd>K</kbd> move, <kbd>X</kbd> chooses, <kbd>Enter</kbd> opens the sensor
          </span>
        </div>
      )}
    </>
  );
}

const hrefOf = ({ device_id, sensor_id, device, sensor }: Alarm) =>
  sensorHref(device_id, sensor_id, { device, sensor });

function AlarmRow({
  alarm,
  mayAct,
  isChosen,
  isFocused,
  onFocus,
  onToggle,
}: {
  alarm: Alarm;
  mayAct: boolean;
  isChosen: boolean;
  isFocused: boolean;
  onFocus: () => void;
  onToggle: () => void;
}) {
  const { preferences, clock } = useServices();
  const { zone } = preferences.choice.value;
  const when = (text: string | null) => (text === null ? NOTHING : formatDateTime(Date.parse(text), zone));
  const sensor = alarm.sensor ?? alarm.sensor_id;
  const device = alarm.device ?? alarm.device_id;
  return (
    <tr
      tabIndex={isFocused ? 0 : -1}
      data-state={alarm.state}
      data-severity={alarm.severity}
      onFocus={onFocus}
    >
      {mayAct && (
        <td class="alarm-check">
          <input
            type="checkbox"
            checked={isChosen}
            aria-label={`Choose ${alarm.rule} of ${device}/${sensor}`}
            onChange={onToggle}
          />
        </td>
      )}
      <td>
        <span class="alarm-state">{isShelved(alarm, clock.now()) ? 'shelved' : alarm.state}</span>
        {alarm.seen_late && (
          <span class="alarm-late" title="Opened or corrected by samples that arrived late">
            {' '}
            late
          </span>
        )}
      </td>
      <th scope="row" class="wraps">
        {alarm.rule} <span class="alarm-severity">{alarm.severity}</span>
      </th>
      <td class="wraps" data-label="Sensor">
        <a class="link" href={hrefOf(alarm)}>
          {device} · {sensor}
        </a>
      </td>
      <td data-label="Opened">{when(alarm.opened_at)}</td>
      <td data-label="Cleared">{when(alarm.cleared_at)}</td>
      <td class="number" data-label="Peak">
        {alarm.peak === null ? NOTHING : Number(alarm.peak.toPrecision(6))}
      </td>
      <td class="wraps" data-label="Acknowledged">
        {alarm.acknowledged_by === null
          ? NOTHING
          : `${alarm.acknowledged_by}${alarm.comment ? `: ${alarm.comment}` : ''}`}
      </td>
    </tr>
  );
}

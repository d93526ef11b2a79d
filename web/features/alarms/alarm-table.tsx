import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { keyOf } from '../../api/stream/index.ts';
import { formatCounted, formatDateTime, formatSpan, NOTHING } from '../../format.ts';
import { Table } from '../../kit/table.tsx';
import { sensorHref } from '../../routes.ts';
import { useChanges, useServices } from '../../state/hooks.ts';
import type { UnitChoices } from '../../units.ts';
import { sensorValueText } from '../../units.ts';
import { Field, FormDialog } from '../shared/form.tsx';
import { differenceScale, limitScale, roundedText } from '../shared/limits.ts';
import type { Alarm } from './api.ts';
import { acknowledgeAlarm, shelveAlarm } from './api.ts';
import { isShelved, useAlarmSettings } from './open-alarms.ts';

/** Renders a page of alarms. Keys: J, K or arrows move, X selects, A acknowledges, S shelves, Enter opens the sensor. */
export function AlarmTable({
  alarms,
  isOpenOnly,
  mayAct,
  onAct,
}: {
  alarms: Alarm[];
  /** whether all alarms are open, so that the table shows their values now instead of the times of clearing */
  isOpenOnly: boolean;
  mayAct: boolean;
  onAct: (act: Act, alarms: Alarm[]) => void;
}) {
  const { router, clock, preferences } = useServices();
  const { zone, units: choices } = preferences.choice.value;
  const when = (text: string | null) => (text === null ? NOTHING : formatDateTime(Date.parse(text), zone));
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  // The focused row is stored by its alarm id, because a new alarm moves the rows below it.
  const [focusedId, setFocusedId] = useState<string | null>(null);
  const body = useRef<HTMLTableSectionElement | null>(null);
  const found = alarms.findIndex(({ alarm_id }) => alarm_id === focusedId);
  // If the focused alarm left the list, the row in its place takes the focus.
  const last = useRef(0);
  const place = Math.max(0, found >= 0 ? found : Math.min(last.current, alarms.length - 1));
  last.current = place;
  const chosenAlarms = alarms.filter(({ alarm_id }) => chosen.has(alarm_id));
  const meant = () => {
    const focused = alarms[place];
    return chosenAlarms.length > 0 || !focused ? chosenAlarms : [focused];
  };

  function toggle(id: string) {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  }

  function go(next: number) {
    const index = Math.max(0, Math.min(next, alarms.length - 1));
    setFocusedId(alarms[index]?.alarm_id ?? null);
    (body.current?.rows[index] as HTMLElement | undefined)?.focus();
  }

  function ask(act: Act) {
    onAct(act, meant());
    setChosen(new Set());
  }

  function onKey(event: KeyboardEvent) {
    const target = event.target as HTMLElement;
    const isTyped = target.closest(
      'input[type=text], input[type=search], input[type=radio], textarea, select, dialog',
    );
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

  useKeys(onKey);

  return (
    <>
      <Table
        class="plain alarm-table"
        rows={alarms}
        keyOf={({ alarm_id }) => alarm_id}
        body={body}
        rowAttributes={(alarm) => ({
          tabIndex: alarm === alarms[place] ? 0 : -1,
          'data-state': stateWord(alarm, clock.now()),
          'data-severity': alarm.severity,
          onFocus: () => setFocusedId(alarm.alarm_id),
        })}
        columns={[
          mayAct && {
            label: 'Choose',
            isQuiet: true,
            class: 'alarm-check',
            width: '2.75rem',
            cell: (alarm) => (
              <input
                type="checkbox"
                checked={chosen.has(alarm.alarm_id)}
                aria-label={`Choose ${alarm.rule} of ${deviceOf(alarm)}/${sensorOf(alarm)}`}
                onChange={() => toggle(alarm.alarm_id)}
              />
            ),
          },
          {
            label: 'State',
            width: '8.75rem',
            cell: (alarm) => (
              <>
                <span class="alarm-state">{stateWord(alarm, clock.now())}</span>
                {alarm.seen_late && (
                  <span class="alarm-late small" title="Opened or corrected by samples that arrived late">
                    {' '}
                    late
                  </span>
                )}
              </>
            ),
          },
          {
            label: 'Rule',
            class: 'wraps',
            isName: true,
            cell: ({ rule, severity }) => (
              <>
                {rule} <span class="alarm-severity small">{severity}</span>
              </>
            ),
          },
          {
            ...labelled('Sensor', 'wraps'),
            cell: (alarm) => (
              <a class="link" href={hrefOf(alarm)}>
                {deviceOf(alarm)} · {sensorOf(alarm)}
              </a>
            ),
          },
          isOpenOnly && {
            ...labelled('Now', 'number'),
            width: '6.5rem',
            cell: (alarm) => <ValueNow alarm={alarm} />,
          },
          { ...labelled('Peak', 'number'), width: '6.5rem', cell: (alarm) => peakText(alarm, choices) },
          { ...labelled('Opened'), width: '12rem', cell: ({ opened_at }) => when(opened_at) },
          isOpenOnly
            ? {
                ...labelled('For', 'number'),
                width: '5.75rem',
                cell: ({ started_at }) => <OpenFor from={started_at} />,
              }
            : { ...labelled('Cleared'), width: '12rem', cell: ({ cleared_at }) => when(cleared_at) },
          {
            ...labelled('Acknowledged', 'wraps'),
            width: '12rem',
            cell: ({ acknowledged_by, comment }) =>
              acknowledged_by === null ? NOTHING : `${acknowledged_by}${comment ? `: ${comment}` : ''}`,
          },
        ]}
      />
      {mayAct && <AlarmActs count={chosenAlarms.length} onAct={ask} />}
    </>
  );
}

const sensorOf = ({ sensor, sensor_id }: Alarm) => sensor ?? sensor_id;
const deviceOf = ({ device, device_id }: Alarm) => device ?? device_id;

/** @returns a column whose cells have its label in front of them on a small screen */
const labelled = (label: string, name?: string) => ({
  label,
  class: name,
  attributes: () => ({ 'data-label': label }),
});

function AlarmActs({ count, onAct }: { count: number; onAct: (act: Act) => void }) {
  const several = count > 1 ? ` ${count}` : '';
  return (
    <div class="alarm-acts">
      <button type="button" class="button" onClick={() => onAct('acknowledge')}>
        <span>Acknowledge{several}…</span> <kbd>A</kbd>
      </button>
      <button type="button" class="button" onClick={() => onAct('shelve')}>
        <span>Shelve{several}…</span> <kbd>S</kbd>
      </button>
      <span class="alarm-keys small">
        <kbd>J</kbd> <kbd>K</kbd> move, <kbd>X</kbd> chooses, <kbd>Enter</kbd> opens the sensor
      </span>
    </div>
  );
}

/** Calls the listener at each key press. The listener may be a new function in each render. */
function useKeys(onKey: (event: KeyboardEvent) => void) {
  const newest = useRef(onKey);
  newest.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => newest.current(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

const hrefOf = ({ device_id, sensor_id, device, sensor }: Alarm) =>
  sensorHref(device_id, sensor_id, { device, sensor });

/** @returns the peak in the chosen unit, if the unit is known */
export function peakText(
  { peak, unit, condition }: Pick<Alarm, 'peak' | 'unit' | 'condition'>,
  choices: UnitChoices,
): string {
  if (peak === null) return NOTHING;
  const scale = limitScale(unit, choices);
  return condition === 'rate' ? `${roundedText(differenceScale(scale), peak)}/s` : roundedText(scale, peak);
}

/** Renders the newest value of the sensor of an alarm. A new value redraws only this cell. */
function ValueNow({ alarm }: { alarm: Alarm }) {
  const { live, preferences } = useServices();
  const key = keyOf(alarm);
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  const item = live.sensor(key)?.item;
  const value = item?.value ?? null;
  if (!item || value === null) return <>{NOTHING}</>;
  return <>{sensorValueText({ ...item, value }, preferences.choice.value.units)}</>;
}

function OpenFor({ from }: { from: string }) {
  const { clock } = useServices();
  return <>{formatSpan(Math.max(0, clock.time.value - Date.parse(from)))}</>;
}

/** @returns the state as a word: people work on open alarms that nobody acknowledged */
function stateWord(alarm: Alarm, now: number): string {
  if (isShelved(alarm, now)) return 'shelved';
  return alarm.state === 'open' && alarm.acknowledged_at !== null ? 'acknowledged' : alarm.state;
}

const HOUR_MS = 3_600_000;

/** Times for which alarms can be shelved, in ms. */
const SPANS = [
  [String(HOUR_MS), 'an hour'],
  [String(8 * HOUR_MS), '8 hours'],
  [String(24 * HOUR_MS), 'a day'],
  [String(7 * 24 * HOUR_MS), 'a week'],
] as const;

const MOST_CHARACTERS = 128;

export type Act = 'acknowledge' | 'shelve';

/** Renders the dialog that acknowledges or shelves alarms. It asks for a name once, and this browser remembers it. */
export function ActDialog({
  act,
  alarms,
  onDone,
  onClose,
}: {
  act: Act;
  alarms: Alarm[];
  /** is called when the API has answered; `done`: text about the result */
  onDone: (done: string) => void;
  onClose: () => void;
}) {
  const { client, clock } = useServices();
  const settings = useAlarmSettings();
  const [by, setBy] = useState(settings.choice.peek().name);
  const [isNamed, setNamed] = useState(by !== '');
  const [comment, setComment] = useState('');
  const [span, setSpan] = useState(String(HOUR_MS));
  const isShelving = act === 'shelve';
  const [these, them] = alarms.length === 1 ? ['this alarm', 'it'] : ['these alarms', 'them'];

  async function run() {
    settings.change({ name: by });
    const note = { by, ...(comment !== '' && { comment }) };
    const until = clock.now() + Number(span);
    for (const { alarm_id } of alarms) {
      if (isShelving) await shelveAlarm(client, alarm_id, { ...note, until });
      else await acknowledgeAlarm(client, alarm_id, note);
    }
    onDone(`${formatCounted(alarms.length, 'alarm')} ${isShelving ? 'shelved' : 'acknowledged'}.`);
  }

  return (
    <FormDialog
      title={`${isShelving ? 'Shelve' : 'Acknowledge'} ${formatCounted(alarms.length, 'alarm')}`}
      submit={isShelving ? 'Shelve' : 'Acknowledge'}
      isReady={by !== ''}
      onSubmit={run}
      onClose={onClose}
    >
      <p>
        {isShelving
          ? `Millrace sends no messages about ${these} for the time below. The list keeps ${them}.`
          : 'Others see who handles it. An alarm stays open until the value clears.'}
      </p>
      {alarms.length === 1 && alarms[0] && (
        <p>
          {alarms[0].rule}: {deviceOf(alarms[0])} · {sensorOf(alarms[0])}
        </p>
      )}
      {isShelving && <Field label="For" value={span} onValue={setSpan} options={SPANS} />}
      <Field
        label="Comment, if you like"
        value={comment}
        onValue={setComment}
        maxLength={MOST_CHARACTERS}
        isFocused
      />
      {isNamed ? (
        <p>
          As <b>{by}</b>{' '}
          <button type="button" class="button quiet-button" onClick={() => setNamed(false)}>
            Change
          </button>
        </p>
      ) : (
        <Field label="Your name" value={by} onValue={setBy} maxLength={MOST_CHARACTERS} required />
      )}
    </FormDialog>
  );
}

import type { InputHTMLAttributes } from 'preact';
import { useCallback, useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Problem } from '../../api/request.ts';
import { problemWords, toProblem } from '../../api/request.ts';
import { keyOf } from '../../api/stream/index.ts';
import { formatCounted, formatDateTime, formatSpan, NOTHING } from '../../format.ts';
import { Cancel, Dialog, DialogProblem } from '../../kit/controls.tsx';
import { sensorHref } from '../../routes.ts';
import { useChanges, useServices } from '../../state/hooks.ts';
import type { UnitChoices } from '../../units.ts';
import { differenceScale, limitScale, roundedText, sensorValueText } from '../../units.ts';
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
  /** opens the dialog of an action */
  onAct: (act: Act, alarms: Alarm[]) => void;
}) {
  const { router } = useServices();
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
      <table class="plain alarm-table">
        <AlarmHead isOpenOnly={isOpenOnly} mayAct={mayAct} />
        <tbody ref={body}>
          {alarms.map((alarm, index) => (
            <AlarmRow
              key={alarm.alarm_id}
              alarm={alarm}
              isOpenOnly={isOpenOnly}
              mayAct={mayAct}
              isChosen={chosen.has(alarm.alarm_id)}
              isFocused={index === place}
              onFocus={() => setFocusedId(alarm.alarm_id)}
              onToggle={() => toggle(alarm.alarm_id)}
            />
          ))}
        </tbody>
      </table>
      {mayAct && <AlarmActs count={chosenAlarms.length} onAct={ask} />}
    </>
  );
}

const AlarmHead = ({ isOpenOnly, mayAct }: { isOpenOnly: boolean; mayAct: boolean }) => (
  <thead>
    <tr>
      {mayAct && (
        <th scope="col" class="alarm-check">
          <span class="visually-hidden">Choose</span>
        </th>
      )}
      <th scope="col" class="alarm-col-state">
        State
      </th>
      <th scope="col">Rule</th>
      <th scope="col">Sensor</th>
      {isOpenOnly && (
        <th scope="col" class="alarm-col-value number">
          Now
        </th>
      )}
      <th scope="col" class="alarm-col-value number">
        Peak
      </th>
      <th scope="col" class="alarm-col-time">
        Opened
      </th>
      <th scope="col" class={isOpenOnly ? 'alarm-col-span number' : 'alarm-col-time'}>
        {isOpenOnly ? 'For' : 'Cleared'}
      </th>
      <th scope="col" class="alarm-col-who">
        Acknowledged
      </th>
    </tr>
  </thead>
);

function AlarmActs({ count, onAct }: { count: number; onAct: (act: Act) => void }) {
  const several = count > 1 ? ` ${count}` : '';
  return (
    <div class="alarm-acts">
      <button type="button" class="button" onClick={() => onAct('acknowledge')}>
        <span>Acknowledge{several} …</span> <kbd>A</kbd>
      </button>
      <button type="button" class="button" onClick={() => onAct('shelve')}>
        <span>Shelve{several} …</span> <kbd>S</kbd>
      </button>
      <span class="alarm-keys">
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

function AlarmRow({
  alarm,
  isOpenOnly,
  mayAct,
  isChosen,
  isFocused,
  onFocus,
  onToggle,
}: {
  alarm: Alarm;
  isOpenOnly: boolean;
  mayAct: boolean;
  isChosen: boolean;
  isFocused: boolean;
  onFocus: () => void;
  onToggle: () => void;
}) {
  const { preferences, clock } = useServices();
  const { zone, units: choices } = preferences.choice.value;
  const when = (text: string | null) => (text === null ? NOTHING : formatDateTime(Date.parse(text), zone));
  const sensor = alarm.sensor ?? alarm.sensor_id;
  const device = alarm.device ?? alarm.device_id;
  return (
    <tr
      tabIndex={isFocused ? 0 : -1}
      data-state={stateWord(alarm, clock.now())}
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
        <span class="alarm-state">{stateWord(alarm, clock.now())}</span>
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
      {isOpenOnly && (
        <td class="number" data-label="Now">
          <ValueNow alarm={alarm} />
        </td>
      )}
      <td class="number" data-label="Peak">
        {peakText(alarm, choices)}
      </td>
      <td data-label="Opened">{when(alarm.opened_at)}</td>
      {isOpenOnly ? (
        <td class="number" data-label="For">
          <OpenFor from={alarm.started_at} />
        </td>
      ) : (
        <td data-label="Cleared">{when(alarm.cleared_at)}</td>
      )}
      <td class="wraps" data-label="Acknowledged">
        {alarm.acknowledged_by === null
          ? NOTHING
          : `${alarm.acknowledged_by}${alarm.comment ? `: ${alarm.comment}` : ''}`}
      </td>
    </tr>
  );
}

const HOUR_MS = 3_600_000;

/** Times for which alarms can be shelved, in ms. */
const SPANS = {
  [HOUR_MS]: 'an hour',
  [8 * HOUR_MS]: '8 hours',
  [24 * HOUR_MS]: 'a day',
  [7 * 24 * HOUR_MS]: 'a week',
};

const SpanField = ({
  id,
  value,
  onChange,
}: {
  id: string;
  value: string;
  onChange: (ms: string) => void;
}) => (
  <label class="dialog-field" for={id}>
    For
    <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {Object.entries(SPANS).map(([ms, words]) => (
        <option key={ms} value={ms}>
          {words}
        </option>
      ))}
    </select>
  </label>
);

/** An action on alarms. */
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
  const id = useId();
  const [by, setBy] = useState(settings.choice.peek().name);
  const [isNamed, setNamed] = useState(by !== '');
  const [comment, setComment] = useState('');
  const [span, setSpan] = useState(String(HOUR_MS));
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isRunning, setIsRunning] = useState(false);
  const isShelving = act === 'shelve';
  const [these, them] = alarms.length === 1 ? ['this alarm', 'it'] : ['these alarms', 'them'];

  async function submit(event: Event) {
    event.preventDefault();
    settings.change({ name: by });
    setIsRunning(true);
    const note = { by, ...(comment !== '' && { comment }) };
    const until = clock.now() + Number(span);
    try {
      for (const { alarm_id } of alarms) {
        if (isShelving) await shelveAlarm(client, alarm_id, { ...note, until });
        else await acknowledgeAlarm(client, alarm_id, note);
      }
      onDone(`${formatCounted(alarms.length, 'alarm')} ${isShelving ? 'shelved' : 'acknowledged'}.`);
    } catch (error) {
      setProblem(toProblem(error));
      setIsRunning(false);
    }
  }

  const field = (name: string, label: string, attributes: InputHTMLAttributes) => (
    <label class="dialog-field" for={`${id}-${name}`}>
      {label}
      <input id={`${id}-${name}`} type="text" maxLength={128} autocomplete="off" {...attributes} />
    </label>
  );

  return (
    <Dialog
      title={`${isShelving ? 'Shelve' : 'Acknowledge'} ${formatCounted(alarms.length, 'alarm')}`}
      busy={isRunning}
      onClose={onClose}
    >
      <p>
        {isShelving
          ? `Millrace sends no messages about ${these} for the time below. The list keeps ${them}.`
          : 'Others see who handles it. An alarm stays open until the value clears.'}
      </p>
      {alarms.length === 1 && (
        <p>
          {alarms[0]?.rule}: {alarms[0]?.device ?? alarms[0]?.device_id} ·{' '}
          {alarms[0]?.sensor ?? alarms[0]?.sensor_id}
        </p>
      )}
      <form onSubmit={submit}>
        {isShelving && <SpanField id={`${id}-span`} value={span} onChange={setSpan} />}
        {field('comment', 'Comment, if you like', {
          autofocus: true,
          value: comment,
          onInput: (event) => setComment(event.currentTarget.value),
        })}
        {isNamed ? (
          <p>
            As <b>{by}</b>{' '}
            <button type="button" class="button quiet-button" onClick={() => setNamed(false)}>
              Change
            </button>
          </p>
        ) : (
          field('by', 'Your name', {
            required: true,
            value: by,
            onInput: (event) => setBy(event.currentTarget.value),
          })
        )}
        {problem && <DialogProblem {...problemWords(problem)} />}
        <div class="dialog-actions">
          <Cancel disabled={isRunning} />
          <button type="submit" class="button main-button" disabled={isRunning}>
            {isShelving ? 'Shelve' : 'Acknowledge'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

import type { InputHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';
import { toProblem } from '../api/request.ts';
import type { Alarm } from '../api/types.ts';
import { Cancel, Dialog } from '../components/controls.tsx';
import { formatCounted } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import { recall, remember } from '../state/preferences.ts';

const HOUR_MS = 3_600_000;

/** How long alarms can be shelved, in ms. */
const SPANS = {
  [HOUR_MS]: 'an hour',
  [8 * HOUR_MS]: '8 hours',
  [24 * HOUR_MS]: 'a day',
  [7 * 24 * HOUR_MS]: 'a week',
};

const NAME_KEY = 'millrace.name';

/** What is done with alarms. */
export type Act = 'acknowledge' | 'shelve';

/** Acknowledges or shelves alarms, with a name and a comment. The browser remembers the name. */
export function ActDialog({
  act,
  alarms,
  onDone,
  onClose,
}: {
  act: Act;
  alarms: Alarm[];
  /** `done`: in words */
  onDone: (done: string) => void;
  onClose: () => void;
}) {
  const { client, clock } = useServices();
  const id = useId();
  const [by, setBy] = useState(readName);
  const [comment, setComment] = useState('');
  const [span, setSpan] = useState(String(HOUR_MS));
  const [problem, setProblem] = useState('');
  const [isRunning, setIsRunning] = useState(false);
  const isShelving = act === 'shelve';

  async function submit(event: Event) {
    event.preventDefault();
    remember(localStorage, NAME_KEY, by);
    setIsRunning(true);
    const given = { ...(by !== '' && { by }), ...(comment !== '' && { comment }) };
    const until = clock.now() + Number(span);
    try {
      for (const { alarm_id } of alarms) {
        if (isShelving) await client.shelveAlarm(alarm_id, { ...given, until });
        else await client.acknowledgeAlarm(alarm_id, given);
      }
      onDone(`${formatCounted(alarms.length, 'alarm')} ${isShelving ? 'shelved' : 'acknowledged'}.`);
    } catch (error) {
      setProblem(toProblem(error)?.detail ?? '');
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
      held={isRunning}
      onClose={onClose}
    >
      <p>
        {isShelving
          ? 'Millrace sends no messages about it for the time below. It stays in the list.'
          : 'Others see who handles it. It stays open until the value clears.'}
      </p>
      {alarms.length === 1 && (
        <p>
          {alarms[0]?.rule}: {alarms[0]?.device ?? alarms[0]?.device_id} ·{' '}
          {alarms[0]?.sensor ?? alarms[0]?.sensor_id}
        </p>
      )}
      <form onSubmit={submit}>
        {isShelving && (
          <label class="dialog-field" for={`${id}-span`}>
            For
            <select id={`${id}-span`} value={span} onChange={(event) => setSpan(event.currentTarget.value)}>
              {Object.entries(SPANS).map(([ms, words]) => (
                <option key={ms} value={ms}>
                  {words}
                </option>
              ))}
            </select>
          </label>
        )}
        {field('comment', 'Comment, if you like', {
          autofocus: true,
          value: comment,
          onInput: (event) => setComment(event.currentTarget.value),
        })}
        {field('by', 'Your name, if you like', {
          value: by,
          onInput: (event) => setBy(event.currentTarget.value),
        })}
        {problem !== '' && (
          <p class="dialog-problem" role="alert">
            {problem}
          </p>
        )}
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

const readName = (): string => String(recall(localStorage, NAME_KEY) ?? '');

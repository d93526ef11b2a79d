import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Problem, ProblemWords } from '../../api/request.ts';
import { problemWords, toProblem } from '../../api/request.ts';
import { Cancel, Dialog, DialogProblem } from './dialog.tsx';

/** Renders a field with its label. A choice of options is a select, several lines are a text area. */
export function Field({
  label,
  value,
  onValue,
  options,
  rows,
  required = false,
  isFocused = false,
  isLazy = false,
  id: given,
  class: name = 'dialog-field',
  ...attributes
}: {
  label: ComponentChildren;
  value: string;
  onValue: (value: string) => void;
  /** value and text of each option */
  options?: readonly (readonly [value: string, text: string])[] | undefined;
  /** number of lines of a text area */
  rows?: number;
  required?: boolean;
  /** whether the field takes the focus when it appears */
  isFocused?: boolean;
  /** whether a typed text counts at Enter, or when the field loses the focus */
  isLazy?: boolean;
  id?: string;
  class?: string;
  [attribute: string]: unknown;
}) {
  const own = useId();
  const id = given ?? own;
  const control = useRef<HTMLElement | null>(null);
  useEffect(() => {
    if (isFocused) control.current?.focus();
  }, []);
  const take = (event: { currentTarget: { value: string } }) => onValue(event.currentTarget.value);
  const Control = rows ? 'textarea' : 'input';
  return (
    <div class={name} data-set={value !== ''}>
      <label for={id}>
        {label}
        {required && (
          <span class="required" aria-hidden="true">
            *
          </span>
        )}
      </label>
      {options ? (
        <select id={id} value={value} onChange={take} {...attributes}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      ) : (
        <Control
          id={id}
          ref={control as never}
          {...(rows ? { rows } : { type: 'text' })}
          autocomplete="off"
          spellcheck={false}
          required={required}
          value={value}
          {...{ [isLazy ? 'onChange' : 'onInput']: take }}
          {...attributes}
        />
      )}
    </div>
  );
}

const TONES = { plain: 'button', main: 'button main-button', grave: 'button grave-button' };

/** Renders a dialog with a form that sends a request. A failed request is shown, and may be sent again. */
export function FormDialog({
  title,
  submit,
  busyLabel = submit,
  tone = 'main',
  isReady = true,
  isWide = false,
  isCareful = false,
  words = problemWords,
  result = null,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  /** label of the button that sends the form, and its label while the request runs */
  submit: string;
  busyLabel?: string;
  tone?: keyof typeof TONES;
  isReady?: boolean;
  isWide?: boolean;
  /** whether the button that cancels has the focus first */
  isCareful?: boolean;
  words?: (problem: Problem) => ProblemWords;
  /** content in place of the form, which Escape does not close; one dialog for both keeps the focus */
  result?: ComponentChildren;
  /** sends the request; what it throws is shown */
  onSubmit: () => Promise<void>;
  onClose: () => void;
  children?: ComponentChildren;
}) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);

  async function send(event: Event) {
    event.preventDefault();
    if (busy || !isReady) return;
    setBusy(true);
    setProblem(null);
    await onSubmit().catch((error) => setProblem(toProblem(error)));
    setBusy(false);
  }

  return (
    <Dialog title={title} wide={isWide} busy={busy || result !== null} onClose={onClose}>
      {result ?? (
        <form onSubmit={send}>
          {children}
          {problem && <DialogProblem {...words(problem)} />}
          <div class="dialog-actions">
            <Cancel autofocus={isCareful} disabled={busy} />
            <button type="submit" class={TONES[tone]} disabled={!isReady || busy}>
              {busy ? busyLabel : submit}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import './header.css';

/** Renders a choice of a few options as native radio buttons, so that arrow keys and screen readers work without code. */
export function Choice<Value extends string>({
  legend,
  isTitled = false,
  options,
  value,
  onChange,
}: {
  legend: string;
  /** whether the name is visible; otherwise only screen readers know it */
  isTitled?: boolean;
  options: readonly { value: Value; label: string; title?: string }[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const group = useId();
  return (
    <fieldset class="choice">
      <legend class={isTitled ? 'choice-title' : 'visually-hidden'}>{legend}</legend>
      {options.map((option) => (
        <label key={option.value} title={option.title}>
          <input
            type="radio"
            name={group}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Time in ms for which the result of a click is shown. */
const SHOWN_MS = 2500;

const RESULTS: Record<'idle' | 'copied' | 'failed', string> = {
  idle: '',
  copied: 'Copied',
  failed: 'Select the text and copy it',
};

/** Renders a button that copies a text to the clipboard. @param props `what`: name of the text, for screen readers */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [result, setResult] = useState<keyof typeof RESULTS>('idle');
  const button = useRef<HTMLButtonElement | null>(null);
  useEffect(() => {
    if (result === 'idle') return undefined;
    const timer = setTimeout(() => setResult('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);

  async function copy() {
    const isCopied = await copyText(text, button.current);
    setResult(isCopied ? 'copied' : 'failed');
  }

  return (
    <span class="copy">
      <button type="button" class="button" ref={button} onClick={copy}>
        {result === 'copied' ? 'Copied' : 'Copy'}
        <span class="visually-hidden"> {what}</span>
      </button>
      <span class={result === 'failed' ? 'copy-failed' : 'visually-hidden'} role="status">
        {RESULTS[result]}
      </span>
    </span>
  );
}

export const Copyable = ({ text, what }: { text: string; what: string }) => (
  <div class="copyable">
    <pre tabIndex={0} role="region" aria-label={what}>
      <code>{text}</code>
    </pre>
    <CopyButton text={text} what={what} />
  </div>
);

export async function copyText(text: string, button: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text, button);
  }
}

/**
 * Copies by the deprecated command of the browser. A page without TLS has no clipboard API, except on loopback.
 *
 * @param button a temporary field is placed next to the button, because an open modal dialog blocks selections outside of the
 *   dialog
 */
function copySelection(text: string, button: HTMLElement | null): boolean {
  const field = document.createElement('textarea');
  field.className = 'visually-hidden';
  field.value = text;
  button?.after(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  button?.focus();
  return isCopied;
}

/**
 * Renders a modal dialog. Escape or a click outside of the dialog cancels it. The caller removes the dialog, and the browser
 * then returns the focus.
 */
export function Dialog({
  title,
  busy = false,
  wide = false,
  onClose,
  children,
}: {
  title: string;
  /** the action is running, so the user cannot close the dialog */
  busy?: boolean;
  /** the dialog is wide enough for several columns */
  wide?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement | null>(null);
  const pressed = useRef<EventTarget | null>(null);
  const heading = useId();

  // The dialog must be closed before it is removed. Otherwise no element has the focus.
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close();
  }, []);

  return (
    <dialog
      class={wide ? 'dialog wide-dialog' : 'dialog'}
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event: Event) => {
        if (busy) event.preventDefault();
      }}
      onClose={onClose}
      onPointerDown={(event: Event) => {
        pressed.current = event.target;
      }}
      onClick={(event: Event) => {
        // A click counts as outside only if its press also began outside, because a text selection may end there.
        const isOutside = event.target === dialog.current && pressed.current === dialog.current;
        if (isOutside && !busy) dialog.current?.close();
      }}
    >
      <div class="dialog-inner">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

export const DialogProblem = ({
  title,
  advice,
  children,
}: {
  title: string;
  advice: string;
  children?: ComponentChildren;
}) => (
  <div class="dialog-problem" role="alert">
    <p>
      <strong>{title}.</strong> {advice}
    </p>
    {children}
  </div>
);

export const Cancel = ({
  label = 'Cancel',
  autofocus = false,
  disabled = false,
}: {
  label?: string;
  autofocus?: boolean;
  disabled?: boolean;
}) => (
  <button
    type="button"
    class="button"
    autofocus={autofocus}
    disabled={disabled}
    onClick={(event) => event.currentTarget.closest('dialog')?.close()}
  >
    {label}
  </button>
);

export function saveFile(name: string, content: Blob) {
  const href = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = href;
  // Device names may contain characters that file names cannot have.
  link.download = name.replaceAll(/[\\/:*?"<>|\s]+/g, '-');
  link.dataset['native'] = '';
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href));
}

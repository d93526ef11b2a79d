import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

/**
 * One of a few: radio buttons that look like one control, so that arrow keys and screen readers work by themselves.
 *
 * @param {object} props
 * @param {string} props.legend said, not shown
 * @param {{ value: string, label: string, note?: string, title?: string, icon?: string }[]} props.options
 *   `note`: goes with the label, and is only said where there is little room; `icon`: path of a drawing of 16 by 16,
 *   shown in place of the label
 * @param {string} props.value
 * @param {(value: string) => void} props.onChange
 */
export function Choice({ legend, options, value, onChange }) {
  const group = useId();
  return (
    <fieldset class="choice">
      <legend class="visually-hidden">{legend}</legend>
      {options.map((option) => (
        <label key={option.value} title={option.title ?? (option.icon && option.label)}>
          <input
            type="radio"
            name={group}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>
            {option.icon && <Icon path={option.icon} />}
            <span class={option.icon ? 'visually-hidden' : ''}>
              {option.label}
              {option.note && <span class="choice-note"> {option.note}</span>}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** @param {{ path: string }} props */
const Icon = ({ path }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={path} />
  </svg>
);

/** The result of a click is shown for this time, in ms. */
const SHOWN_MS = 2500;

/** @type {Record<'idle' | 'copied' | 'failed', string>} */
const RESULTS = { idle: '', copied: 'Copied', failed: 'Select the text and copy it' };

/**
 * Copies a text to the clipboard.
 *
 * @param {{ text: string, what: string }} props `what` is copied, for screen readers
 */
export function CopyButton({ text, what }) {
  const [result, setResult] = useState(/** @type {keyof typeof RESULTS} */ ('idle'));
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    if (result === 'idle') return undefined;
    const timer = setTimeout(() => setResult('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);

  async function copy() {
    const isCopied = await writeText(text, button.current);
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

/**
 * A command or a secret, with a button that copies it.
 *
 * @param {{ text: string, what: string }} props
 */
export const Copyable = ({ text, what }) => (
  <div class="copyable">
    <pre tabIndex={0} role="region" aria-label={what}>
      <code>{text}</code>
    </pre>
    <CopyButton text={text} what={what} />
  </div>
);

/** @param {string} text @param {HTMLElement | null} button @returns {Promise<boolean>} whether it is on the clipboard */
async function writeText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text, button);
  }
}

/**
 * The old way. A page without TLS has no clipboard, unless it is on loopback.
 *
 * @param {string} text
 * @param {HTMLElement | null} button the field is put next to it: outside of an open dialog nothing can be selected
 * @returns {boolean}
 */
function copySelection(text, button) {
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
 * A modal question. Escape or a click outside cancels it. The caller removes it; the focus then returns to where it was.
 *
 * @param {object} props
 * @param {string} props.title the question
 * @param {boolean} [props.held] it is being done: only the answer to that closes it
 * @param {boolean} [props.wide] for a form of several columns
 * @param {() => void} props.onClose when it is closed
 * @param {any} props.children what would be done, and the ways to answer
 */
export function Dialog({ title, held = false, wide = false, onClose, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const pressed = useRef(/** @type {EventTarget | null} */ (null));
  const heading = useId();

  // Closed as long as it stands there: one that is taken away open leaves the focus nowhere.
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
      onCancel={(/** @type {Event} */ event) => {
        if (held) event.preventDefault();
      }}
      onClose={onClose}
      onPointerDown={(/** @type {Event} */ event) => {
        pressed.current = event.target;
      }}
      onClick={(/** @type {Event} */ event) => {
        // A selection of text may end outside of the dialog.
        const isOutside = event.target === dialog.current && pressed.current === dialog.current;
        if (isOutside && !held) dialog.current?.close();
      }}
    >
      <div class="dialog-inner">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/**
 * Why a dialog could not do what was asked.
 *
 * @param {{ title: string, advice: string, children?: any }} props
 */
export const DialogProblem = ({ title, advice, children }) => (
  <div class="dialog-problem" role="alert">
    <p>
      <strong>{title}.</strong> {advice}
    </p>
    {children}
  </div>
);

/** The button that closes a dialog. @param {{ label?: string, autofocus?: boolean, disabled?: boolean }} props */
export const Cancel = ({ label = 'Cancel', autofocus = false, disabled = false }) => (
  <button
    type="button"
    class="button"
    autofocus={autofocus}
    disabled={disabled}
    onClick={(/** @type {any} */ event) => event.currentTarget.closest('dialog').close()}
  >
    {label}
  </button>
);

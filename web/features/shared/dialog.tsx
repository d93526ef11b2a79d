import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import './dialog.css';

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

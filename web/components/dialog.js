import { html } from 'htm/preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * A modal question. Escape or a click outside cancels it. The caller removes it; the focus then returns to where it was.
 *
 * @param {object} props
 * @param {string} props.title the question
 * @param {boolean} [props.held] it is being done: only the answer to that closes it
 * @param {() => void} props.onClose when it is closed
 * @param {any} props.children what would be done, and the ways to answer
 */
export function Dialog({ title, held = false, onClose, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const pressed = useRef(/** @type {EventTarget | null} */ (null));
  const heading = useId();

  // Closed as long as it stands there: one that is taken away open leaves the focus nowhere.
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close();
  }, []);

  return html`
    <dialog
      class="dialog"
      ref=${dialog}
      aria-labelledby=${heading}
      onCancel=${(/** @type {Event} */ event) => {
        if (held) event.preventDefault();
      }}
      onClose=${onClose}
      onPointerDown=${(/** @type {Event} */ event) => {
        pressed.current = event.target;
      }}
      onClick=${(/** @type {Event} */ event) => {
        // A selection of text may end outside of the dialog.
        const isOutside = event.target === dialog.current && pressed.current === dialog.current;
        if (isOutside && !held) dialog.current?.close();
      }}
    >
      <div class="dialog-inner">
        <h2 id=${heading}>${title}</h2>
        ${children}
      </div>
    </dialog>
  `;
}

/** The no, as a button. @param {{ autofocus?: boolean, disabled?: boolean }} props */
export const Cancel = ({ autofocus = false, disabled = false }) => html`
  <button
    type="button"
    class="button"
    autofocus=${autofocus}
    disabled=${disabled}
    onClick=${(/** @type {any} */ event) => event.currentTarget.closest('dialog').close()}
  >
    Cancel
  </button>
`;

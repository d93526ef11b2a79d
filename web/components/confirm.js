import { html } from 'htm/preact';
import { useEffect, useId, useRef } from 'preact/hooks';

/**
 * A question that has to be answered before anything is done. Escape, and a click beside it, are a no.
 *
 * @param {object} props
 * @param {string} props.title the question
 * @param {string} props.action what the yes is called
 * @param {() => void} props.onYes
 * @param {() => void} props.onNo
 * @param {any} props.children what would be done
 */
export function Confirm({ title, action, onYes, onNo, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const heading = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return html`
    <dialog
      class="confirm"
      ref=${dialog}
      aria-labelledby=${heading}
      onCancel=${(/** @type {Event} */ event) => {
        // It goes when whoever asked takes it away: closed by itself it would still stand there, unseen.
        event.preventDefault();
        onNo();
      }}
      onClose=${onNo}
      onClick=${(/** @type {MouseEvent} */ event) => event.target === dialog.current && onNo()}
    >
      <div class="confirm-inner">
        <h2 id=${heading}>${title}</h2>
        ${children}
        <p class="confirm-ways">
          <button type="button" class="button" onClick=${onNo}>Cancel</button>
          <button type="button" class="button main-button" onClick=${onYes}>${action}</button>
        </p>
      </div>
    </dialog>
  `;
}

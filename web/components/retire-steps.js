import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCounted } from '../format.js';
import { asTyped } from '../state/as-typed.js';
import { Cancel } from './dialog.js';

/** @import { DeviceInfo } from '../api/types.js' */

/**
 * What retiring a device means.
 *
 * @param {object} props
 * @param {DeviceInfo} props.device
 * @param {() => void} props.onContinue
 */
export function RetireExplanation({ device: { online, sensors }, onContinue }) {
  return html`
    <ul class="dialog-list">
      <li>
        It is gone from all pages, searches and counts, with its ${formatCounted(sensors.length, 'sensor')}.
      </li>
      <li>Its samples cannot be read any more. They stay in the database until they expire.</li>
      <li>
        Its account at the broker is taken away, and so is the right of gateways to speak for it. Where devices sign in, it stays
        out until it is given an account again.
      </li>
      <li>
        Should it come back, what it measured before is shown again until that has expired. Other API processes may go on
        knowing it for up to ten minutes.
      </li>
    </ul>
    ${
      online &&
      html`<p class="dialog-warning">
        It is online now. Where devices need no account, it comes back as long as it goes on sending: switch it off first.
      </p>`
    }
    <p class="dialog-actions">
      <${Cancel} autofocus />
      <button type="button" class="button" onClick=${onContinue}>Continue</button>
    </p>
  `;
}

/**
 * Asks for the name, so that nobody retires another device than the one meant.
 *
 * @param {object} props
 * @param {string} props.name as one types it
 * @param {boolean} props.busy
 * @param {() => void} props.onConfirm
 */
export function RetireConfirmation({ name, busy, onConfirm }) {
  const [typed, setTyped] = useState('');
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const matches = asTyped(typed) === name;
  useEffect(() => field.current?.focus(), []);

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    if (matches && !busy) onConfirm();
  }

  return html`
    <form onSubmit=${submit}>
      <label class="dialog-field">
        <span>This cannot be taken back. Type <strong>${name}</strong> to retire it.</span>
        <input
          ref=${field}
          type="text"
          autocomplete="off"
          spellcheck=${false}
          value=${typed}
          readonly=${busy}
          onInput=${(/** @type {any} */ event) => setTyped(event.target.value)}
        />
      </label>
      <p class="dialog-actions">
        <${Cancel} disabled=${busy} />
        <button type="submit" class="button grave-button" disabled=${!matches || busy}>
          ${busy ? 'Retiring…' : 'Retire'}
        </button>
      </p>
    </form>
  `;
}

import { useEffect, useRef, useState } from 'preact/hooks';
import { toProblem, wordsOf } from '../api/request.js';
import { formatCounted } from '../format.js';
import { useServices } from '../state/hooks.js';
import { Cancel, Dialog, DialogProblem } from './controls.jsx';

/** @import { DeviceInfo } from '../api/types.js' */
/** @import { Problem } from '../api/request.js' */

/**
 * Retires a device, asked twice: first what will happen, then for its name.
 *
 * @param {{ device: DeviceInfo, onClose: () => void }} props
 */
export function RetireDialog({ device, onClose }) {
  const { client, live, router } = useServices();
  const [isSure, setSure] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const name = asTyped(device.name ?? '') || device.device_id;

  async function retire() {
    setBusy(true);
    setProblem(null);
    try {
      await client.retire(device.device_id);
    } catch (error) {
      setProblem(toProblem(error));
      setBusy(false);
      return;
    }
    live.fleet.forget(device.device_id);
    router.go('/?show=devices', { flash: `${name} is retired.` });
  }

  return (
    <Dialog title={`Retire ${name}?`} held={busy} onClose={onClose}>
      {isSure ? (
        <RetireConfirmation name={name} busy={busy} onConfirm={retire} />
      ) : (
        <RetireExplanation device={device} onContinue={() => setSure(true)} />
      )}
      {problem && <Failure problem={problem} />}
    </Dialog>
  );
}

/** @param {{ problem: Problem }} props */
function Failure({ problem }) {
  const { title, advice } = wordsOf(problem);
  return (
    <DialogProblem title={title} advice={advice}>
      {problem.passes && <p>The retirement may be half done: do it again to finish it.</p>}
    </DialogProblem>
  );
}

/**
 * Explains the effects of a retirement.
 *
 * @param {object} props
 * @param {DeviceInfo} props.device
 * @param {() => void} props.onContinue
 */
function RetireExplanation({ device: { online, sensors }, onContinue }) {
  return (
    <>
      <ul class="dialog-list">
        <li>
          It is gone from all pages, searches and counts, with its {formatCounted(sensors.length, 'sensor')}.
        </li>
        <li>Its samples cannot be read any more. They stay in the database until they expire.</li>
        <li>
          Its account at the broker is taken away, and so is the right of gateways to speak for it. Where
          devices sign in, it stays out until it is given an account again.
        </li>
        <li>
          Should it come back, what it measured before is shown again until that has expired. Other API
          processes may go on knowing it for up to ten minutes.
        </li>
      </ul>
      {online && (
        <p class="dialog-warning">
          It is online now. Where devices need no account, it comes back as long as it goes on sending: switch
          it off first.
        </p>
      )}
      <p class="dialog-actions">
        <Cancel autofocus />
        <button type="button" class="button" onClick={onContinue}>
          Continue
        </button>
      </p>
    </>
  );
}

/**
 * Asks for the name, so that nobody retires another device than the one meant.
 *
 * @param {object} props
 * @param {string} props.name as one types it
 * @param {boolean} props.busy
 * @param {() => void} props.onConfirm
 */
function RetireConfirmation({ name, busy, onConfirm }) {
  const [typed, setTyped] = useState('');
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const matches = asTyped(typed) === name;
  useEffect(() => field.current?.focus(), []);

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    if (matches && !busy) onConfirm();
  }

  return (
    <form onSubmit={submit}>
      <label class="dialog-field">
        <span>
          This cannot be taken back. Type <strong>{name}</strong> to retire it.
        </span>
        <input
          ref={field}
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          readonly={busy}
          onInput={(/** @type {any} */ event) => setTyped(event.target.value)}
        />
      </label>
      <p class="dialog-actions">
        <Cancel disabled={busy} />
        <button type="submit" class="button grave-button" disabled={!matches || busy}>
          {busy ? 'Retiring…' : 'Retire'}
        </button>
      </p>
    </form>
  );
}

/**
 * A name as a person types it. Spaces at the ends and repeated spaces are invisible, and an accented character may have two code
 * points.
 *
 * @param {string} name
 */
const asTyped = (name) => name.normalize('NFC').replace(/\s+/gu, ' ').trim();

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../api/request.ts';
import { toProblem, wordsOf } from '../api/request.ts';
import type { DeviceInfo } from '../api/types.ts';
import { formatCounted } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import { Cancel, Dialog, DialogProblem } from './controls.tsx';

/** Retires a device, asked twice: first what will happen, then for its name. */
export function RetireDialog({ device, onClose }: { device: DeviceInfo; onClose: () => void }) {
  const { client, live, router } = useServices();
  const [isSure, setSure] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
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

function Failure({ problem }: { problem: Problem }) {
  const { title, advice } = wordsOf(problem);
  return (
    <DialogProblem title={title} advice={advice}>
      {problem.passes && <p>The retirement may be half done: do it again to finish it.</p>}
    </DialogProblem>
  );
}

/** Explains the effects of a retirement. */
function RetireExplanation({
  device: { online, sensors },
  onContinue,
}: {
  device: DeviceInfo;
  onContinue: () => void;
}) {
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

/** Asks for the name, so that nobody retires another device than the one meant. */
function RetireConfirmation({
  name,
  busy,
  onConfirm,
}: {
  /** as one types it */
  name: string;
  busy: boolean;
  onConfirm: () => void;
}) {
  const [typed, setTyped] = useState('');
  const field = useRef<HTMLInputElement | null>(null);
  const matches = asTyped(typed) === name;
  useEffect(() => field.current?.focus(), []);

  function submit(event: Event) {
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
          onInput={(event) => setTyped(event.currentTarget.value)}
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
 */
const asTyped = (name: string) => name.normalize('NFC').replace(/\s+/gu, ' ').trim();

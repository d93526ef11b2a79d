import { useState } from 'preact/hooks';
import { segment } from '../../api/client.ts';
import type { Problem } from '../../api/request.ts';
import { problemWords } from '../../api/request.ts';
import type { DeviceInfo } from '../../api/types.ts';
import { formatCounted } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { Field, FormDialog } from '../shared/form.tsx';
import './retire.css';

/** Renders the button that retires a device. For users without the scope admin, the button is disabled and shows the reason. */
export function DeviceAction({ device }: { device: DeviceInfo }) {
  const [isAsked, setAsked] = useState(false);
  const may = useMay('admin');
  return (
    <div class="retire">
      {!may && <p id="retire-note">{scopeText('Retire', 'admin')}</p>}
      <button
        type="button"
        class="button"
        aria-haspopup="dialog"
        disabled={!may}
        aria-describedby={may ? undefined : 'retire-note'}
        onClick={() => setAsked(true)}
      >
        Retire…
      </button>
      {isAsked && <RetireDialog device={device} onClose={() => setAsked(false)} />}
    </div>
  );
}

/** Renders the dialog that retires a device. The dialog first explains the effects, then asks for the name. */
function RetireDialog({ device, onClose }: { device: DeviceInfo; onClose: () => void }) {
  const { client, live, router } = useServices();
  const [isSure, setSure] = useState(false);
  const [typed, setTyped] = useState('');
  const name = asTyped(device.name ?? '') || device.device_id;

  async function retire() {
    if (!isSure) return setSure(true);
    await client.requests.requestOk(`/devices/${segment(device.device_id)}`, undefined, { method: 'DELETE' });
    live.forget(device.device_id);
    router.go('/?show=devices', { flash: `${name} is retired.` });
  }

  return (
    <FormDialog
      title={`Retire ${name}?`}
      submit={isSure ? 'Retire' : 'Continue'}
      busyLabel={isSure ? 'Retiring…' : 'Continue'}
      tone={isSure ? 'grave' : 'plain'}
      isReady={!isSure || asTyped(typed) === name}
      isCareful
      words={retireWords}
      onSubmit={retire}
      onClose={onClose}
    >
      {isSure ? (
        <Field
          label={
            <>
              You cannot undo this. Type <strong>{name}</strong> to retire it.
            </>
          }
          value={typed}
          onValue={setTyped}
          isFocused
        />
      ) : (
        <RetireExplanation device={device} />
      )}
    </FormDialog>
  );
}

function retireWords(problem: Problem) {
  const { title, advice } = problemWords(problem);
  const rest = problem.isTemporary ? ' The retirement may be half done: do it again to finish it.' : '';
  return { title, advice: advice + rest };
}

const RetireExplanation = ({ device: { state, sensors } }: { device: DeviceInfo }) => (
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
    {state === 'online' && (
      <p class="dialog-warning">
        It is online now. Where devices need no account, it comes back as long as it goes on sending: switch
        it off first.
      </p>
    )}
  </>
);

/**
 * Returns a name in the form in which people type it. Spaces at the ends and repeated spaces are invisible, and an accented
 * character may have two code points.
 */
const asTyped = (name: string) => name.normalize('NFC').replace(/\s+/gu, ' ').trim();

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem, ProblemWords } from '../../api/request.ts';
import { problemWords, toProblem } from '../../api/request.ts';
import type { Mqtt } from '../../api/types.ts';
import { Cancel, Copyable, Dialog, DialogProblem } from '../../kit/controls.tsx';
import { publishCommand } from '../../kit/publish-command.ts';
import { useServices } from '../../state/hooks.ts';
import type { Credential, IssuedCredential } from './api.ts';
import { issueCredential, revokeCredential, rotateCredential } from './api.ts';

/** Texts for error codes of the API in these dialogs. */
const WORDS: Record<string, ProblemWords> = {
  credential_exists: {
    title: 'This account has a credential already',
    advice: 'Rotate it, or revoke it first.',
  },
  not_found: {
    title: 'This account has no credential any more',
    advice: 'Somebody may have revoked it, or retired its device.',
  },
};

function Failure({ problem }: { problem: Problem }) {
  const { code, status, detail } = problem;
  const rejected = { title: 'This is not accepted', advice: detail };
  const { title, advice } = WORDS[code] ?? (status === 400 ? rejected : problemWords(problem));
  return <DialogProblem title={title} advice={advice} />;
}

/** Keeps the state of the request that a dialog sends. */
function useSending<T>(
  ask: () => Promise<T>,
  onAnswer: (answer: T) => void,
): { busy: boolean; problem: Problem | null; send: () => Promise<void> } {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  async function send() {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    await ask().then(onAnswer, (error) => setProblem(toProblem(error)));
    setBusy(false);
  }
  return { busy, problem, send };
}

export function IssueDialog({
  mqtt,
  onIssued,
  onClose,
}: {
  mqtt: Mqtt | null;
  onIssued: () => void;
  onClose: () => void;
}) {
  const { client } = useServices();
  const [account, setAccount] = useState('');
  const [devices, setDevices] = useState('');
  const [issued, setIssued] = useState<IssuedCredential | null>(null);
  const field = useRef<HTMLInputElement | null>(null);
  useEffect(() => field.current?.focus(), []);
  const { busy, problem, send } = useSending(
    () => issueCredential(client, account, linesOf(devices)),
    (answer) => {
      setIssued(answer);
      onIssued();
    },
  );
  return (
    <SecretDialog title="Issue a credential" {...{ busy, issued, mqtt, onClose }}>
      <form
        onSubmit={(event: Event) => {
          event.preventDefault();
          if (account !== '') void send();
        }}
      >
        <label class="dialog-field">
          <span>Account: the name or the id of the device, as its topics have it</span>
          <input
            ref={field}
            type="text"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            required
            value={account}
            onInput={(event) => setAccount(event.currentTarget.value)}
          />
        </label>
        <label class="dialog-field">
          <span>Further devices of a gateway, one on each line. A single device leaves this empty.</span>
          <textarea
            class="credential-devices"
            rows={3}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={devices}
            onInput={(event) => setDevices(event.currentTarget.value)}
          />
        </label>
        {problem && <Failure problem={problem} />}
        <p class="dialog-actions">
          <Cancel disabled={busy} />
          <button type="submit" class="button main-button" disabled={account === '' || busy}>
            {busy ? 'Issuing …' : 'Issue'}
          </button>
        </p>
      </form>
    </SecretDialog>
  );
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export function RotateDialog({
  credential: { account, device_id },
  mqtt,
  onRotated,
  onClose,
}: {
  credential: Credential;
  mqtt: Mqtt | null;
  onRotated: () => void;
  onClose: () => void;
}) {
  const { client } = useServices();
  const [issued, setIssued] = useState<IssuedCredential | null>(null);
  const { busy, problem, send } = useSending(
    () => rotateCredential(client, device_id),
    (answer) => {
      setIssued(answer);
      onRotated();
    },
  );
  return (
    <SecretDialog title={`Rotate the secret of ${account}?`} {...{ busy, issued, mqtt, onClose }}>
      <p>
        The present secret is invalid at once. A device that is connected with it is disconnected within half
        a minute. It connects again after it has the new secret.
      </p>
      {problem && <Failure problem={problem} />}
      <p class="dialog-actions">
        <Cancel autofocus disabled={busy} />
        <button type="button" class="button grave-button" disabled={busy} onClick={send}>
          {busy ? 'Rotating …' : 'Rotate'}
        </button>
      </p>
    </SecretDialog>
  );
}

export function RevokeDialog({
  credential: { account, device_id, devices },
  onRevoked,
  onClose,
}: {
  credential: Credential;
  onRevoked: () => void;
  onClose: () => void;
}) {
  const { client } = useServices();
  const { busy, problem, send } = useSending(() => revokeCredential(client, device_id), onRevoked);
  return (
    <Dialog title={`Revoke the credential of ${account}?`} busy={busy} onClose={onClose}>
      <p>
        Its secret is invalid at once. A device that is connected with it is disconnected within half a
        minute. Its measurements stay. To let it back in, issue a new credential.
      </p>
      {devices.length > 0 && (
        <p class="dialog-warning">It is a gateway: {devices.join(', ')} can no longer publish through it.</p>
      )}
      {problem && <Failure problem={problem} />}
      <p class="dialog-actions">
        <Cancel autofocus disabled={busy} />
        <button type="button" class="button grave-button" disabled={busy} onClick={send}>
          {busy ? 'Revoking …' : 'Revoke'}
        </button>
      </p>
    </Dialog>
  );
}

/**
 * Renders a dialog with a question, which shows the new secret afterwards. One dialog for question and secret keeps the focus.
 * No other page or answer has the secret, so Escape must not close the dialog.
 */
const SecretDialog = ({
  title,
  busy,
  issued,
  mqtt,
  onClose,
  children,
}: {
  /** the question */
  title: string;
  busy: boolean;
  issued: IssuedCredential | null;
  mqtt: Mqtt | null;
  onClose: () => void;
  /** the form or buttons below the question */
  children: ComponentChildren;
}) => (
  <Dialog
    title={issued ? `The secret of ${issued.account}` : title}
    busy={busy || issued !== null}
    onClose={onClose}
  >
    {issued ? <Secret issued={issued} mqtt={mqtt} /> : children}
  </Dialog>
);

function Secret({ issued: { account, secret }, mqtt }: { issued: IssuedCredential; mqtt: Mqtt | null }) {
  // A device name is one topic level. An account with a slash belongs to a Sparkplug edge node, which has other topics, so
  // there is no example command.
  const command =
    mqtt && !account.includes('/')
      ? publishCommand(mqtt, { hostname: location.hostname, device: account, account, secret })
      : null;
  return (
    <>
      <p class="dialog-warning">
        This secret is shown once. Millrace keeps only a salted hash. Copy the secret before you close this.
      </p>
      <Copyable text={secret} what="Secret" />
      {command && (
        <>
          <p>A measurement of this device:</p>
          <Copyable text={command} what="Command for MQTT" />
        </>
      )}
      <p class="dialog-actions">
        <Cancel label="I have copied it" />
      </p>
    </>
  );
}

import { useState } from 'preact/hooks';
import type { Problem, ProblemWords } from '../../api/request.ts';
import { problemWords } from '../../api/request.ts';
import type { Mqtt } from '../../api/types.ts';
import { useServices } from '../../state/hooks.ts';
import { Copyable } from '../shared/copy.tsx';
import { Cancel } from '../shared/dialog.tsx';
import { Field, FormDialog } from '../shared/form.tsx';
import { publishCommand } from '../shared/publish-command.ts';
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

function words(problem: Problem): ProblemWords {
  const { code, status, detail } = problem;
  const rejected = { title: 'This is not accepted', advice: detail };
  return WORDS[code] ?? (status === 400 ? rejected : problemWords(problem));
}

interface Props {
  mqtt: Mqtt | null;
  /** called after the account has a new secret, or has none any more */
  onDone: () => void;
  onClose: () => void;
}

/** Keeps the new secret. No other page or answer has it, so the dialog shows it in place of its form. */
function useIssued({ mqtt, onDone }: Props) {
  const [issued, setIssued] = useState<IssuedCredential | null>(null);
  const take = (answer: IssuedCredential) => {
    setIssued(answer);
    onDone();
  };
  const shown = issued && {
    title: `The secret of ${issued.account}`,
    result: <Secret issued={issued} mqtt={mqtt} />,
  };
  return { take, shown };
}

export function IssueDialog(props: Props) {
  const { client } = useServices();
  const [account, setAccount] = useState('');
  const [devices, setDevices] = useState('');
  const { take, shown } = useIssued(props);
  const plain = { autocapitalize: 'none' };
  return (
    <FormDialog
      title="Issue a credential"
      submit="Issue"
      busyLabel="Issuing…"
      isReady={account !== ''}
      words={words}
      onSubmit={() => issueCredential(client, account, linesOf(devices)).then(take)}
      onClose={props.onClose}
      {...shown}
    >
      <Field
        label="Account: the name or the id of the device, as its topics have it"
        value={account}
        onValue={setAccount}
        isFocused
        required
        {...plain}
      />
      <Field
        label="Further devices of a gateway, one on each line. A single device leaves this empty."
        value={devices}
        onValue={setDevices}
        rows={3}
        {...plain}
      />
    </FormDialog>
  );
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export function RotateDialog({
  credential: { account, device_id },
  ...props
}: Props & { credential: Credential }) {
  const { client } = useServices();
  const { take, shown } = useIssued(props);
  return (
    <FormDialog
      title={`Rotate the secret of ${account}?`}
      submit="Rotate"
      busyLabel="Rotating…"
      tone="grave"
      isCareful
      words={words}
      onSubmit={() => rotateCredential(client, device_id).then(take)}
      onClose={props.onClose}
      {...shown}
    >
      <p>
        The present secret is invalid at once. A device that is connected with it is disconnected within half
        a minute. It connects again after it has the new secret.
      </p>
    </FormDialog>
  );
}

export function RevokeDialog({
  credential: { account, device_id, devices },
  onDone,
  onClose,
}: Omit<Props, 'mqtt'> & { credential: Credential }) {
  const { client } = useServices();
  return (
    <FormDialog
      title={`Revoke the credential of ${account}?`}
      submit="Revoke"
      busyLabel="Revoking…"
      tone="grave"
      isCareful
      words={words}
      onSubmit={() => revokeCredential(client, device_id).then(onDone)}
      onClose={onClose}
    >
      <p>
        Its secret is invalid at once. A device that is connected with it is disconnected within half a
        minute. Its measurements stay. To let it back in, issue a new credential.
      </p>
      {devices.length > 0 && (
        <p class="dialog-warning">It is a gateway: {devices.join(', ')} can no longer publish through it.</p>
      )}
    </FormDialog>
  );
}

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

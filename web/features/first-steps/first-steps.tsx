import { useState } from 'preact/hooks';
import { problemWords, toProblem } from '../../api/request.ts';
import { Slot } from '../../kit/slots.tsx';
import { useQuery, useServices } from '../../state/hooks.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { Copyable } from '../shared/copy.tsx';
import { EXAMPLE, NEXT_LINE, PAYLOAD, publishCommand, quote } from '../shared/publish-command.ts';
import './first-steps.css';
import type { Problem } from '../../api/request.ts';
import type { Mqtt } from '../../api/types.ts';

/** Renders ways to send a first value: a button, and commands for HTTP and MQTT. */
export function FirstSteps() {
  const { client, session } = useServices();
  const { canLeave } = session.state.value;
  const { data: ingest } = useQuery('first-steps', (signal) => client.ingest(signal));
  return (
    <>
      <TestValue />
      <h3>Over HTTP</h3>
      <Copyable
        text={curlCommand({ origin: location.origin, needsToken: canLeave })}
        what="Command for HTTP"
      />
      {canLeave && (
        <p>
          Replace <code>TOKEN</code> with a token of the scope ingest.
        </p>
      )}
      {ingest?.mqtt && <OverMqtt mqtt={ingest.mqtt} />}
      {ingest?.auto_register === false && <BirthFirst />}
      <p>
        Or start simulated devices with <code>npm run simulator</code>. The{' '}
        <a class="link" href="/docs/" data-native>
          manual
        </a>{' '}
        has a tutorial for your first sensor.
      </p>
    </>
  );
}

const OverMqtt = ({ mqtt }: { mqtt: Mqtt }) => (
  <>
    <h3>Over MQTT</h3>
    <Copyable text={publishCommand(mqtt, { hostname: location.hostname })} what="Command for MQTT" />
    {!mqtt.embedded && <p>This is the address by which Millrace reaches the broker. Yours may differ.</p>}
    {mqtt.credentials && <Account isEmbedded={mqtt.embedded} />}
    {mqtt.tls && (
      <p>
        <code>ca.pem</code> is the certificate of the authority that signed the certificate of the broker.
      </p>
    )}
  </>
);

const Account = ({ isEmbedded }: { isEmbedded: boolean }) => (
  <p>
    The broker demands an account and its secret.
    {isEmbedded && <Slot name="stepsAccount" />}
  </p>
);

const BirthFirst = () => (
  <p>
    <code>AUTO_REGISTER</code> is off here. A device must publish a birth before its first measurement.
    Otherwise its measurements are refused as <code>unknown_device</code>.
  </p>
);

type Attempt = { state: 'idle' | 'busy' | 'stored' } | { state: 'failed'; problem: Problem };

/** Renders a button that sends one measurement from this page. */
function TestValue() {
  const { client } = useServices();
  const may = useMay('ingest');
  const [attempt, setAttempt] = useState<Attempt>({ state: 'idle' });
  const isBusy = attempt.state === 'busy';

  async function send() {
    if (isBusy) return;
    setAttempt({ state: 'busy' });
    await client.submit(EXAMPLE.device, EXAMPLE.measurement).then(
      () => setAttempt({ state: 'stored' }),
      (error) => setAttempt({ state: 'failed', problem: toProblem(error) }),
    );
  }

  return (
    <>
      <p class="first-steps-send">
        <button
          type="button"
          class="button main-button"
          disabled={!may}
          aria-disabled={isBusy}
          aria-describedby="test-value-note"
          onClick={send}
        >
          {isBusy ? 'Sending…' : 'Send a test value'}
        </button>
        <span id="test-value-note">
          {may
            ? `21.5 of the sensor ${EXAMPLE.measurement.sensor_id} of the device ${EXAMPLE.device}.`
            : scopeText('Send a test value', 'ingest')}
        </span>
      </p>
      <div role="status">
        {attempt.state === 'stored' && <p class="first-steps-stored">✓ Stored. It appears in a moment.</p>}
        {attempt.state === 'failed' && <NotStored problem={attempt.problem} />}
      </div>
    </>
  );
}

function NotStored({ problem }: { problem: Problem }) {
  const { title, advice } = problemWords(problem);
  return (
    <p class="first-steps-failed">
      <strong>{title}.</strong> {advice}
    </p>
  );
}

/** Returns the command that sends a measurement over HTTP. @param options `origin`: origin of the API */
export function curlCommand({ origin, needsToken }: { origin: string; needsToken: boolean }): string {
  const address = `${origin}/api/v1/measurements?device=${EXAMPLE.device}`;
  return [
    `curl ${quote(address)}`,
    ...(needsToken ? [`-H ${quote('Authorization: Bearer TOKEN')}`] : []),
    `-H ${quote('Content-Type: application/json')}`,
    `-d ${quote(PAYLOAD)}`,
  ].join(NEXT_LINE);
}

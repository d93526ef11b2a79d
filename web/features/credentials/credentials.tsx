import { useState } from 'preact/hooks';
import type { Zone } from '../../format.ts';
import { formatDateTime, formatZone, NOTHING } from '../../format.ts';
import { OtherZone } from '../../kit/figure.tsx';
import { Pager, usePages } from '../../kit/list-controls.tsx';
import { Notice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { deviceHref } from '../../routes.ts';
import { useQuery, useServices, useTitle } from '../../state/hooks.ts';
import { rowsOf } from '../../state/lists.ts';
import { useFiguresAlone } from '../../state/live.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { readCredentials } from './api.ts';
import { IssueDialog, RevokeDialog, RotateDialog } from './dialogs.tsx';
import '../../kit/tables.css';
import './credentials.css';
import type { Mqtt } from '../../api/types.ts';
import type { Credential } from './api.ts';

const PAGE_ROWS = 50;

export function CredentialsView() {
  const may = useMay('admin');
  useFiguresAlone();
  useTitle('Credentials');
  if (may) return <Accounts />;
  return (
    <Notice title="Your token does not allow this" tone="warn">
      <p>{scopeText('Credentials', 'admin')} Sign out, and sign in with such a token.</p>
    </Notice>
  );
}

/** The open dialog. */
type Asked = { action: 'issue' } | { action: 'rotate' | 'revoke'; credential: Credential };

function Accounts() {
  const { client, router } = useServices();
  const { query } = router.place.value;
  const [asked, setAsked] = useState<Asked | null>(null);
  const [message, setMessage] = useState('');
  const cursor = query.get('cursor');
  const { data, problem, loading, slow, reload } = useQuery(`credentials ${cursor}`, (signal) =>
    readCredentials(client, { limit: PAGE_ROWS, cursor }, signal),
  );
  const { data: pipeline } = useQuery('credentials-broker', (signal) => client.pipeline(signal));
  const pages = usePages({ next: loading ? undefined : data?.next });
  const mqtt = pipeline?.ingest.mqtt ?? null;
  const items = rowsOf(data, loading);

  const changed = (text: string) => {
    setMessage(text);
    reload();
  };
  const close = () => setAsked(null);

  return (
    <>
      <div class="title">
        <div>
          <h1>Credentials</h1>
          <p class="lead">
            Accounts of devices at the broker. A device signs in with its account and its secret. It may
            publish and subscribe to its own topics.
          </p>
        </div>
        <button type="button" class="button main-button" onClick={() => setAsked({ action: 'issue' })}>
          Issue a credential …
        </button>
      </div>
      {mqtt && <BrokerNote mqtt={mqtt} />}
      <div role="status">{message !== '' && <p class="credentials-message">{message}</p>}</div>
      <section class="panel" aria-label="Accounts" id="accounts">
        {slow && <SlowLine />}
        {problem ? (
          <ProblemNotice problem={problem} onRetry={problem.code === 'bad_cursor' ? pages.onFirst : reload} />
        ) : items?.length === 0 && !cursor && !data?.next ? (
          <Notice title="No device has a credential">
            <p>Issue one to a device before it connects.</p>
          </Notice>
        ) : (
          <AccountTable items={items} busy={loading} onAsk={setAsked} />
        )}
        {items && !problem && (cursor || data?.next || items.length > 0) && (
          <Pager what="account" shown={items.length} {...pages} />
        )}
      </section>
      {asked?.action === 'issue' && (
        <IssueDialog mqtt={mqtt} onIssued={() => changed('A credential is issued.')} onClose={close} />
      )}
      {asked?.action === 'rotate' && (
        <RotateDialog
          credential={asked.credential}
          mqtt={mqtt}
          onRotated={() => changed(`The secret of ${asked.credential.account} is rotated.`)}
          onClose={close}
        />
      )}
      {asked?.action === 'revoke' && (
        <RevokeDialog
          credential={asked.credential}
          onRevoked={() => {
            changed(`The credential of ${asked.credential.account} is revoked.`);
            close();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

/** Renders a warning if the broker does not use these accounts. */
function BrokerNote({ mqtt }: { mqtt: Mqtt }) {
  if (!mqtt.embedded) {
    return (
      <p class="slow">
        The external broker does not read these accounts by itself.{' '}
        <code>npm run credentials -- mosquitto</code> writes them as files for Mosquitto.
      </p>
    );
  }
  if (mqtt.credentials) return null;
  return (
    <p class="slow">
      <code>MQTT_AUTH</code> is off, so the broker accepts every client without a credential.
    </p>
  );
}

function AccountTable({
  items,
  busy,
  onAsk,
}: {
  items: Credential[] | null;
  busy: boolean;
  onAsk: (asked: Asked) => void;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  return (
    <table class="plain stacks accounts" aria-busy={busy}>
      <caption class="visually-hidden">Accounts with a credential</caption>
      <thead>
        <tr>
          <th scope="col">Account</th>
          <th scope="col">Further devices</th>
          <th scope="col" class="col-issued">
            Issued {formatZone(zone, Date.now())}
          </th>
          <th scope="col" class="col-issued">
            Last new secret
          </th>
          <th scope="col" class="col-actions">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items
          ? items.map((credential) => (
              <AccountRow key={credential.device_id} credential={credential} zone={zone} onAsk={onAsk} />
            ))
          : Array.from({ length: 6 }, (_, row) => (
              <tr key={row} class="waiting" aria-hidden="true">
                <td colSpan={5}>
                  <span class="bar bar-long" />
                </td>
              </tr>
            ))}
      </tbody>
    </table>
  );
}

const AccountRow = ({
  credential,
  zone,
  onAsk,
}: {
  credential: Credential;
  zone: Zone;
  onAsk: (asked: Asked) => void;
}) => {
  const { account, device_id, devices, issued_at, changed_at } = credential;
  return (
    <tr>
      <th scope="row" class="whole">
        <a class="link" href={deviceHref(device_id)}>
          {account}
        </a>
      </th>
      <td class="whole" title={devices.join(', ')}>
        {devices.length === 0 ? <span class="quiet">{NOTHING}</span> : devices.join(', ')}
      </td>
      <td class="col-issued">
        <time datetime={issued_at}>{formatDateTime(Date.parse(issued_at), zone)}</time>
        <OtherZone ts={Date.parse(issued_at)} />
      </td>
      <td class="col-issued">
        <time datetime={changed_at}>{formatDateTime(Date.parse(changed_at), zone)}</time>
        <OtherZone ts={Date.parse(changed_at)} />
      </td>
      <td class="col-actions whole">
        <button type="button" class="button" onClick={() => onAsk({ action: 'rotate', credential })}>
          Rotate …<span class="visually-hidden"> {account}</span>
        </button>
        <button type="button" class="button" onClick={() => onAsk({ action: 'revoke', credential })}>
          Revoke …<span class="visually-hidden"> {account}</span>
        </button>
      </td>
    </tr>
  );
};

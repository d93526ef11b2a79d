import { useState } from 'preact/hooks';
import type { Zone } from '../../format.ts';
import { formatDateTime, formatZone, NOTHING } from '../../format.ts';
import { OtherZone } from '../../kit/figure.tsx';
import { Pager, usePages } from '../../kit/list-controls.tsx';
import { Notice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { Table } from '../../kit/table.tsx';
import { deviceHref } from '../../routes.ts';
import { useQuery, useServices, useTitle } from '../../state/hooks.ts';
import { rowsOf } from '../../state/lists.ts';
import { useFiguresAlone } from '../../state/live.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { readCredentials } from './api.ts';
import { IssueDialog, RevokeDialog, RotateDialog } from './dialogs.tsx';
import '../shared/tables.css';
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
  const { data: ingest } = useQuery('credentials-broker', (signal) => client.ingest(signal));
  const pages = usePages({ next: loading ? undefined : data?.next });
  const mqtt = ingest?.mqtt ?? null;
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
          Issue a credential…
        </button>
      </div>
      {mqtt && <BrokerNote mqtt={mqtt} />}
      <div role="status">{message !== '' && <p class="flash-message">{message}</p>}</div>
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
        <IssueDialog mqtt={mqtt} onDone={() => changed('A credential is issued.')} onClose={close} />
      )}
      {asked?.action === 'rotate' && (
        <RotateDialog
          credential={asked.credential}
          mqtt={mqtt}
          onDone={() => changed(`The secret of ${asked.credential.account} is rotated.`)}
          onClose={close}
        />
      )}
      {asked?.action === 'revoke' && (
        <RevokeDialog
          credential={asked.credential}
          onDone={() => {
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
    <Table
      class="plain stacks account-table"
      caption="Accounts with a credential"
      rows={items}
      keyOf={({ device_id }) => device_id}
      aria-busy={busy}
      columns={[
        {
          label: 'Account',
          class: 'whole',
          isName: true,
          cell: ({ account, device_id }) => (
            <a class="link" href={deviceHref(device_id)}>
              {account}
            </a>
          ),
        },
        {
          label: 'Further devices',
          class: 'whole',
          attributes: ({ devices }) => ({ title: devices.join(', ') }),
          cell: ({ devices }) => devices.join(', ') || <span class="quiet">{NOTHING}</span>,
        },
        {
          label: `Issued ${formatZone(zone, Date.now())}`,
          class: 'col-issued',
          width: '12rem',
          cell: ({ issued_at }) => <When time={issued_at} zone={zone} />,
        },
        {
          label: 'Last new secret',
          class: 'col-issued',
          width: '12rem',
          cell: ({ changed_at }) => <When time={changed_at} zone={zone} />,
        },
        {
          label: 'Actions',
          isQuiet: true,
          class: 'col-actions whole',
          width: '15rem',
          cell: (credential) => (
            <>
              <button type="button" class="button" onClick={() => onAsk({ action: 'rotate', credential })}>
                Rotate…<span class="visually-hidden"> {credential.account}</span>
              </button>
              <button type="button" class="button" onClick={() => onAsk({ action: 'revoke', credential })}>
                Revoke…<span class="visually-hidden"> {credential.account}</span>
              </button>
            </>
          ),
        },
      ]}
    />
  );
}

const When = ({ time, zone }: { time: string; zone: Zone }) => (
  <>
    <time datetime={time}>{formatDateTime(Date.parse(time), zone)}</time>
    <OtherZone ts={Date.parse(time)} />
  </>
);

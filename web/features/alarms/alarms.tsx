import { useState } from 'preact/hooks';
import { problemText } from '../../api/request.ts';
import { Pager, usePages } from '../../kit/list-controls.tsx';
import { Notice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { Table } from '../../kit/table.tsx';
import { withQuery } from '../../routes.ts';
import { useQuery, useServices, useTitle } from '../../state/hooks.ts';
import { useFollowed } from '../../state/live.ts';
import { useMay } from '../../state/session.ts';
import { useStale } from '../../state/verdict.ts';
import { plainScale } from '../../units.ts';
import { FormDialog } from '../shared/form.tsx';
import { limitScale } from '../shared/limits.ts';
import { ActDialog, AlarmTable } from './alarm-table.tsx';
import { readRules, removeRule, testAlarmDelivery } from './api.ts';
import { showNotification, useAlarmSettings } from './open-alarms.ts';
import { conditionText } from './rule-fields.ts';
import { RuleForm } from './rule-form.tsx';
import { scopeKey, useAlarms, useScopeUnits } from './state.ts';
import '../shared/tables.css';
import './alarms.css';
import type { Act } from './alarm-table.tsx';
import type { Alarm, AlarmRule } from './api.ts';

const PAGE_ROWS = 50;

const NO_RULES: AlarmRule[] = [];

const STATES = { open: 'Open', cleared: 'Cleared', all: 'All' };
const SEVERITIES = { '': 'Any severity', critical: 'Critical', warning: 'Warning', info: 'Info' };

export function AlarmsView() {
  const { client, router } = useServices();
  const { query } = router.place.value;
  const mayAct = useMay('admin');
  const [message, setMessage] = useState('');
  const [asked, setAsked] = useState<{ act: Act; alarms: Alarm[] } | null>(null);
  useTitle('Alarms');
  const state = query.get('state') ?? 'open';
  const severity = query.get('severity');
  const cursor = query.get('cursor');
  const { data, problem, loading, slow, reload } = useAlarms({ state, severity, cursor, limit: PAGE_ROWS });
  useFollowed(data?.items.filter((alarm) => alarm.state === 'open') ?? []);
  const rules = useQuery('alarm-rules', (signal) => readRules(client, signal));
  const pages = usePages({ next: loading ? undefined : data?.next });
  const stale = useStale();
  const isPart = cursor !== null || (data !== null && data.next !== null);

  return (
    <>
      <div class="title">
        <div>
          <h1>Alarms</h1>
          <p class="lead">Each row is a time range in which a sensor met the condition of a rule.</p>
        </div>
        <Signals />
      </div>
      <div class="alarm-bar">
        <AlarmFilters state={state} severity={severity} />
        <p class="alarm-message" role="status">
          {message}
        </p>
      </div>
      <section class="panel" aria-label="Alarms" id="alarms" data-stale={stale !== null}>
        {slow && <SlowLine />}
        {problem ? (
          <ProblemNotice problem={problem} onRetry={problem.code === 'bad_cursor' ? pages.onFirst : reload} />
        ) : data?.items.length === 0 ? (
          // Until the next answer arrives, `data` holds the alarms of the previous filter.
          !loading && (
            <Notice title={noneText({ state, severity, isPart, isOld: stale !== null })}>
              <p>Rules find alarms in measurements.</p>
            </Notice>
          )
        ) : (
          data && (
            <AlarmTable
              alarms={data.items}
              isOpenOnly={state === 'open'}
              mayAct={mayAct}
              onAct={(act, alarms) => setAsked({ act, alarms })}
            />
          )
        )}
        {data && !problem && (cursor || data.next) && (
          <Pager what="alarm" shown={data.items.length} {...pages} />
        )}
      </section>
      <Rules mayAct={mayAct} rules={rules} />
      {asked && (
        <ActDialog
          {...asked}
          onDone={(done) => {
            setAsked(null);
            setMessage(done);
            reload();
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}

/**
 * Returns the text for an empty list of alarms.
 *
 * @param list `isPart`: the list has other pages; `isOld`: the list is the last known one, because no values arrive
 */
export function noneText({
  state,
  severity,
  isPart,
  isOld,
}: {
  state: string;
  severity: string | null;
  isPart: boolean;
  isOld: boolean;
}): string {
  if (isPart) return 'None on this page';
  const alarm = severity ? `${severity} alarm` : 'alarm';
  return state === 'open' ? `No ${alarm} ${isOld ? 'was' : 'is'} open` : `There was no ${alarm}`;
}

function AlarmFilters({ state, severity }: { state: string; severity: string | null }) {
  const { router } = useServices();
  const place = router.place.value;
  return (
    <nav class="alarm-filters" aria-label="Filter">
      <span class="choice">
        {Object.entries(STATES).map(([value, label]) => (
          <a
            key={value}
            href={withQuery(place, { state: value, cursor: null })}
            aria-current={value === state}
          >
            {label}
          </a>
        ))}
      </span>
      <span class="choice">
        {Object.entries(SEVERITIES).map(([value, label]) => (
          <a
            key={value}
            href={withQuery(place, { severity: value || null, cursor: null })}
            aria-current={value === (severity ?? '')}
          >
            {label}
          </a>
        ))}
      </span>
    </nav>
  );
}

function Signals() {
  const settings = useAlarmSettings();
  const { signals } = settings.choice.value;
  const [isRefused, setRefused] = useState(false);
  async function change(name: 'sound' | 'notification', isOn: boolean) {
    const isAllowed = name === 'sound' || !isOn || (await tryNotification());
    setRefused(!isAllowed);
    settings.change({ signals: { ...settings.choice.peek().signals, [name]: isOn && isAllowed } });
  }
  return (
    <fieldset class="alarm-signals">
      <legend class="visually-hidden">How new alarms are reported</legend>
      {(['sound', 'notification'] as const).map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={signals[name]}
            onChange={(event) => void change(name, event.currentTarget.checked)}
          />
          {name === 'sound' ? 'Sound' : 'Notifications'}
        </label>
      ))}
      <p class="alarm-signals-refusal small" role="status">
        {isRefused && 'This browser shows no notifications of this page. Choose Sound instead.'}
      </p>
    </fieldset>
  );
}

/** @returns whether this browser shows notifications, which only a shown notification can prove */
async function tryNotification(): Promise<boolean> {
  await globalThis.Notification?.requestPermission();
  return showNotification('Millrace', { body: 'New alarms are shown like this.', tag: 'millrace' });
}

function Rules({
  mayAct,
  rules: { data, problem, reload },
}: {
  mayAct: boolean;
  rules: ReturnType<typeof useQuery<{ items: AlarmRule[] }>>;
}) {
  const { client, router } = useServices();
  const { query } = router.place.value;
  const device = query.get('device');
  const fromChart = device === null ? null : { scope: { device, sensor: query.get('sensor') ?? '' } };
  const [asked, setAsked] = useState<Partial<AlarmRule> | null>(fromChart);
  const [removed, setRemoved] = useState<AlarmRule | null>(null);
  const [message, setMessage] = useState('');
  const items = data?.items ?? NO_RULES;

  async function testDelivery() {
    try {
      const { items: results } = await testAlarmDelivery(client);
      const words = results.map(({ target, error }) => `${target}: ${error ?? 'delivered'}`);
      setMessage(words.length > 0 ? words.join('; ') : 'The settings name no receiver.');
    } catch (error) {
      setMessage(problemText(error));
    }
  }

  return (
    <section class="panel" aria-label="Rules" id="rules">
      <div class="rules-title">
        <h2>Rules</h2>
        {mayAct && (
          <>
            <button type="button" class="button" onClick={() => void testDelivery()}>
              Test delivery
            </button>
            <button type="button" class="button main-button" onClick={() => setAsked({})}>
              Add a rule…
            </button>
          </>
        )}
      </div>
      {message !== '' && (
        <p class="rule-message" role="status">
          {message}
        </p>
      )}
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {data && items.length === 0 && (
        <Notice title="There is no rule">
          <p>A rule names sensors and a condition. The form shows when it would have fired.</p>
        </Notice>
      )}
      {items.length > 0 && (
        <RuleTable rules={items} mayAct={mayAct} onChange={setAsked} onRemove={setRemoved} />
      )}
      {removed && (
        <RemoveDialog
          rule={removed}
          onDone={() => {
            setRemoved(null);
            reload();
          }}
          onClose={() => setRemoved(null)}
        />
      )}
      {asked && mayAct && (
        <RuleForm
          rule={asked}
          onSaved={() => {
            setAsked(null);
            reload();
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </section>
  );
}

function RuleTable({
  rules,
  mayAct,
  onChange,
  onRemove,
}: {
  rules: AlarmRule[];
  mayAct: boolean;
  onChange: (rule: AlarmRule) => void;
  onRemove: (rule: AlarmRule) => void;
}) {
  const { units: choices } = useServices().preferences.choice.value;
  const { units } = useScopeUnits(rules.map(({ scope }) => scope));
  const scaleOf = ({ scope }: AlarmRule) => {
    const known = units.get(scopeKey(scope));
    return known && !known.isMixed ? limitScale(known.unit, choices) : plainScale(null);
  };
  return (
    <Table
      class="plain stacks rule-table"
      rows={rules}
      keyOf={({ rule_id }) => rule_id}
      columns={[
        { label: 'Name', isName: true, cell: ({ name }) => name },
        {
          label: 'Sensors',
          class: 'wraps',
          cell: ({ scope }) =>
            Object.entries(scope)
              .map(([name, value]) => `${name} ${value}`)
              .join(', '),
        },
        {
          label: 'Condition',
          class: 'wraps',
          cell: (rule) => conditionText(rule.condition, scaleOf(rule)),
        },
        { label: 'Severity', class: 'col-severity', width: '8rem', cell: ({ severity }) => severity },
        mayAct && {
          label: 'Actions',
          isQuiet: true,
          class: 'col-acts',
          width: '15rem',
          cell: (rule) => (
            <>
              <button type="button" class="button quiet-button" onClick={() => onChange(rule)}>
                Change…
              </button>
              <button
                type="button"
                class="button quiet-button"
                aria-haspopup="dialog"
                onClick={() => onRemove(rule)}
              >
                Remove…
              </button>
            </>
          ),
        },
      ]}
    />
  );
}

function RemoveDialog({
  rule,
  onDone,
  onClose,
}: {
  rule: AlarmRule;
  onDone: () => void;
  onClose: () => void;
}) {
  const { client } = useServices();
  return (
    <FormDialog
      title={`Remove the rule ${rule.name}?`}
      submit="Remove"
      tone="grave"
      isCareful
      onSubmit={() => removeRule(client, rule.rule_id).then(onDone)}
      onClose={onClose}
    >
      <p>It opens no more alarms. Alarms that it opened stay in the list.</p>
    </FormDialog>
  );
}

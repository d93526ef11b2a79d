import { useEffect, useId, useState } from 'preact/hooks';
import { problemText } from '../../api/request.ts';
import { formatUnit } from '../../format.ts';
import { sensorHref } from '../../routes.ts';
import { useServices } from '../../state/hooks.ts';
import type { Scale } from '../../units.ts';
import { isAsSent } from '../../units.ts';
import { FormDialog } from '../shared/form.tsx';
import { limitScale } from '../shared/limits.ts';
import type { AlarmRule, Backtest } from './api.ts';
import { saveRule, testRule } from './api.ts';
import { BacktestStrip } from './backtest.tsx';
import { ConditionFields, fieldOf, MeasuredSoFar } from './condition-fields.tsx';
import type { Typed } from './rule-fields.ts';
import { PLAIN, ruleOf, scopeOf, typedIn, typedOf, withLimit } from './rule-fields.ts';
import type { ScopeUnit } from './state.ts';
import { scopeKey, useScopeUnits } from './state.ts';

/** Pause in typing before a backtest, in ms. */
const REST_MS = 500;

export function RuleForm({
  rule,
  onSaved,
  onClose,
}: {
  /** the rule to change; `{}`: a new rule */
  rule: Partial<AlarmRule>;
  onSaved: () => void;
  onClose: () => void;
}) {
  const { client } = useServices();
  const id = useId();
  const { typed, scale, unit, scope, setTyped } = useForm(rule);
  const wanted = ruleOf(typed, scale, rule);
  // The backtest needs no name and no text, so it runs before the user has typed them.
  const tested = ruleOf({ ...typed, name: 'test', text: '' }, scale, rule);
  const question = tested && JSON.stringify(tested);
  const { test, refusal } = useBacktest(question);

  async function save() {
    if (!wanted) return;
    await saveRule(client, wanted, rule.rule_id ?? null);
    onSaved();
  }

  const field = fieldOf(typed, setTyped);
  const { kind, device, sensor } = typed;
  // While the user types another sensor, the form requests no values.
  const isKnown = rule.scope?.device === device && rule.scope.sensor === sensor && sensor !== '';
  const known = isKnown && kind !== 'absent' && kind !== 'rate' ? `${id}-known` : undefined;
  return (
    <FormDialog
      title={rule.rule_id ? 'Change the rule' : 'A new rule'}
      submit="Save the rule"
      isWide
      // While the form reads the unit of newly typed sensors, the unit of a typed limit is unknown.
      isReady={wanted !== null && scope === scopeKey(scopeOf(typed))}
      onSubmit={save}
      onClose={onClose}
    >
      <fieldset class="rule-fields">
        <legend>Which sensors</legend>
        <p class="rule-hint small">Fill in at least one. All that is filled in must match.</p>
        {field('device', 'Device', { isFocused: true })}
        {field('sensor', 'Sensor')}
        {field('type', 'Type of sensor')}
        {field('site', 'Site')}
        {isKnown && (
          <a class="link wide-field" href={sensorHref(device, sensor)}>
            Back to the chart of {device} · {sensor}
          </a>
        )}
      </fieldset>
      <ConditionFields {...{ kind, known, field }} note={unitText(unit, scale)} unit={scale.unit}>
        {known && <MeasuredSoFar id={known} device={device} sensor={sensor} />}
      </ConditionFields>
      {test && (
        <BacktestStrip
          result={test.result}
          isOld={test.question !== question}
          scale={scale}
          onLimit={(next) => setTyped(withLimit(typed, next, scale, rule))}
        />
      )}
      <fieldset class="rule-fields">
        <legend>Then</legend>
        {field('name', 'Name', { required: true })}
        {field('severity', 'Severity', { options: SEVERITIES })}
        {field('text', 'What to do', { class: 'dialog-field wide-field' })}
      </fieldset>
      {refusal !== '' && (
        <p class="dialog-problem" role="alert">
          {refusal}
        </p>
      )}
    </FormDialog>
  );
}

const SEVERITIES = ['info', 'warning', 'critical'].map((severity) => [severity, severity]);

/**
 * `scale`: scale of the typed limits; `unit`: sent unit, null: unknown; `scope`: `scopeKey` of the sensors with that
 * unit, null: unknown yet
 */
type Form = { typed: Typed; scale: Scale; unit: ScopeUnit | null; scope: string | null };

/** Keeps the typed texts, and the scale of their limits. */
function useForm(rule: Partial<AlarmRule>) {
  const { units } = useServices().preferences.choice.value;
  const [form, setForm] = useState<Form>(() => ({
    typed: typedOf(rule),
    scale: PLAIN,
    unit: null,
    scope: null,
  }));
  const setTyped = (next: Typed) => setForm((now) => ({ ...now, typed: next }));
  const { sent, sentScope } = useUnit(form.typed);
  useEffect(() => {
    if (sentScope === null) return;
    const next = !sent || sent.isMixed ? PLAIN : limitScale(sent.unit, units);
    setForm((now) => ({ typed: typedIn(next, now, rule), scale: next, unit: sent, scope: sentScope }));
  }, [sentScope, sent?.unit, sent?.isMixed, units]);

  return { ...form, setTyped };
}

/**
 * Tests a rule after a pause in typing.
 *
 * @param question the rule as JSON; null: it is not complete
 * @returns `refusal`: why the API refuses the rule, as text
 */
function useBacktest(question: string | null) {
  const { client } = useServices();
  const [test, setTest] = useState<{ question: string; result: Backtest } | null>(null);
  const [refusal, setRefusal] = useState('');
  useEffect(() => {
    if (question === null) return setTest(null);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      testRule(client, JSON.parse(question), abort.signal).then(
        (result) => {
          setTest({ question, result });
          setRefusal('');
        },
        (error) => {
          if (abort.signal.aborted) return;
          // The figures of the earlier limits do not apply to the new limits.
          setTest(null);
          setRefusal(problemText(error));
        },
      );
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, question]);
  return { test, refusal };
}

/**
 * Reads the unit of the typed sensors after a pause in typing.
 *
 * @returns `sent`: the unit, null: there are no such sensors; `sentScope`: `scopeKey` of these sensors, null: unknown yet
 */
function useUnit(typed: Typed): { sent: ScopeUnit | null; sentScope: string | null } {
  const scope = scopeOf(typed);
  const key = scopeKey(scope);
  const [meant, setMeant] = useState(scope);
  useEffect(() => {
    const timer = setTimeout(() => setMeant(scope), REST_MS);
    return () => clearTimeout(timer);
  }, [key]);
  const { units, loading } = useScopeUnits(Object.keys(meant).length > 0 ? [meant] : NO_SCOPES);
  return { sent: units.get(scopeKey(meant)) ?? null, sentScope: loading ? null : scopeKey(meant) };
}

const NO_SCOPES: never[] = [];

function unitText(sent: ScopeUnit | null, scale: Scale): string {
  if (sent?.isMixed) {
    return 'These sensors send several units. Millrace compares each value with the limit in the unit of its own sensor.';
  }
  if (scale === PLAIN) return 'Limits are in the unit that the sensor sends.';
  return isAsSent(scale)
    ? ''
    : `Millrace stores limits in ${formatUnit(sent?.unit)}, the unit that the sensor sends.`;
}

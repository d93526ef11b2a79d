import { randomUUID } from 'node:crypto';
import type { DeviceBytes } from '../../../schema/ids.ts';
import type { Outbox } from '../../ingest/outbox.ts';
import type { Context } from '../../observability/index.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { AlarmActions } from './actions.ts';
import { type AlarmItem, alarmItem } from './alarm-item.ts';
import { createBacktest } from './backtest.ts';
import { Deliveries } from './delivery/deliveries.ts';
import { createReceivers } from './delivery/receivers.ts';
import { createEvaluation, type EvaluationDeps } from './evaluating.ts';
import type { EvaluationScheduler } from './evaluation/evaluation-scheduler.ts';
import { type AlarmMetrics, declareAlarmMetrics } from './metrics.ts';
import { type AlarmMessage, AlarmReports } from './reports.ts';
import { RuleRegistry } from './rules/rule-registry.ts';
import { createSampleObserver } from './sample-observer.ts';
import { ALARM_SETTINGS } from './settings.ts';
import type { Alarm, AlarmStore } from './store/episodes.ts';
import type { AlarmTables } from './store/index.ts';
import { createSubjects } from './subjects.ts';

const STOP_WITHIN_MS = 3000;

/**
 * Alarm rules, the episodes in which sensors fulfill them, and the delivery of alarms. Episodes are computed from committed samples by
 * their time of measurement, never by their order of arrival. `evaluation/windows.ts` computes episodes,
 * `evaluation/evaluation-scheduler.ts` decides when, and `recovery.ts` handles crashes. `absence.ts` handles silent sensors,
 * `open-episodes.ts` open episodes that no sample of this process ends.
 */
export function createAlarms(
  context: Context,
  deps: EvaluationDeps & {
    publish: (message: AlarmMessage) => void;
    /** null: nothing is streamed out */
    outbox: Outbox | null;
  },
) {
  const { config, clock, logger, metrics } = context;
  const { store, tables, reading, ingest, publish, outbox, periods } = deps;
  const groups = config.retention.latestGroups;
  const owner = `${config.mqtt.clientId}:${randomUUID()}`;
  const rules = new RuleRegistry({ store: tables.rules, clock, logger, everyMs: periods.rules });
  const subjects = createSubjects(store, groups);
  const toItem = (alarm: Alarm) => alarmItem(alarm, rules.textOf(alarm));

  const open = () => openAlarms(tables.episodes, groups);
  const alarmMetrics = declareAlarmMetrics(metrics.declare);
  const deliveries = createDeliveries(context, {
    tables,
    open,
    toItem,
    owner,
    alarmMetrics,
    everyMs: periods.deliveries,
  });
  const reports = new AlarmReports({ deliveries, outbox, groups, metrics: alarmMetrics, publish, toItem });
  const evaluation = createEvaluation(context, { ...deps, rules, subjects, reports, owner, alarmMetrics });
  const { scheduler, retry, recovery, openEpisodes, absence } = evaluation;
  const actions = new AlarmActions({ episodes: tables.episodes, deliveries, reports, clock });
  const observer = createSampleObserver({ rules, scheduler, recovery, clock });

  rules.onChange((changed) => {
    ingest.setSampleObserver(rules.isEmpty ? null : observer);
    scheduler.renewRules();
    void openEpisodes
      .endOld(changed)
      .catch((error) =>
        logger.warn({ reason: String(error) }, 'the episodes of a changed rule could not be looked at'),
      );
  });

  declareGauges(metrics, { rules, scheduler, deliveries });

  return {
    rules,
    /** Pairs of a sensor and a rule that wait for evaluation, or are being evaluated. */
    get waiting() {
      return scheduler.waiting;
    },
    backtest: createBacktest({ reading, subjects, clock }),
    open,
    toItem,
    testDelivery: ((alarm) => deliveries.test(alarm)) satisfies Deliveries['test'],
    /** Evaluates stored samples since the start of the rule's newest version, which may be in the past. Ends early when alarms stop. */
    async evaluatePast(ruleId: string) {
      const rule = rules.find(ruleId);
      const version = rule?.versions.at(-1);
      if (!rule || !version) return;
      for await (const subject of subjects.inScope(version)) {
        if (!(await recovery.waitForRoom())) return;
        scheduler.evaluate(subject, rule, { from: version.since, to: clock() });
      }
    },

    /** `device`: 16 bytes of the id of a retired device. */
    endOfDevice: (device: DeviceBytes) => openEpisodes.endOfDevice(device),

    acknowledge: ((key, given) => actions.acknowledge(key, given)) satisfies AlarmActions['acknowledge'],
    shelve: ((key, given) => actions.shelve(key, given)) satisfies AlarmActions['shelve'],

    async start() {
      await rules.start();
      recovery.start();
      await absence.start();
      deliveries.start();
    },

    /** Waits at most three seconds for the evaluation of all committed samples. */
    async stop() {
      rules.stop();
      ingest.setSampleObserver(null);
      retry.abort();
      await scheduler.stop(STOP_WITHIN_MS);
      await Promise.all([recovery.stop(), absence.stop(), deliveries.stop()]);
    },
  };
}

export type Alarms = ReturnType<typeof createAlarms>;

async function openAlarms(episodes: AlarmStore, groups: number): Promise<Alarm[]> {
  const alarms: Alarm[] = [];
  for (let group = 0; group < groups; group++) {
    const found = await Promise.all((await episodes.open(group)).map((key) => episodes.find(key)));
    for (const alarm of found) if (alarm && alarm.cleared === null && !alarm.withdrawn) alarms.push(alarm);
  }
  return alarms;
}

function createDeliveries(
  { config, clock, logger }: Context,
  {
    tables,
    open,
    toItem,
    owner,
    alarmMetrics,
    everyMs,
  }: {
    tables: AlarmTables;
    open: () => Promise<Alarm[]>;
    toItem: (alarm: Alarm) => AlarmItem;
    owner: string;
    alarmMetrics: AlarmMetrics;
    everyMs: number;
  },
) {
  return new Deliveries({
    receivers: createReceivers(config.of(ALARM_SETTINGS), { clock, toItem }),
    store: tables.deliveries,
    episodes: tables.episodes,
    leases: tables.progress,
    open,
    clock,
    logger,
    owner,
    everyMs,
    onResult: (target, result) => alarmMetrics.alarmDeliveries.inc({ target, result }),
    onDelivered: (seconds) => alarmMetrics.alarmDeliverySeconds.observe(seconds),
  });
}

function declareGauges(
  metrics: Metrics,
  {
    rules,
    scheduler,
    deliveries,
  }: { rules: RuleRegistry; scheduler: EvaluationScheduler; deliveries: Deliveries },
) {
  metrics.gauge(
    'iot_alarm_waiting',
    'Pairs of a sensor and an alarm rule that wait for evaluation, or are being evaluated',
    () => scheduler.waiting,
  );
  metrics.gauge('iot_alarm_rules', 'Alarm rules', () => rules.list().length);
  metrics.gauge(
    'iot_alarm_deliveries_pending',
    'Deliveries of alarms that wait: all of them in the process that holds their lease, elsewhere those that it sends',
    () => deliveries.pending,
  );
}

import { randomUUID } from 'node:crypto';
import { MillraceError } from '../../common/errors.ts';
import { groupOf } from '../../schema/ids.ts';
import { DAY_MS, dayOf } from '../../schema/rules.ts';
import type { Reading } from '../history/reading/index.ts';
import type { SampleObserver } from '../ingest/handlers/measurement-store.ts';
import type { Ingest } from '../ingest/index.ts';
import type { Noted, Outbox } from '../ingest/outbox.ts';
import type { Context, UnwatchedTime } from '../observability/index.ts';
import type { Alarm, EpisodeKey } from '../store/alarms/episodes.ts';
import type { ClockGuard } from '../store/clock-guard.ts';
import { changeId, Retry, type Store } from '../store/index.ts';
import { AbsenceWatch } from './absence.ts';
import { type AlarmItem, alarmItem } from './alarm-item.ts';
import { createBacktest } from './backtest.ts';
import { Deliveries } from './delivery/deliveries.ts';
import { createReceivers } from './delivery/receivers.ts';
import { EvaluationScheduler } from './evaluation/evaluation-scheduler.ts';
import { type AlarmChange, type AlarmEventKind, Evaluator } from './evaluation/evaluator.ts';
import { OpenEpisodes } from './open-episodes.ts';
import { Recovery } from './recovery.ts';
import { RuleRegistry } from './rules/rule-registry.ts';
import { createSubjects } from './subjects.ts';

export { createBacktest, MAX_EPISODES, MAX_SENSORS } from './backtest.ts';
export { CONDITION_KINDS, newestOf, RuleDefinition, SEVERITIES, toRule, WantedRule } from './rules/rule.ts';
export { RuleRegistry } from './rules/rule-registry.ts';
export { createSubjects } from './subjects.ts';

/** Age in ms of a late sample. Its day is noted before the acknowledgement, so that its evaluation survives a crash. */
const LATE_MS = 10 * 60_000;

/** Time in ms without an answer from the database after which the process counts as unable to commit samples. */
const AWAY_MS = 1000;

/** In ms. Deliveries wait at least this long while the end of a shelving is changed. Writing the new end takes less time. */
const SHELVING_MS = 10_000;

const STOP_WITHIN_MS = 3000;

export interface AlarmPeriods {
  rules: number;
  absence: number;
  recovery: number;
  deliveries: number;
  /** for the holder of a group's lease, which reads its sensors and open alarms again */
  reread?: number;
  spacing?: number;
  recheck?: number;
}

/** As `/stream` and the topic `iot/live/alarms` send it. */
export type AlarmMessage = { event: AlarmEventKind | 'shelved'; alarm: AlarmItem };

/**
 * Alarm rules, the episodes in which sensors fulfill them, and the delivery of alarms. Episodes are computed from committed samples by
 * their time of measurement, never by their order of arrival. `evaluation/windows.ts` computes episodes,
 * `evaluation/evaluation-scheduler.ts` decides when, and `recovery.ts` handles crashes. `absence.ts` handles silent sensors,
 * `open-episodes.ts` open episodes that no sample of this process ends.
 */
export function createAlarms(
  context: Context,
  deps: {
    store: Store;
    reading: Reading;
    clockGuard: Pick<ClockGuard, 'now'>;
    ingest: Pick<Ingest, 'setSampleObserver' | 'peek'>;
    /** `unwatchedTime`: periods in which no process received samples of devices */
    watch: { watches: () => boolean; unwatchedTime: Pick<UnwatchedTime, 'read'> };
    publish: (message: AlarmMessage) => void;
    /** null: nothing is streamed out */
    outbox: Outbox | null;
    periods: AlarmPeriods;
  },
) {
  const { config, clock, logger, metrics } = context;
  const { store, reading, clockGuard, ingest, watch, publish, outbox, periods } = deps;
  const tables = store.alarms;
  const groups = config.retention.latestGroups;
  const owner = `${config.mqtt.clientId}:${randomUUID()}`;
  const rules = new RuleRegistry({ store: tables.rules, clock, logger, everyMs: periods.rules });
  const subjects = createSubjects(store, groups);
  const toItem = (alarm: Alarm) => alarmItem(alarm, rules.textOf(alarm));

  async function open(): Promise<Alarm[]> {
    const alarms: Alarm[] = [];
    for (let group = 0; group < groups; group++) {
      const found = await Promise.all(
        (await tables.episodes.open(group)).map((key) => tables.episodes.find(key)),
      );
      for (const alarm of found) if (alarm && alarm.cleared === null && !alarm.withdrawn) alarms.push(alarm);
    }
    return alarms;
  }

  const deliveries = new Deliveries({
    receivers: createReceivers(config.alarms, { clock, toItem }),
    store: tables.deliveries,
    episodes: tables.episodes,
    leases: tables.progress,
    open,
    clock,
    logger,
    owner,
    everyMs: periods.deliveries,
    onResult: (target, result) => metrics.alarmDeliveries.inc({ target, result }),
    onDelivered: (seconds) => metrics.alarmDeliverySeconds.observe(seconds),
  });
  /** Outbox entries of changes that are not written yet. */
  const noted: WeakMap<Alarm, Noted[]> = new WeakMap();
  const evaluator = new Evaluator({
    reading,
    episodes: tables.episodes,
    clock: clockGuard,
    historyMs: config.retention.historyDays * DAY_MS,
    maxClockSkewMs: config.ingest.maxClockSkewMs,
    stateOf: subjects.stateOf,
    announce: ({ alarm, kinds }) => announce(alarm, kinds),
  });

  /** Must run before the change itself is written. */
  async function announce(alarm: Alarm, kinds: AlarmEventKind[]) {
    await deliveries.begin(alarm, kinds);
    if (!outbox) return;
    const group = groupOf(alarm.device, groups);
    const notes = kinds.map((event) =>
      outbox.note({ kind: 'alarm', id: changeId(event, alarm), group, event, alarm }),
    );
    noted.set(alarm, await Promise.all(notes));
  }

  /** The alarm and its history must be committed. */
  function report({ alarm, kinds }: Pick<AlarmChange, 'alarm' | 'kinds'>) {
    deliveries.send(alarm);
    for (const each of noted.get(alarm) ?? []) outbox?.send(each);
    for (const kind of kinds) {
      metrics.alarmEvents.inc({ event: kind });
      publish({ event: kind, alarm: toItem(alarm) });
    }
  }

  const scheduler = new EvaluationScheduler({
    evaluator,
    rules,
    clock,
    logger,
    onChange: report,
    onEvaluated(ok, waitedMs) {
      metrics.alarmEvaluations.inc({ ok: String(ok) });
      metrics.alarmEvaluationSeconds.observe(waitedMs / 1000);
    },
    spacingMs: periods.spacing,
    recheckMs: periods.recheck,
  });
  const retry = new Retry({ logger, onRetry: () => metrics.retries.inc() });
  const recovery = new Recovery({
    store: tables.progress,
    retry,
    subjects,
    rules,
    scheduler,
    clock,
    logger,
    // Processes with the ROLE http may share a client id, so each start uses a new name. Other processes notice its end by its silence.
    process: config.role === 'http' ? owner : config.mqtt.clientId,
    groups,
    everyMs: periods.recovery,
  });

  const openEpisodes = new OpenEpisodes({
    episodes: tables.episodes,
    rules,
    subjects,
    scheduler,
    evaluator,
    onChange: report,
    clock,
    groups,
    historyMs: config.retention.historyDays * DAY_MS,
  });
  const absence = new AbsenceWatch({
    store,
    leases: tables.progress,
    rules,
    scheduler,
    takeOverOpenEpisodes: (group) => openEpisodes.takeOver(group),
    peek: ingest.peek,
    receives: config.role !== 'http',
    watches: () => watch.watches() && store.retry.failingForMs < AWAY_MS,
    unwatchedTime: watch.unwatchedTime,
    clock,
    logger,
    owner,
    groups,
    everyMs: periods.absence,
    rereadMs: periods.reread,
  });

  const observer: SampleObserver = {
    note(device, series, seenAt) {
      const before = seenAt === null ? Number.POSITIVE_INFINITY : clock() - LATE_MS;
      const days: Set<number> = new Set();
      for (const { known, times } of series) {
        if (Number(times[0]) >= before || rules.rulesOf(device, known).length === 0) continue;
        for (const ts of times) if (ts < before) days.add(dayOf(ts));
      }
      return days.size === 0 ? undefined : recovery.note(device, days);
    },

    observe(device, series) {
      const before = clock() - LATE_MS;
      for (const { known, times, values } of series) {
        for (const rule of rules.rulesOf(device, known)) {
          if (Number(times[0]) >= before) scheduler.takeSamples(device, known, rule, { times, values });
          else {
            const range = { from: Number(times[0]), to: Number(times[times.length - 1]) };
            scheduler.evaluate({ device, sensor: known }, rule, range);
          }
        }
      }
    },
  };

  rules.onChange((changed) => {
    ingest.setSampleObserver(rules.isEmpty ? null : observer);
    scheduler.renewRules();
    void openEpisodes
      .endOld(changed)
      .catch((error) =>
        logger.warn({ reason: String(error) }, 'the episodes of a changed rule could not be looked at'),
      );
  });

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
    endOfDevice: (device: Buffer) => openEpisodes.endOfDevice(device),

    /** Throws `not_found`. */
    async acknowledge(
      key: EpisodeKey,
      { by, comment }: { by: string; comment: string | null },
    ): Promise<Alarm> {
      const before = await found(key);
      const at = clock();
      const alarm = { ...before, acknowledgedAt: at, acknowledgedBy: by, comment: comment ?? before.comment };
      await announce(alarm, ['acknowledged']);
      await tables.episodes.acknowledge(key, { at, by, comment });
      await tables.episodes.note(key, { at, kind: 'acknowledged', actor: by, comment });
      report({ alarm, kinds: ['acknowledged'] });
      return alarm;
    },

    /** Throws `not_found`. */
    async shelve(
      key: EpisodeKey,
      { by, until, comment }: { by: string; until: number; comment: string | null },
    ): Promise<Alarm> {
      const before = await found(key);
      const alarm = { ...before, shelvedUntil: until };
      const soon = Math.max(until, clock() + SHELVING_MS);
      // Move the deliveries first. If the process ends before it stores the new end, the deliveries are at a time in the future,
      // and are still sent.
      await deliveries.shelve(before, soon);
      await tables.episodes.shelve(key, until);
      // Another process may have stored deliveries at the old end meanwhile.
      await deliveries.shelve(before, until);
      if (soon > until) await deliveries.shelve({ ...before, shelvedUntil: soon }, until);
      await tables.episodes.note(key, { at: clock(), kind: 'shelved', actor: by, comment });
      publish({ event: 'shelved', alarm: toItem(alarm) });
      return alarm;
    },

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

  async function found(key: EpisodeKey) {
    const alarm = await tables.episodes.find(key);
    if (!alarm) throw new MillraceError('not_found', 'There is no such alarm, or it has expired.');
    return alarm;
  }
}

export type Alarms = ReturnType<typeof createAlarms>;

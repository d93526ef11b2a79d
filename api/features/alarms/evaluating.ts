import { DAY_MS } from '../../../schema/rules.ts';
import type { Reading } from '../../history/reading/index.ts';
import type { Ingest } from '../../ingest/index.ts';
import type { Context, UnwatchedTime } from '../../observability/index.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import { Retry, type Store } from '../../store/index.ts';
import { AbsenceWatch } from './absence.ts';
import { EvaluationScheduler } from './evaluation/evaluation-scheduler.ts';
import { Evaluator } from './evaluation/evaluator.ts';
import type { AlarmMetrics } from './metrics.ts';
import { OpenEpisodes } from './open-episodes.ts';
import { Recovery } from './recovery.ts';
import type { AlarmReports } from './reports.ts';
import type { RuleRegistry } from './rules/rule-registry.ts';
import type { AlarmTables } from './store/index.ts';
import type { Subjects } from './subjects.ts';

/** Time in ms without an answer from the database after which the process counts as unable to commit samples. */
const UNANSWERED_MS = 1000;

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

export interface EvaluationDeps {
  store: Store;
  tables: AlarmTables;
  reading: Reading;
  clockGuard: Pick<ClockGuard, 'now'>;
  ingest: Pick<Ingest, 'setSampleObserver' | 'peek'>;
  /** `unwatchedTime`: periods in which no process received samples of devices */
  watch: { watches: () => boolean; unwatchedTime: Pick<UnwatchedTime, 'read'> };
  periods: AlarmPeriods;
}

/** Connects the parts that evaluate rules: after samples, after silence, after crashes, and after changes of rules. */
export function createEvaluation(
  context: Context,
  deps: EvaluationDeps & {
    rules: RuleRegistry;
    subjects: Subjects;
    reports: AlarmReports;
    owner: string;
    alarmMetrics: AlarmMetrics;
  },
) {
  const { config, clock, logger, metrics } = context;
  const { store, tables, reading, clockGuard, ingest, watch, periods } = deps;
  const { rules, subjects, reports, owner, alarmMetrics } = deps;
  const groups = config.retention.latestGroups;
  const historyMs = config.retention.historyDays * DAY_MS;
  const evaluator = new Evaluator({
    reading,
    episodes: tables.episodes,
    clock: clockGuard,
    historyMs,
    maxClockSkewMs: config.ingest.maxClockSkewMs,
    stateOf: subjects.stateOf,
    announce: ({ alarm, kinds }) => reports.announce(alarm, kinds),
  });

  const scheduler = new EvaluationScheduler({
    evaluator,
    rules,
    clock,
    logger,
    onChange: (change) => reports.report(change),
    onEvaluated(ok, waitedMs) {
      alarmMetrics.alarmEvaluations.inc({ ok: String(ok) });
      alarmMetrics.alarmEvaluationSeconds.observe(waitedMs / 1000);
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
    onChange: (change) => reports.report(change),
    clock,
    groups,
    historyMs,
  });
  const absence = new AbsenceWatch({
    store,
    leases: tables.progress,
    rules,
    scheduler,
    takeOverOpenEpisodes: (group) => openEpisodes.takeOver(group),
    peek: ingest.peek,
    receives: config.role !== 'http',
    watches: () => watch.watches() && store.retry.failingForMs < UNANSWERED_MS,
    unwatchedTime: watch.unwatchedTime,
    clock,
    logger,
    owner,
    groups,
    everyMs: periods.absence,
    rereadMs: periods.reread,
  });

  return { scheduler, retry, recovery, openEpisodes, absence };
}

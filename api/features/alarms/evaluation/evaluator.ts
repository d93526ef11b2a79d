import type { DeviceBytes, SensorBytes } from '../../../../schema/ids.ts';
import { bucketOf, DAY_MS } from '../../../../schema/rules.ts';
import type { Reading } from '../../../history/reading/index.ts';
import type { ClockGuard } from '../../../store/clock-guard.ts';
import { type WriteStamp, writeTimestamp } from '../../../store/index.ts';
import { covers, type Rule, type RuleCondition, type RuleVersion } from '../rules/rule.ts';
import type { Alarm, AlarmStore, Episode, EpisodeKey } from '../store/episodes.ts';
import type { SensorState } from '../subjects.ts';
import { readWindow, type Window } from './windows.ts';

export interface MonitoredSensor {
  device: { id: string; bytes: DeviceBytes; group: number; name: string | null };
  /** `ts`: epoch ms of the newest sample; null: unknown */
  sensor: {
    id: string;
    bytes: SensorBytes;
    name: string | null;
    type: string | null;
    unit: string | null;
    site: string | null;
    intervalMs: number | null;
    registeredAt: number;
    ts: number | null;
  };
}

export type AlarmEventKind = 'opened' | 'cleared' | 'acknowledged' | 'corrected';

export type AlarmChange = { alarm: Alarm; group: number; kinds: AlarmEventKind[] };

/** An alarm is marked as seen late if an evaluation finds it more than this time in ms after its opening. */
const LATE_AFTER_MS = 5 * 60_000;

/** Share of `HISTORY_DAYS` after which the row of an open episode is written again, because it would expire otherwise. */
const REWRITE_SHARE = 1 / 4;

export interface Evaluated {
  changes: AlarmChange[];
  /** around the samples, including those that did not change */
  episodes: number;
  /** also a run that has not opened an episode yet; null: no run */
  run: Window['run'];
}

/**
 * Writes the episodes around some samples that differ from the stored ones. It reads only committed samples, and the write timestamp is the
 * time before the read. So if two processes evaluate at once, the result of the later read wins.
 */
export class Evaluator {
  #deps;

  constructor(deps: {
    reading: Pick<Reading, 'hours' | 'samplesOf'>;
    episodes: AlarmStore;
    clock: Pick<ClockGuard, 'now'>;
    historyMs: number;
    maxClockSkewMs: number;
    stateOf: (key: { device: DeviceBytes; sensor: SensorBytes }, now: number) => Promise<SensorState>;
    announce: (change: AlarmChange) => Promise<void>;
  }) {
    this.#deps = deps;
  }

  /**
   * A silence without a later sample may have ended already, because a sample may be on its way. So only the caller that watches for
   * silence may open an absence, with `silentAt` (see `Due`). A stored absence continues in any case.
   */
  async evaluate(
    subject: MonitoredSensor,
    rule: Rule,
    { from, to, silentAt }: { from: number; to: number; silentAt: number },
  ): Promise<Evaluated> {
    const { clock, historyMs } = this.#deps;
    const time = await clock.now();
    const readAt = writeTimestamp(time);
    // The clock may have been set back since the caller found the silence, and the caller does not repeat the evaluation.
    const now = Math.max(time, silentAt);
    const first = Math.max(from, now - historyMs);
    const { device, sensor } = subject;
    let read: Promise<SensorState> | undefined;
    // Most evaluations need no state, and a device may have thousands of sensors.
    const state = () => (read ??= this.#deps.stateOf({ device: device.bytes, sensor: sensor.bytes }, now));
    const result: Evaluated = { changes: [], episodes: 0, run: null };
    for (const version of rule.versions) {
      // Skip versions of the rule that the samples cannot concern. An episode that ended with its version may begin before the samples.
      if (version.removed || version.until <= first || version.since > Math.max(to, now)) continue;
      const task = { subject, rule, version, state, now, readAt, silentAt };
      const { changes, episodes, run } = await this.#evaluateVersion(task, first, to);
      result.changes.push(...changes);
      result.episodes += episodes;
      if (version.until > now) result.run = run;
    }
    return result;
  }

  /**
   * For a sensor that is no longer registered: the episode ends with its version of the rule, or now, and samples are not read. `rule` is
   * undefined if this process cannot read it. Null: the episode is not open.
   */
  async end(
    key: EpisodeKey,
    { group, rule }: { group: number; rule: Rule | undefined },
  ): Promise<AlarmChange | null> {
    const now = await this.#deps.clock.now();
    const alarm = await this.#deps.episodes.find(key);
    if (!alarm || alarm.withdrawn || alarm.cleared !== null) return null;
    const version = rule?.versions.find(({ version }) => version === alarm.version);
    // Use the time of retirement, so that each evaluation finds the same end.
    const end = (await this.#deps.stateOf(key, now)).goneAt ?? now;
    const ended = { ...alarm, cleared: endOf(alarm, Math.min(version?.until ?? end, end)) };
    return this.#write({ group, now, readAt: writeTimestamp(now) }, ended, ['cleared']);
  }

  async #evaluateVersion(
    task: {
      subject: MonitoredSensor;
      rule: Rule;
      version: RuleVersion;
      state: () => Promise<SensorState>;
      now: number;
      readAt: WriteStamp;
      silentAt: number;
    },
    from: number,
    to: number,
  ): Promise<Evaluated> {
    const { subject, rule, version, state, now } = task;
    const { reading, episodes, historyMs } = this.#deps;
    const { device, sensor } = subject;
    const since = Math.max(version.since, now - historyMs);
    const until = Math.min(version.until, await this.#endOfSamples(state, now, to));
    const { condition } = version.definition;
    const isAbsence = condition.kind === 'absent';
    // A stored sample is no proof: it may be older than the registration of the sensor, or have expired.
    const hasSent = !isAbsence || sensor.ts !== null || (await state()).newest !== null;
    const key = { device: device.bytes, sensor: sensor.bytes, rule: rule.bytes };
    const window = await readWindow(reading, condition, {
      sensor: { device: device.bytes, sensor: sensor.bytes, group: device.group },
      intervalMs: sensor.intervalMs,
      registration: { at: sensor.registeredAt, since: version.since, hasSent },
      from: Math.max(from, since),
      to: Math.min(to, until - 1),
      since,
      until,
      historyFrom: now - historyMs,
      now,
      // The last sample before a silence may have expired, even if all later samples of the version are stored.
      ...((since > version.since || isAbsence) && {
        openBefore: (unsent) =>
          this.#openBefore(device.group, key, version, {
            until: isAbsence ? Math.max(from, since) : since,
            unsent,
          }),
      }),
    });
    const earliest = isAbsence || window.from <= since ? window.from : window.from + 1;
    const stored = (await episodes.inRange(key, earliest, Math.min(window.to, now + DAY_MS))).filter(
      (alarm) => alarm.version === version.version,
    );
    const known = new Map(stored.map((alarm) => [alarm.start, alarm]));
    const isCovered = covers(version, device.id, sensor);
    const found = window.episodes
      .filter(({ start }) => start >= earliest && start <= window.to)
      // A sensor that left the scope of the rule gets no new episode. Its open episode ends as usual.
      .filter(({ start }) => isCovered || known.has(start))
      // If the version of the rule has ended, its last silence can be judged without `silentAt`, because the end of the version
      // is known. An alarm before the first sample opens only while no sample exists.
      .filter(
        (episode) =>
          (version.until <= now && hasSent) || !isUnjudged(condition, episode, known, task.silentAt),
      );
    // A retired sensor has samples, but no later sample will end its last episode.
    const goneAt = found.at(-1)?.cleared === null ? (await state()).goneAt : null;
    const isGone = goneAt !== null;
    if (isGone && goneAt < version.until) endLast(found, known, goneAt);
    const computed = found.map((episode) => endedBy(episode, version.until));
    const isOpen = computed.at(-1)?.cleared === null;
    const changes: AlarmChange[] = [];
    for (const episode of computed) {
      const change = await this.#store(task, episode, known.get(episode.start));
      known.delete(episode.start);
      if (change?.kinds.length) changes.push(change);
    }
    for (const alarm of known.values()) {
      if (alarm.withdrawn || (!isCovered && alarm.cleared !== null)) continue;
      const withdrawn = { ...alarm, withdrawn: true, late: true };
      changes.push(await this.#write({ ...task, group: device.group }, withdrawn, ['corrected']));
    }
    const isWatched = !isGone && (isCovered || computed.length > 0);
    const isRunning = isWatched && (isOpen || condition.kind !== 'absent');
    return { changes, episodes: computed.length, run: isRunning ? window.run : null };
  }

  /**
   * The exclusive epoch ms after which the sensor has no sample. The clock of a device may be ahead by `MAX_CLOCK_SKEW`, up to a day.
   * Without the newest sample, each evaluation would read the empty hours of that day.
   */
  async #endOfSamples(state: () => Promise<SensorState>, now: number, to: number): Promise<number> {
    const latest = now + this.#deps.maxClockSkewMs;
    if (bucketOf(latest) <= bucketOf(Math.max(now, to))) return latest + 1;
    const { newest } = await state();
    return newest === null ? latest + 1 : Math.min(latest, Math.max(now, to, newest)) + 1;
  }

  /** The oldest open episode that began at `until` or earlier, or the episode that began at `unsent`, as if it were open. */
  async #openBefore(
    group: number,
    key: Omit<EpisodeKey, 'start'>,
    { version }: RuleVersion,
    { until, unsent }: { until: number; unsent?: number },
  ): Promise<Episode | null> {
    const { episodes } = this.#deps;
    const starts = await episodes.openUntil(group, key, until);
    for (const start of unsent === undefined ? starts : [...starts, unsent]) {
      const alarm = await episodes.find({ ...key, start });
      const isOpen = alarm?.cleared === null || start === unsent;
      if (alarm && alarm.version === version && isOpen && !alarm.withdrawn)
        return { start, opened: alarm.opened, cleared: null, peak: alarm.peak };
    }
    return null;
  }

  /** Null: there is nothing to report. */
  async #store(
    task: { subject: MonitoredSensor; rule: Rule; version: RuleVersion; now: number; readAt: WriteStamp },
    episode: Episode,
    before: Alarm | undefined,
  ): Promise<AlarmChange | null> {
    const { subject, rule, version, now } = task;
    const { device, sensor } = subject;
    const kinds = kindsOf(before, episode);
    const isSame = kinds.length === 0 && before?.peak === episode.peak;
    if (before && isSame && !this.#expires(before, now)) return null;
    const isCorrected = kinds.includes('corrected');
    const { definition } = version;
    const alarm: Alarm = {
      acknowledgedAt: null,
      acknowledgedBy: null,
      comment: null,
      shelvedUntil: null,
      ...before,
      ...episode,
      device: device.bytes,
      sensor: sensor.bytes,
      rule: rule.bytes,
      version: version.version,
      ruleName: definition.name,
      severity: definition.severity,
      condition: definition.condition.kind,
      deviceName: device.name,
      sensorName: sensor.name,
      site: sensor.site,
      unit: before ? before.unit : sensor.unit,
      late: before?.late || isCorrected || (!before && now - episode.opened > LATE_AFTER_MS),
      withdrawn: false,
    };
    return this.#write({ ...task, group: device.group }, alarm, kinds);
  }

  #expires({ cleared, writtenAt }: Alarm, now: number) {
    return cleared === null && now - (writtenAt ?? now) > this.#deps.historyMs * REWRITE_SHARE;
  }

  async #write(
    { group, now, readAt }: { group: number; now: number; readAt: WriteStamp },
    alarm: Alarm,
    kinds: AlarmEventKind[],
  ): Promise<AlarmChange> {
    const change = { alarm, group, kinds };
    // The history orders the events of one ms by their names, and `cleared` would stand before `opened`.
    const events = kinds.map((kind, index) => ({ at: now + index, kind, actor: null, comment: null }));
    // If the process ends here, the deliveries have begun, but the row is missing. The successor of the process writes the row,
    // and then the deliveries are sent.
    if (kinds.length > 0) await this.#deps.announce(change);
    await this.#deps.episodes.write(group, alarm, readAt, events);
    return change;
  }
}

/** A continuing silence that no evaluation has yet found to be an absence. `known`: stored alarms by start. */
function isUnjudged(
  { kind }: RuleCondition,
  { start, opened, cleared }: Episode,
  known: Map<number, Alarm>,
  silentAt: number,
) {
  if (kind !== 'absent' || cleared !== null || opened <= silentAt) return false;
  return known.get(start)?.withdrawn !== false;
}

const endedBy = (episode: Episode, until: number) =>
  Number.isFinite(until) && (episode.cleared === null || episode.cleared > until)
    ? { ...episode, cleared: until }
    : episode;

/** Never before the opening, because samples may be ahead of the clock. */
const endOf = ({ opened }: Episode, at: number): number => Math.max(opened, at);

/** Ends the last episode (open) of a retired sensor at its stored end, or at the retirement. An episode that is not stored is dropped. */
function endLast(computed: Episode[], known: Map<number, Alarm>, goneAt: number) {
  const last = computed.pop() as Episode;
  const stored = known.get(last.start);
  if (stored) computed.push({ ...last, cleared: stored.cleared ?? endOf(last, goneAt) });
}

function kindsOf(before: Alarm | undefined, { opened, cleared }: Episode): AlarmEventKind[] {
  if (!before) return cleared === null ? ['opened'] : ['opened', 'cleared'];
  if (before.withdrawn || before.opened !== opened) return ['corrected'];
  if (before.cleared === cleared) return [];
  return before.cleared === null ? ['cleared'] : ['corrected'];
}

import type { DeviceBytes, SensorBytes } from '../../../../schema/ids.ts';
import { dayOf } from '../../../../schema/rules.ts';
import { float64, int64, type WriteStamp, writeTimestamp } from '../../../store/index.ts';
import type { Row, Session } from '../../../store/sending/session.ts';

const COLUMNS =
  'device_id, sensor_id, rule_id, start, version, rule, severity, condition, device, sensor, site, unit, opened, WRITETIME(opened) AS written_at, cleared, peak, late, withdrawn, acknowledged_at, acknowledged_by, comment, shelved_until, values_corrected_at';
const KEY = 'device_id = ? AND sensor_id = ?';
const IN_RANGE = {
  name: 'read_alarms',
  cql: `SELECT ${COLUMNS} FROM alarm WHERE ${KEY} AND rule_id = ? AND start >= ? AND start <= ?`,
};
const ONE = {
  name: 'read_alarm',
  cql: `SELECT ${COLUMNS} FROM alarm WHERE ${KEY} AND rule_id = ? AND start = ?`,
};
const OF_SENSOR = {
  name: 'read_alarms_of_sensor',
  cql: `SELECT ${COLUMNS} FROM alarm WHERE ${KEY}`,
  fetchSize: 1000,
};
const WRITE = {
  name: 'write_alarm',
  cql: 'INSERT INTO alarm (device_id, sensor_id, rule_id, start, version, rule, severity, condition, device, sensor, site, unit, opened, cleared, peak, late, withdrawn, acknowledged_at, acknowledged_by, comment, shelved_until) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
};
const INDEX = {
  name: 'index_alarm',
  cql: 'INSERT INTO alarm_by_day (day, start, device_id, sensor_id, rule_id) VALUES (?, ?, ?, ?, ?)',
};
const OPEN = {
  name: 'write_open_alarm',
  cql: 'INSERT INTO alarm_open (grp, device_id, sensor_id, rule_id, start) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?',
};
const CLOSE = {
  name: 'remove_open_alarm',
  cql: 'DELETE FROM alarm_open USING TIMESTAMP ? WHERE grp = ? AND device_id = ? AND sensor_id = ? AND rule_id = ? AND start = ?',
};
const OPEN_OF_GROUP = {
  name: 'read_open_alarms',
  cql: 'SELECT device_id, sensor_id, rule_id, start FROM alarm_open WHERE grp = ?',
};
const OPEN_UNTIL = {
  name: 'read_old_open_alarms',
  cql: 'SELECT start FROM alarm_open WHERE grp = ? AND device_id = ? AND sensor_id = ? AND rule_id = ? AND start <= ?',
};
const ACKNOWLEDGE = {
  name: 'acknowledge_alarm',
  cql: `UPDATE alarm SET acknowledged_at = ?, acknowledged_by = ?, comment = ? WHERE ${KEY} AND rule_id = ? AND start = ?`,
};
const SHELVE = {
  name: 'shelve_alarm',
  cql: `UPDATE alarm SET shelved_until = ? WHERE ${KEY} AND rule_id = ? AND start = ?`,
};
const NOTE_CORRECTED = {
  name: 'note_corrected_alarm',
  cql: `UPDATE alarm SET values_corrected_at = ? WHERE ${KEY} AND rule_id = ? AND start = ?`,
};
const FIRST_OF_DAY = {
  name: 'alarms_page',
  cql: 'SELECT start, device_id, sensor_id, rule_id FROM alarm_by_day WHERE day = ? AND start <= ? LIMIT ?',
};
const NOTE = {
  name: 'write_alarm_event',
  cql: 'INSERT INTO alarm_event (device_id, sensor_id, rule_id, start, at, kind, actor, comment) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
};
const NOTES = {
  name: 'read_alarm_events',
  cql: 'SELECT at, kind, actor, comment FROM alarm_event WHERE device_id = ? AND sensor_id = ? AND rule_id = ? AND start = ?',
};

const ALL = { until: Number.POSITIVE_INFINITY, limit: Number.POSITIVE_INFINITY };

/** Stands for "no end" in the column `cleared`. An episode may open again, and writing null would leave a tombstone. */
const OPEN_END = 0;

/** ids of 16 bytes; `start` in epoch ms */
export type EpisodeKey = { device: DeviceBytes; sensor: SensorBytes; rule: Buffer; start: number };

/** All times are times of measurement. */
export interface Episode {
  /** epoch ms of the first sample of the episode */
  start: number;
  /** epoch ms at which the condition had held for the time that the rule requires */
  opened: number;
  /** epoch ms of the end; null: the episode is open */
  cleared: number | null;
  /** the most extreme value; null if the rule reports missing samples */
  peak: number | null;
}

interface EpisodeTexts {
  version: number;
  ruleName: string;
  severity: string;
  /** kind of the rule's condition; null: an older version of Millrace wrote the row */
  condition: string | null;
  deviceName: string | null;
  sensorName: string | null;
  site: string | null;
  /** unit of the sensor, as the device sent it */
  unit: string | null;
}

/**
 * `late`: late samples opened or corrected the episode; `withdrawn`: late samples disproved the episode;
 * `writtenAt`: epoch ms of the newest evaluation that wrote the row
 */
export type Alarm = EpisodeKey &
  Episode &
  EpisodeTexts & {
    late: boolean;
    withdrawn: boolean;
    acknowledgedAt: number | null;
    acknowledgedBy: string | null;
    comment: string | null;
    shelvedUntil: number | null;
    /** epoch ms of the last correction of values of its time; missing: none */
    valuesCorrectedAt?: number | undefined;
    writtenAt?: number;
  };

type AlarmEvent = { at: number; kind: string; actor: string | null; comment: string | null };

export class AlarmStore {
  #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Includes withdrawn episodes, in order of their start. @param to epoch ms, the latest start */
  async inRange(
    { device, sensor, rule }: Omit<EpisodeKey, 'start'>,
    from: number,
    to: number,
  ): Promise<Alarm[]> {
    const rows = await this.#session.all(IN_RANGE, [device, sensor, rule, int64(from), int64(to)]);
    return rows.filter(isEpisode).map(toAlarm);
  }

  async find(key: EpisodeKey): Promise<Alarm | null> {
    const row = await this.#session.one(ONE, keyOf(key));
    return row && isEpisode(row) ? toAlarm(row) : null;
  }

  /**
   * Returns the newest alarms of all rules, including withdrawn ones. The table orders alarms by rule, so all alarms of the sensor are
   * read. They are read page by page, because a value that oscillates around a limit causes an alarm per minute.
   * @param page `until`: epoch ms of the latest start; default: all alarms
   */
  async ofSensor(
    device: DeviceBytes,
    sensor: SensorBytes,
    { until, limit }: { until: number; limit: number } = ALL,
  ): Promise<Alarm[]> {
    let newest: Alarm[] = [];
    for await (const rows of this.#session.pages(OF_SENSOR, [device, sensor])) {
      const found = rows.filter(isEpisode).map(toAlarm);
      newest.push(...found.filter(({ start }) => start <= until));
      newest = newest.sort(newestFirst).slice(0, limit);
    }
    return newest;
  }

  /**
   * Writes first the indexes and the history, then the row. An evaluation that finds the correct row writes nothing. So if the row came
   * first, a failure between the two writes would leave the row without indexes and history forever.
   * @param readAt the write timestamp, in µs: a time before the samples were read
   */
  async write(group: number, alarm: Alarm, readAt: WriteStamp, events: AlarmEvent[] = []) {
    const key = keyOf(alarm);
    const isOpen = alarm.cleared === null && !alarm.withdrawn;
    await Promise.all([
      isOpen && this.#session.write(OPEN, [group, ...key, readAt]),
      this.#session.write(INDEX, [
        int64(dayOf(alarm.start)),
        int64(alarm.start),
        alarm.device,
        alarm.sensor,
        alarm.rule,
      ]),
      ...events.map((event) => this.note(alarm, event)),
    ]);
    await this.#session.write(WRITE, [
      ...key,
      alarm.version,
      alarm.ruleName,
      alarm.severity,
      alarm.condition ?? undefined,
      alarm.deviceName ?? undefined,
      alarm.sensorName ?? undefined,
      alarm.site ?? undefined,
      alarm.unit ?? undefined,
      int64(alarm.opened),
      int64(alarm.cleared ?? OPEN_END),
      alarm.peak === null ? undefined : float64(alarm.peak),
      alarm.late,
      alarm.withdrawn,
      // Without a repetition they would expire while a long alarm is still open.
      alarm.acknowledgedAt === null ? undefined : int64(alarm.acknowledgedAt),
      alarm.acknowledgedBy ?? undefined,
      alarm.comment ?? undefined,
      alarm.shelvedUntil === null ? undefined : int64(alarm.shelvedUntil),
      readAt,
    ]);
    if (!isOpen) await this.#session.write(CLOSE, [readAt, group, ...key]);
  }

  /** Removes an episode from the index of open episodes. An index row that was written after `at` stays. */
  close(group: number, key: EpisodeKey, at: number): Promise<void> {
    return this.#session.write(CLOSE, [writeTimestamp(at), group, ...keyOf(key)]);
  }

  async open(group: number): Promise<EpisodeKey[]> {
    return (await this.#session.all(OPEN_OF_GROUP, [group])).map(toKey);
  }

  /** @returns ascending starts of the open episodes that began at `until` or earlier */
  async openUntil(
    group: number,
    { device, sensor, rule }: Omit<EpisodeKey, 'start'>,
    until: number,
  ): Promise<number[]> {
    const rows = await this.#session.all(OPEN_UNTIL, [group, device, sensor, rule, int64(until)]);
    return rows.map((row) => row['start'].getTime());
  }

  acknowledge(
    key: EpisodeKey,
    { at, by, comment }: { at: number; by: string; comment: string | null },
  ): Promise<void> {
    return this.#session.write(ACKNOWLEDGE, [int64(at), by, comment ?? undefined, ...keyOf(key)]);
  }

  shelve(key: EpisodeKey, until: number): Promise<void> {
    return this.#session.write(SHELVE, [int64(until), ...keyOf(key)]);
  }

  /** Notes that values between its start and its end were corrected. */
  noteCorrected(key: EpisodeKey, at: number): Promise<void> {
    return this.#session.write(NOTE_CORRECTED, [int64(at), ...keyOf(key)]);
  }

  /** @returns keys of the episodes that started on the day, until `until`, newest first */
  async ofDay(day: number, until: number, limit: number): Promise<EpisodeKey[]> {
    return (await this.#session.all(FIRST_OF_DAY, [int64(day), int64(until), limit])).map(toKey);
  }

  note(key: EpisodeKey, { at, kind, actor, comment }: AlarmEvent): Promise<void> {
    return this.#session.write(NOTE, [
      ...keyOf(key),
      int64(at),
      kind,
      actor ?? undefined,
      comment ?? undefined,
    ]);
  }

  /** Oldest first. */
  async history(key: EpisodeKey): Promise<AlarmEvent[]> {
    const rows = await this.#session.all(NOTES, keyOf(key));
    const events = rows.map((row) => ({
      at: row['at'].getTime(),
      kind: row['kind'],
      actor: row['actor'] ?? null,
      comment: row['comment'] ?? null,
    }));
    return withoutRepetitions(events);
  }
}

const keyOf = ({
  device,
  sensor,
  rule,
  start,
}: EpisodeKey): [DeviceBytes, SensorBytes, rule: Buffer, start: Buffer] => [
  device,
  sensor,
  rule,
  int64(start),
];

/**
 * A retried evaluation or a second process may write the same events again. Among these, only the first `opened`
 * and the last `cleared` count, before and after each `corrected`.
 *
 * The last `cleared` counts, because a process may die after it has written `cleared` and before it writes
 * the row. Late samples may then continue the episode, so that the next evaluation writes a later `cleared`.
 */
function withoutRepetitions(events: AlarmEvent[]): AlarmEvent[] {
  let isOpened = false;
  /** since the last correction */
  let cleared: AlarmEvent | null = null;
  const repeated: Set<AlarmEvent> = new Set();
  for (const event of events) {
    if (event.kind === 'corrected') {
      isOpened = false;
      cleared = null;
    } else if (event.kind === 'opened') {
      if (isOpened) repeated.add(event);
      isOpened = true;
    } else if (event.kind === 'cleared') {
      if (cleared) repeated.add(cleared);
      cleared = event;
    }
  }
  return events.filter((event) => !repeated.has(event));
}

/** A row may have only an acknowledgement, because its episode has expired. */
const isEpisode = (row: Row) => Boolean(row['opened']);

const toKey = (row: Row): EpisodeKey => ({
  device: row['device_id'].getBuffer(),
  sensor: row['sensor_id'].getBuffer(),
  rule: row['rule_id'].getBuffer(),
  start: row['start'].getTime(),
});

const toAlarm = (row: Row): Alarm => ({
  ...toKey(row),
  version: row['version'],
  ruleName: row['rule'],
  severity: row['severity'],
  condition: row['condition'] ?? null,
  deviceName: row['device'] ?? null,
  sensorName: row['sensor'] ?? null,
  site: row['site'] ?? null,
  unit: row['unit'] ?? null,
  opened: row['opened'].getTime(),
  cleared: row['cleared'].getTime() === OPEN_END ? null : row['cleared'].getTime(),
  peak: row['peak'] ?? null,
  late: row['late'] === true,
  withdrawn: row['withdrawn'] === true,
  acknowledgedAt: row['acknowledged_at']?.getTime() ?? null,
  acknowledgedBy: row['acknowledged_by'] ?? null,
  comment: row['comment'] ?? null,
  shelvedUntil: row['shelved_until']?.getTime() ?? null,
  valuesCorrectedAt: row['values_corrected_at']?.getTime(),
  writtenAt: Math.floor(Number(row['written_at']) / 1000),
});

export const newestFirst = (a: EpisodeKey, b: EpisodeKey): number =>
  b.start - a.start || (alarmId(a) < alarmId(b) ? -1 : Number(alarmId(a) > alarmId(b)));

export const alarmId = ({ device, sensor, rule, start }: Alarm | EpisodeKey): string =>
  Buffer.concat([device, sensor, rule, int64(start)]).toString('base64url');

const ID_BYTES = 56;

/** @returns null: the text is no id of an alarm */
export function parseAlarmId(id: string): EpisodeKey | null {
  const bytes = Buffer.from(id, 'base64url');
  if (bytes.length !== ID_BYTES || bytes.toString('base64url') !== id) return null;
  const start = bytes.readInt32BE(48) * 2 ** 32 + bytes.readUInt32BE(52);
  if (Math.abs(start) > 8.64e15) return null;
  return {
    device: bytes.subarray(0, 16),
    sensor: bytes.subarray(16, 32),
    rule: bytes.subarray(32, 48),
    start,
  };
}

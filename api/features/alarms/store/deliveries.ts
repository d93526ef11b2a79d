import { bucketOf, DEAD_LETTER_DAYS, HOUR_MS } from '../../../../schema/rules.ts';
import { windowFor } from '../../../../schema/time-window.ts';
import { int64, writeTimestamp } from '../../../store/index.ts';
import type { Row, Session } from '../../../store/sending/session.ts';
import { type Alarm, alarmId, type EpisodeKey } from './episodes.ts';

const WRITE = {
  name: 'write_alarm_delivery',
  cql: 'INSERT INTO alarm_delivery (hour, id, target, event, device_id, sensor_id, rule_id, start, begun_at, attempts, next_at, failed_at, error, done_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TTL ?',
};
const REMOVE = {
  name: 'remove_alarm_deliveries',
  cql: 'DELETE FROM alarm_delivery USING TIMESTAMP ? WHERE hour = ? AND id > ? AND id < ?',
};
const OF_HOUR = {
  name: 'read_alarm_deliveries',
  cql: 'SELECT id, target, event, device_id, sensor_id, rule_id, start, begun_at, attempts, next_at, failed_at, error, done_at FROM alarm_delivery WHERE hour = ?',
};

const [FIRST, LAST] = ['', '\uffff'];

/** Value of `done_at` of an unfinished delivery. A null would be a tombstone. */
const UNFINISHED = 0;

export interface Delivery {
  /** equal in every process and for each attempt: see `deliveryId` */
  id: string;
  key: EpisodeKey;
  target: 'webhook' | 'alertmanager';
  event: 'opened' | 'cleared' | 'acknowledged' | 'corrected';
  /** epoch ms from which the message is sent; in the future while its alarm is shelved */
  begunAt: number;
  attempts: number;
  /** epoch ms of the next attempt */
  nextAt: number;
  /** epoch ms of the final failure; null: attempts continue */
  failedAt: number | null;
  error: string | null;
}

type ChangedAlarm = Pick<
  Alarm,
  'device' | 'sensor' | 'rule' | 'start' | 'opened' | 'cleared' | 'withdrawn' | 'acknowledgedAt'
>;

/** The peak is not part of the id, because it may grow between two attempts of one delivery. */
export function changeId(event: string, alarm: ChangedAlarm): string {
  const end = alarm.withdrawn ? 'withdrawn' : (alarm.cleared ?? 'open');
  const changed =
    event === 'acknowledged'
      ? [alarm.acknowledgedAt]
      : event === 'opened'
        ? [alarm.opened]
        : [alarm.opened, end];
  return [alarmId(alarm), event, ...changed].join('.');
}

export const deliveryId = (target: Delivery['target'], event: string, alarm: ChangedAlarm): string =>
  `${target}.${changeId(event, alarm)}`;

/** Counted from `begunAt`, which may be in the future. */
const TTL_SECONDS = windowFor(DEAD_LETTER_DAYS).ttlSeconds;

/**
 * A process writes a delivery before the change of its episode. A finished delivery is marked, and removed
 * later: a tombstone for each delivery would slow down every reader of its hour.
 */
export function createAlarmDeliveryStore(session: Session) {
  const write = (delivery: Delivery, now: number, doneAt: number) => {
    const { id, key, target, event, begunAt, attempts, nextAt, failedAt, error } = delivery;
    return session.write(WRITE, [
      int64(bucketOf(begunAt)),
      id,
      target,
      event,
      key.device,
      key.sensor,
      key.rule,
      int64(key.start),
      int64(begunAt),
      attempts,
      int64(nextAt),
      failedAt === null ? undefined : int64(failedAt),
      error ?? undefined,
      int64(doneAt),
      TTL_SECONDS + Math.max(0, Math.ceil((begunAt - now) / 1000)),
    ]);
  };

  return {
    write: (delivery: Delivery, now: number) => write(delivery, now, UNFINISHED),

    finish: (delivery: Delivery, now: number) => write(delivery, now, now),

    /** Reads the unfinished deliveries whose `begunAt` lies in [from, to), earlier hours first. */
    async begunIn({ from, to }: TimeRange): Promise<Delivery[]> {
      const found = await Promise.all(
        hoursOf({ from, to }).map((hour) => session.all(OF_HOUR, [int64(hour)])),
      );
      return found
        .flat()
        .filter((row) => doneAtOf(row) === UNFINISHED)
        .map(toDelivery)
        .filter(({ begunAt }) => begunAt >= from && begunAt < to);
    },

    /**
     * Removes the finished deliveries that were written before an instant. One tombstone covers all ids between two
     * unfinished deliveries. It deletes nothing that is written later, such as a repetition of the same delivery.
     */
    async removeFinished(range: TimeRange, before: number) {
      for (const hour of hoursOf(range)) {
        const rows = await session.all(OF_HOUR, [int64(hour)]);
        let after = FIRST;
        let isDue = false;
        for (const row of [...rows, null]) {
          const doneAt = row ? doneAtOf(row) : UNFINISHED;
          isDue ||= doneAt !== UNFINISHED && doneAt < before;
          if (doneAt !== UNFINISHED) continue;
          const id = row ? row['id'] : LAST;
          if (isDue) await session.write(REMOVE, [writeTimestamp(before), int64(hour), after, id]);
          after = id;
          isDue = false;
        }
      }
    },
  };
}

type TimeRange = { from: number; to: number };

function hoursOf({ from, to }: TimeRange): number[] {
  const hours = [];
  for (let hour = bucketOf(from); hour < to; hour += HOUR_MS) hours.push(hour);
  return hours;
}

/** Rows of versions before `done_at` have none. */
const doneAtOf = (row: Row): number => row['done_at']?.getTime() ?? UNFINISHED;

export type AlarmDeliveryStore = ReturnType<typeof createAlarmDeliveryStore>;

const toDelivery = (row: Row): Delivery => ({
  id: row['id'],
  key: {
    device: row['device_id'].getBuffer(),
    sensor: row['sensor_id'].getBuffer(),
    rule: row['rule_id'].getBuffer(),
    start: row['start'].getTime(),
  },
  target: row['target'],
  event: row['event'],
  begunAt: row['begun_at'].getTime(),
  attempts: row['attempts'],
  nextAt: row['next_at'].getTime(),
  failedAt: row['failed_at']?.getTime() ?? null,
  error: row['error'] ?? null,
});

import type { DeviceBytes } from '../../schema/ids.ts';
import { int64 } from './cql-values.ts';
import type { Row, Session } from './sending/session.ts';

const WRITE = {
  name: 'write_event',
  cql: 'INSERT INTO device_event (device_id, year, session, kind, ts, clock_offset) VALUES (?, ?, ?, ?, ?, ?)',
};
const SELECT = 'SELECT session, kind, ts, clock_offset FROM device_event WHERE device_id = ? AND year = ?';
const ONE = {
  name: 'read_event',
  cql: 'SELECT session, kind, ts, clock_offset FROM device_event WHERE device_id = ? AND year = ? AND session = ? AND kind = ?',
};
const FIRST = { name: 'events_page', cql: `${SELECT} AND session < ? LIMIT ?` };
const NEXT = { name: 'events_page', cql: `${SELECT} AND (session, kind) < (?, ?) LIMIT ?` };

/** In their order within a session. The database stores the index of a kind in this list. */
const KINDS = ['birth', 'online', 'offline'] as const;

/** No session can begin earlier: see `api/ingest/registry/births.ts`. */
const OLDEST_YEAR = 2020;

export interface DeviceEvent {
  /** epoch ms of the start of the session; if the clock of the device was wrong, epoch ms of the receipt */
  session: number;
  kind: (typeof KINDS)[number];
  /** epoch ms */
  ts: number;
  /** the clock of the device minus that of Millrace in ms; missing: no difference is known */
  clockOffset?: number;
}

export type EventPlace = { session: number; kind: number };

export function createEventStore(session: Session) {
  return {
    write: (device: DeviceBytes, { session: start, kind, ts, clockOffset }: DeviceEvent) =>
      session.write(WRITE, [
        device,
        yearOf(start),
        int64(start),
        KINDS.indexOf(kind),
        int64(ts),
        clockOffset === undefined ? undefined : int64(clockOffset),
      ]),

    /** @returns null: the event does not exist, or has expired */
    async find(
      device: DeviceBytes,
      { session: start, kind }: Omit<DeviceEvent, 'ts' | 'clockOffset'>,
    ): Promise<DeviceEvent | null> {
      const key = [device, yearOf(start), int64(start), KINDS.indexOf(kind)];
      const row = await session.one(ONE, key);
      return row && toEvent(row);
    },

    /**
     * Reads the events in [from, to): the newest session first, and in each session the newest event first. A session ends before the next
     * session begins. So among the sessions that began before `from`, only the newest can have ended in the range.
     * @returns `next` is null at the end
     */
    async page(
      device: DeviceBytes,
      { from, to }: { from: number; to: number },
      { after, limit }: { after: EventPlace | null; limit: number },
    ): Promise<{ events: DeviceEvent[]; next: EventPlace | null }> {
      const events: DeviceEvent[] = [];
      // Reading starts with the year of `to`, because sessions that begin at `to` or later have no events in the range.
      const first = yearOf(after?.session ?? to - 1);
      for (let year = first; year >= OLDEST_YEAR; year--) {
        const rows = after
          ? await session.all(NEXT, [device, year, int64(after.session), after.kind, limit + 1])
          : await session.all(FIRST, [device, year, int64(to), limit + 1]);
        for (const row of rows) {
          const event = toEvent(row);
          if (event.ts >= from && event.ts < to) {
            if (events.length === limit) return { events, next: placeOfLast(events) };
            events.push(event);
          }
          if (event.session < from) return { events, next: null };
        }
        if (rows.length > limit) {
          const last = rows.at(-1) as Row;
          return { events, next: { session: last['session'].getTime(), kind: last['kind'] } };
        }
      }
      return { events, next: null };
    },
  };
}

export type EventStore = ReturnType<typeof createEventStore>;

/** Equal in every process. */
export const eventId = (device: string, { session, kind }: Pick<DeviceEvent, 'session' | 'kind'>): string =>
  `${device}.${session}.${kind}`;

export function parseEventId(id: string): { device: string; session: number; kind: DeviceEvent['kind'] } {
  const [device = '', session, kind] = id.split('.');
  return { device, session: Number(session), kind: kind as DeviceEvent['kind'] };
}

const yearOf = (ms: number) => new Date(ms).getUTCFullYear();

const toEvent = (row: Row): DeviceEvent => ({
  session: row['session'].getTime(),
  kind: KINDS[row['kind']] as (typeof KINDS)[number],
  ts: row['ts'].getTime(),
  ...(row['clock_offset'] === null ? {} : { clockOffset: Number(row['clock_offset']) }),
});

function placeOfLast(events: DeviceEvent[]): EventPlace {
  const { session, kind } = events.at(-1) as DeviceEvent;
  return { session, kind: KINDS.indexOf(kind) };
}

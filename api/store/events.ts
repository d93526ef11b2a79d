import { int64 } from './cql-encoding.js';

/** @import { Row, Session } from './sending/session.js' */

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

/** Kinds of events in their order within a session. The database stores the index of a kind in this list. */
const KINDS = /** @type {const} */ (['birth', 'online', 'offline']);

/** Earliest year in which a session can begin: see `api/ingest/registry/births.js`. Reads of events end with it. */
const OLDEST_YEAR = 2020;

/**
 * An event of a device.
 *
 * @typedef {object} DeviceEvent
 * @property {number} session epoch ms of the start of the session; if the clock of the device was wrong, epoch ms of the receipt
 * @property {typeof KINDS[number]} kind
 * @property {number} ts epoch ms
 * @property {number} [clockOffset] the clock of the device minus that of Millrace in ms; missing: no
 *   difference is known
 */

/** @typedef {{ session: number, kind: number }} EventPlace the last event that was read */

/** @param {Session} session */
export function createEventStore(session) {
  return {
    /** @param {Buffer} device 16 bytes @param {DeviceEvent} event */
    write: (device, { session: start, kind, ts, clockOffset }) =>
      session.write(WRITE, [
        device,
        yearOf(start),
        int64(start),
        KINDS.indexOf(kind),
        int64(ts),
        clockOffset === undefined ? undefined : int64(clockOffset),
      ]),

    /**
     * @param {Buffer} device 16 bytes
     * @param {Omit<DeviceEvent, 'ts' | 'clockOffset'>} key
     * @returns {Promise<DeviceEvent | null>} null: the event does not exist, or has expired
     */
    async find(device, { session: start, kind }) {
      const key = [device, yearOf(start), int64(start), KINDS.indexOf(kind)];
      const row = await session.one(ONE, key);
      return row && toEvent(row);
    },

    /**
     * Reads the events in [from, to): the newest session first, and in each session the newest event first. A
     * session ends before the next session begins. So among the sessions that began before `from`, only the
     * newest can have ended in the range.
     *
     * @param {Buffer} device 16 bytes
     * @param {{ from: number, to: number }} range epoch ms
     * @param {{ after: EventPlace | null, limit: number }} page
     * @returns {Promise<{ events: DeviceEvent[], next: EventPlace | null }>} `next` is null at the end
     */
    async page(device, { from, to }, { after, limit }) {
      /** @type {DeviceEvent[]} */
      const events = [];
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
          const last = /** @type {Row} */ (rows.at(-1));
          return { events, next: { session: last['session'].getTime(), kind: last['kind'] } };
        }
      }
      return { events, next: null };
    },
  };
}

/** @typedef {ReturnType<typeof createEventStore>} EventStore */

/**
 * @param {string} device id
 * @param {Pick<DeviceEvent, 'session' | 'kind'>} event
 * @returns {string} id of the event, equal in every process
 */
export const eventId = (device, { session, kind }) => `${device}.${session}.${kind}`;

/** Decodes an id of `eventId`. @param {string} id @returns {{ device: string, session: number, kind: DeviceEvent['kind'] }} */
export function parseEventId(id) {
  const [device = '', session, kind] = id.split('.');
  return { device, session: Number(session), kind: /** @type {DeviceEvent['kind']} */ (kind) };
}

/** @param {number} ms epoch ms */
const yearOf = (ms) => new Date(ms).getUTCFullYear();

/** @param {Row} row @returns {DeviceEvent} */
const toEvent = (row) => ({
  session: row['session'].getTime(),
  kind: /** @type {typeof KINDS[number]} */ (KINDS[row['kind']]),
  ts: row['ts'].getTime(),
  ...(row['clock_offset'] === null ? {} : { clockOffset: Number(row['clock_offset']) }),
});

/** @param {DeviceEvent[]} events @returns {EventPlace} */
function placeOfLast(events) {
  const { session, kind } = /** @type {DeviceEvent} */ (events.at(-1));
  return { session, kind: KINDS.indexOf(kind) };
}

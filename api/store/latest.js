import { DAY_MS } from '../../schema/rules.js';
import { int32, int64 } from './cql-encoding.js';
import { routingKey } from './sending/routing.js';

/** @import { DeviceKey } from './registry/rows.js' */
/** @import { Session } from './sending/session.js' */
/** @import { types } from 'cassandra-driver' */

// Each entry of the map is a cell with the event time as its write timestamp: the newest measured value wins, whatever arrives last.
// If two values have the same instant, the database keeps the one with the greater bytes. Merging has the same rule.
const UPDATE = 'UPDATE latest USING TIMESTAMP ? SET newest = newest + ? WHERE grp = ? AND device_id = ?';

/**
 * The newest value of a sensor.
 *
 * @typedef {{ ts: number, value: number }} Newest `ts` in epoch ms
 */

/**
 * The newest values of some sensors of a device.
 *
 * @typedef {object} LatestUpdate
 * @property {Buffer} device 16 bytes
 * @property {Map<Buffer, Newest>} newest by sensor id, 16 bytes
 * @property {number | null} [retiredAt] epoch ms of its last retirement; default: never
 */

/** A year of times before a retirement takes 8.8 hours of write timestamps. ScyllaDB accepts them up to 3 days in the future. */
const SQUEEZED_MS = 365 * DAY_MS;

/**
 * Returns the write timestamp of a value: the time of its measurement, so that the newest measured value wins. A retirement deletes
 * values, and a deletion wins against a value with the same write timestamp. What the device measured before its retirement and sends
 * after it is written above the deletions, in the order of the measurements: 1 µs for each ms.
 *
 * @param {number} ts epoch ms
 * @param {number | null} retiredAt epoch ms of the last retirement of the device; null: never
 * @returns {number} epoch µs
 */
export function latestStamp(ts, retiredAt) {
  if (retiredAt === null) return ts * 1000;
  return Math.max(ts * 1000, retiredAt * 1000 + Math.max(1, SQUEEZED_MS + ts - retiredAt));
}

/** @param {Session} session */
export function createLatest(session) {
  /** @type {Map<number, { cell: Buffer, routing: Buffer }>} */
  const groups = new Map();

  /** @param {number} group */
  function partitionOf(group) {
    let partition = groups.get(group);
    if (!partition) {
      const cell = int32(group);
      partition = { cell, routing: routingKey(cell) };
      groups.set(group, partition);
    }
    return partition;
  }

  return {
    /**
     * @param {number} group the partition that all of these live in
     * @param {() => LatestUpdate[]} take asked for the updates at the moment of sending
     * @param {() => number} entries in these updates
     * @returns {Promise<unknown>} settles when they are committed
     */
    write(group, take, entries) {
      const { cell, routing } = partitionOf(group);
      const rows = () =>
        take().flatMap(({ device, newest, retiredAt = null }) =>
          byInstant(newest).map(({ ts, entries }) => ({
            query: UPDATE,
            params: [int64(latestStamp(ts, retiredAt)), mapCell(ts, entries), cell, device],
          })),
        );
      const bytes = () => UPDATE_WEIGHT + ENTRY_WEIGHT * entries();
      return session.writeMerged({ name: 'write_latest', routing, take: rows, bytes, id: take });
    },
  };
}

/** @typedef {ReturnType<typeof createLatest>} Latest */

/** @typedef {Array<[sensor: Buffer, value: number]>} Entries */

/**
 * A statement has one write timestamp: sensors whose newest instants differ need one each.
 *
 * @param {Map<Buffer, Newest>} newest
 * @returns {Array<{ ts: number, entries: Entries }>}
 */
function byInstant(newest) {
  /** @type {Map<number, Entries>} */
  const instants = new Map();
  for (const [sensor, { ts, value }] of newest) {
    const entries = instants.get(ts);
    if (entries) entries.push([sensor, value]);
    else instants.set(ts, [[sensor, value]]);
  }
  return Array.from(instants, ([ts, entries]) => ({ ts, entries }));
}

/** Bytes that a server counts for a statement and for each entry of its map, with headers and timestamps; rounded up. */
const UPDATE_WEIGHT = 100;
const ENTRY_WEIGHT = 80;

const ID_BYTES = 16;
const CELL_BYTES = 8;
const LENGTH_BYTES = 4;
const ENTRY_BYTES = LENGTH_BYTES + ID_BYTES + LENGTH_BYTES + 2 * (LENGTH_BYTES + CELL_BYTES);

/**
 * The bytes of a `map<uuid, frozen<tuple<timestamp, double>>>` (native_protocol_v4.spec, section 6.11 and 6.23). Written at once, since
 * the driver's encoder makes eight Buffers an entry.
 *
 * @param {number} ts epoch ms
 * @param {Entries} entries
 */
function mapCell(ts, entries) {
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + ENTRY_BYTES * entries.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setInt32(0, entries.length);
  let at = LENGTH_BYTES;
  for (const [sensor, value] of entries) {
    view.setInt32(at, ID_BYTES);
    bytes.set(sensor, at + 4);
    view.setInt32(at + 20, 2 * (LENGTH_BYTES + CELL_BYTES));
    view.setInt32(at + 24, CELL_BYTES);
    view.setInt32(at + 28, Math.floor(ts / 2 ** 32));
    view.setUint32(at + 32, ts >>> 0);
    view.setInt32(at + 36, CELL_BYTES);
    view.setFloat64(at + 40, value);
    at += ENTRY_BYTES;
  }
  return bytes;
}

/** ScyllaDB takes 100 clustering keys in one IN. */
const KEYS_PER_READ = 100;

const OF_DEVICE = {
  name: 'newest_of_device',
  cql: 'SELECT newest FROM latest WHERE grp = ? AND device_id = ?',
};
const OF_DEVICES = {
  name: 'newest_of_devices',
  cql: 'SELECT device_id, newest FROM latest WHERE grp = ? AND device_id IN ?',
};

/**
 * Reads of the table `latest`: the newest value of each sensor of a device, a row a device.
 *
 * @param {Session} session
 */
export function createNewestReads(session) {
  return {
    /** @param {DeviceKey} key @returns {Promise<Map<string, Newest>>} by sensor id */
    async ofDevice({ group, bytes }) {
      const row = await session.one(OF_DEVICE, [group, bytes]);
      return newestOf(row?.['newest']);
    },

    /**
     * @param {number} group
     * @param {Buffer[]} devices ids, 16 bytes each
     * @returns {Promise<Map<string, Map<string, Newest>>>} by device id, then by sensor id
     */
    async ofDevices(group, devices) {
      /** @type {Map<string, Map<string, Newest>>} */
      const found = new Map();
      for (let from = 0; from < devices.length; from += KEYS_PER_READ) {
        const some = devices.slice(from, from + KEYS_PER_READ);
        for (const row of await session.all(OF_DEVICES, [group, some]))
          found.set(String(row['device_id']), newestOf(row['newest']));
      }
      return found;
    },
  };
}

/** @typedef {ReturnType<typeof createNewestReads>} NewestReads */

/** @param {Record<string, types.Tuple> | null | undefined} map @returns {Map<string, Newest>} */
const newestOf = (map) =>
  new Map(
    Object.entries(map ?? {}).map(([sensor, pair]) => [
      sensor,
      { ts: pair.get(0).getTime(), value: pair.get(1) },
    ]),
  );

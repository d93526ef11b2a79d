import { writeBytes } from '../../../schema/packed/pack.js';
import { greaterValue } from '../../../schema/packed/series.js';
import { DAY_MS, MAX_ENTRIES_PER_GROUP_COMMIT } from '../../../schema/rules.js';
import { int32, int64 } from '../cql-encoding.js';
import { isRefusal, Partition, PendingRow, PendingRows } from '../sending/pending-rows.js';

/** @import { Logger } from 'pino' */
/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Retry } from '../sending/retry.js' */
/** @import { Query, Session } from '../sending/session.js' */
/** @import { Newest } from './reads.js' */

// Each entry of the map is a cell with the event time as its write timestamp: the newest measured value wins, whatever arrives last.
// If two values have the same instant, the database keeps the one with the greater bytes. Merging has the same rule.
const UPDATE = 'UPDATE latest USING TIMESTAMP ? SET newest = newest + ? WHERE grp = ? AND device_id = ?';

/**
 * Bytes that a server counts for a group, for the row of each of its devices, and for each entry of a map.
 * Cassandra 5.0 counts 41, 57 and 60: the id of the sensor, time and value with their lengths, the write
 * timestamp and two times of expiry.
 */
const GROUP_WEIGHT = 45;
const DEVICE_WEIGHT = 60;
const ENTRY_WEIGHT = 64;

/** A sensor with its newest value that is known to be committed; null: not known. @typedef {{ bytes: Buffer, ts: number | null, value: number | null }} LatestSensor */

/**
 * The newest sample of a sensor in a message.
 *
 * @template {LatestSensor} [S=LatestSensor]
 * @typedef {Newest & { sensor: S }} SensorNewest
 */

/**
 * Writes the newest value of each sensor to `latest`, unless a newer value is known to be committed.
 *
 * One row of a group of devices is in flight at a time. Meanwhile updates of the group merge, and are sent
 * together (group commit, without a timer). A `latest` update costs 15 to 17 µs in a full batch, and 35 µs
 * alone.
 */
export class LatestWrites {
  #rows;
  #logger;
  #partitions = new GroupPartitions();

  /**
   * @param {object} deps
   * @param {Pick<Session, 'writeMerged'>} deps.session
   * @param {Pick<Retry, 'repeat' | 'noteAnswer'>} deps.retry
   * @param {Pick<Logger, 'warn'>} deps.logger
   */
  constructor({ session, retry, logger }) {
    this.#rows = new PendingRows({ session, retry, isSequential: true });
    this.#logger = logger;
  }

  /**
   * Writes the values that are newer than the last known commit, and updates the sensors.
   *
   * @template {LatestSensor} S
   * @param {{ bytes: Buffer, group: number, retiredAt: number | null }} device
   * @param {SensorNewest<S>[]} newest of each sensor in a message
   * @returns {Promise<S[]>} settles when all values are committed, with the sensors that have a newer value
   *   now
   * @throws {MillraceError} `unavailable` while the process ends
   */
  write(device, newest) {
    // Nearly always all values are newer. Then the list of the message is not copied.
    const news = newest.every(isNews) ? newest : newest.filter(isNews);
    if (news.length === 0) return Promise.resolve([]);
    const update = new LatestUpdate(device, news);
    const partition = this.#partitions.find(device.group);
    const { open } = partition;
    const row = open?.join(update) ? open : this.#rows.open(new PendingLatest(partition, update));
    // Uses `then` and not async, because every message would keep the state of one more function until its
    // commit.
    return row.done.then(
      () => noteCommitted(news),
      async (error) => {
        if (!isRefusal(error)) throw error;
        // Later messages of the device were merged into the update, so this message builds its own update
        // again.
        const isCommitted = await this.#writeAlone(partition, new LatestUpdate(device, news));
        return isCommitted ? noteCommitted(news) : [];
      },
    );
  }

  /**
   * Writes the update of one device alone. A device with refused values must not make the writes of others
   * fail.
   *
   * @param {Partition} partition
   * @param {LatestUpdate} update
   * @returns {Promise<boolean>} whether the update is committed
   */
  async #writeAlone(partition, update) {
    try {
      await this.#rows.sendAlone(new PendingLatest(partition, update));
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const { message } = /** @type {Error} */ (error);
      this.#logger.warn({ reason: message }, 'the database refuses the latest values of a device');
      return false;
    }
  }
}

/**
 * Remembers committed values.
 *
 * @template {LatestSensor} S
 * @param {SensorNewest<S>[]} news of a message
 * @returns {S[]} the sensors that have a newer value now
 */
function noteCommitted(news) {
  /** @type {S[]} */
  const changed = new Array(news.length);
  let count = 0;
  for (const each of news) {
    // Another message may have committed a newer value meanwhile.
    if (!isNews(each)) continue;
    each.sensor.ts = each.ts;
    each.sensor.value = each.value;
    changed[count++] = each.sensor;
  }
  changed.length = count;
  return changed;
}

/**
 * The newest values of some sensors of a device, from one message or from several that wait together. The
 * values of a message stay in its own list. With a map, a message of 50 sensors would create 150 more
 * objects.
 */
export class LatestUpdate {
  /**
   * Index in `newest` by the identity of the Buffer with the sensor's id. Only a message with other sensors
   * needs this map.
   *
   * @type {Map<Buffer, number> | null}
   */
  #places = null;

  /**
   * @param {{ bytes: Buffer, retiredAt: number | null }} device `retiredAt`: epoch ms of its last retirement; null: never
   * @param {SensorNewest[]} newest each sensor once
   */
  constructor({ bytes, retiredAt }, newest) {
    this.device = bytes;
    this.retiredAt = retiredAt;
    this.newest = newest;
  }

  /** Number of sensors. */
  get size() {
    return this.newest.length;
  }

  /**
   * @param {LatestUpdate} arriving of the same device
   * @returns {number} number of sensors that only the arriving update has
   */
  countNew({ newest }) {
    if (this.#hasSensorsOf(newest)) return 0;
    const places = this.#findPlaces();
    let count = 0;
    for (const { sensor } of newest) if (!places.has(sensor.bytes)) count++;
    return count;
  }

  /** @param {LatestUpdate} arriving of the same device */
  merge({ newest, retiredAt }) {
    this.retiredAt = retiredAt;
    if (this.#hasSensorsOf(newest)) {
      // The list is copied, because the message needs its own list again if the database refuses the row.
      this.newest = newest.map((each, place) =>
        newer(/** @type {SensorNewest} */ (this.newest[place]), each),
      );
      return;
    }
    const places = this.#findPlaces();
    for (const each of newest) {
      const { bytes } = each.sensor;
      const place = places.get(bytes);
      if (place === undefined) places.set(bytes, this.newest.push(each) - 1);
      else this.newest[place] = newer(/** @type {SensorNewest} */ (this.newest[place]), each);
    }
  }

  /**
   * Whether an update has the same sensors in the same order, as messages of a device nearly always have.
   * Then no map is needed.
   *
   * @param {SensorNewest[]} arriving
   */
  #hasSensorsOf(arriving) {
    const { newest } = this;
    if (arriving.length !== newest.length) return false;
    for (let place = 0; place < newest.length; place++)
      if (arriving[place]?.sensor.bytes !== newest[place]?.sensor.bytes) return false;
    return true;
  }

  #findPlaces() {
    if (this.#places) return this.#places;
    // The list is copied, because the message needs its own list again if the database refuses the row.
    this.newest = [...this.newest];
    this.#places = new Map(this.newest.map(({ sensor }, place) => [sensor.bytes, place]));
    return this.#places;
  }
}

/**
 * The updates of a group that wait together.
 *
 * Invariant: a row with several devices has at most 2,000 entries, even after merging. An update of a single
 * device may have more: it has at most 10,000 sensors. A request of the protocol accepts 65,535 statements.
 *
 * @extends {PendingRow<LatestUpdate>}
 */
export class PendingLatest extends PendingRow {
  /** By device. @type {Map<Buffer, LatestUpdate>} */
  updates = new Map();

  /** @param {Partition} partition of the group @param {LatestUpdate} update */
  constructor(partition, update) {
    super('write_latest', partition, GROUP_WEIGHT + DEVICE_WEIGHT + ENTRY_WEIGHT * update.size);
    this.updates.set(update.device, update);
    this.entries = update.size;
  }

  /** @override @param {LatestUpdate} update @returns {boolean} */
  join(update) {
    const same = this.updates.get(update.device);
    const added = same ? same.countNew(update) : update.size;
    const isAlone = same !== undefined && this.updates.size === 1;
    if (!isAlone && this.entries + added > MAX_ENTRIES_PER_GROUP_COMMIT) return false;
    if (same) same.merge(update);
    else {
      this.updates.set(update.device, update);
      this.grow(DEVICE_WEIGHT);
    }
    this.messages++;
    this.entries += added;
    this.grow(ENTRY_WEIGHT * added);
    return true;
  }

  /** @override */
  toQueries() {
    /** @type {Query[]} */
    const queries = [];
    const [group] = this.partition.key;
    for (const { device, newest, retiredAt } of this.updates.values())
      for (const { ts, entries } of byInstant(newest))
        queries.push({
          query: UPDATE,
          params: [int64(latestStamp(ts, retiredAt)), mapCell(ts, entries), group, device],
        });
    return queries;
  }
}

/** @param {SensorNewest} newest */
const isNews = ({ sensor, ts, value }) =>
  sensor.ts === null ||
  ts > sensor.ts ||
  (ts === sensor.ts && sensor.value !== null && !Object.is(greaterValue(sensor.value, value), sensor.value));

/** @param {SensorNewest} waiting @param {SensorNewest} arriving of the same sensor */
function newer(waiting, arriving) {
  if (arriving.ts !== waiting.ts) return arriving.ts > waiting.ts ? arriving : waiting;
  return Object.is(greaterValue(waiting.value, arriving.value), arriving.value) ? arriving : waiting;
}

/**
 * Length of the period before a retirement whose values get distinct write timestamps. A year takes 8.8 hours
 * of write timestamps. ScyllaDB accepts timestamps up to 3 days in the future.
 */
const SQUEEZED_MS = 365 * DAY_MS;

/**
 * Returns the write timestamp of a value: the time of its measurement, so that the newest measured value
 * wins. A retirement deletes values, and a deletion wins against a value with the same write timestamp.
 * Values that were measured before the retirement and sent after it get timestamps above the deletions, in
 * the order of the measurements: 1 µs for each ms.
 *
 * @param {number} ts epoch ms
 * @param {number | null} retiredAt epoch ms of the last retirement of the device; null: never
 * @returns {number} epoch µs
 */
export function latestStamp(ts, retiredAt) {
  if (retiredAt === null) return ts * 1000;
  return Math.max(ts * 1000, retiredAt * 1000 + Math.max(1, SQUEEZED_MS + ts - retiredAt));
}

/**
 * Groups values by instant. A statement has one write timestamp, so sensors with different newest instants
 * need separate statements.
 *
 * @param {SensorNewest[]} newest
 * @returns {Array<{ ts: number, entries: SensorNewest[] }>}
 */
function byInstant(newest) {
  const [first] = newest;
  // Nearly always a device measures all of its sensors at one instant.
  if (first && newest.every(({ ts }) => ts === first.ts)) return [{ ts: first.ts, entries: newest }];
  /** @type {Map<number, SensorNewest[]>} */
  const instants = new Map();
  for (const each of newest) {
    const entries = instants.get(each.ts);
    if (entries) entries.push(each);
    else instants.set(each.ts, [each]);
  }
  return Array.from(instants, ([ts, entries]) => ({ ts, entries }));
}

const ID_BYTES = 16;
const CELL_BYTES = 8;
const LENGTH_BYTES = 4;
const ENTRY_BYTES = LENGTH_BYTES + ID_BYTES + LENGTH_BYTES + 2 * (LENGTH_BYTES + CELL_BYTES);

/**
 * The bytes of a `map<uuid, frozen<tuple<timestamp, double>>>` (native_protocol_v4.spec, section 6.11 and
 * 6.23). They are written into one Buffer, since the driver's encoder makes eight Buffers for each entry.
 *
 * @param {number} ts epoch ms
 * @param {SensorNewest[]} entries
 */
function mapCell(ts, entries) {
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + ENTRY_BYTES * entries.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setInt32(0, entries.length);
  // The upper half of the time is equal in all entries.
  const high = Math.floor(ts / 2 ** 32);
  const low = ts >>> 0;
  let at = LENGTH_BYTES;
  for (const { sensor, value } of entries) {
    view.setInt32(at, ID_BYTES);
    writeBytes(bytes, at + 4, sensor.bytes);
    view.setInt32(at + 20, 2 * (LENGTH_BYTES + CELL_BYTES));
    view.setInt32(at + 24, CELL_BYTES);
    view.setInt32(at + 28, high);
    view.setUint32(at + 32, low);
    view.setInt32(at + 36, CELL_BYTES);
    view.setFloat64(at + 40, value);
    at += ENTRY_BYTES;
  }
  return bytes;
}

const WRITE_LAST_SEEN = 'UPDATE device USING TIMESTAMP ? SET last_seen = ? WHERE grp = ? AND device_id = ?';

/** Minimum time between two writes of `last_seen` of a device, in ms. */
const LAST_SEEN_EVERY_MS = 60_000;

/** Bytes that a server counts for an update of `last_seen`, rounded up. */
const LAST_SEEN_WEIGHT = 120;

/** Writes the time at which each device was last seen: the time of receipt. */
export class LastSeenWrites {
  #rows;
  #partitions = new GroupPartitions();

  /** @param {{ session: Pick<Session, 'writeMerged'>, retry: Pick<Retry, 'repeat' | 'noteAnswer'> }} deps */
  constructor({ session, retry }) {
    this.#rows = new PendingRows({ session, retry, isSequential: true });
  }

  /**
   * Writes the time at which the device was last seen, at most once a minute.
   *
   * @param {{ bytes: Buffer, group: number, lastSeen: number }} device
   * @param {number} at epoch ms of the receipt
   * @returns {Promise<void> | undefined} settles when the time is committed; undefined: it was written less
   *   than a minute ago
   */
  note(device, at) {
    if (at - device.lastSeen < LAST_SEEN_EVERY_MS) return undefined;
    device.lastSeen = at;
    const seen = { device: device.bytes, at };
    const partition = this.#partitions.find(device.group);
    const { open } = partition;
    const row = open?.join(seen) ? open : this.#rows.open(new PendingLastSeen(partition, seen));
    return row.done;
  }
}

/** @typedef {{ device: Buffer, at: number }} Seen `at` in epoch ms */

/** The devices of a group whose `last_seen` waits. @extends {PendingRow<Seen>} */
class PendingLastSeen extends PendingRow {
  /** By device. @type {Map<Buffer, number>} */
  #seen = new Map();

  /** @param {Partition} partition of the group @param {Seen} seen */
  constructor(partition, { device, at }) {
    super('write_last_seen', partition, LAST_SEEN_WEIGHT);
    this.#seen.set(device, at);
  }

  /** @override @param {Seen} seen @returns {boolean} */
  join({ device, at }) {
    const known = this.#seen.get(device);
    if (known === undefined && this.#seen.size >= MAX_ENTRIES_PER_GROUP_COMMIT) return false;
    this.#seen.set(device, Math.max(at, known ?? at));
    this.messages++;
    if (known === undefined) this.grow(LAST_SEEN_WEIGHT);
    return true;
  }

  /** @override */
  toQueries() {
    const [group] = this.partition.key;
    return Array.from(this.#seen, ([device, at]) => ({
      query: WRITE_LAST_SEEN,
      params: [int64(at * 1000), int64(at), group, device],
    }));
  }
}

/** The partitions of a table that has one partition for each group of devices. */
class GroupPartitions {
  /** @type {Map<number, Partition>} */
  #groups = new Map();

  /** @param {number} group @returns {Partition} */
  find(group) {
    let partition = this.#groups.get(group);
    if (!partition) {
      partition = new Partition(int32(group));
      this.#groups.set(group, partition);
    }
    return partition;
  }
}

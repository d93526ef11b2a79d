import type { Logger } from 'pino';
import type { DeviceBytes, SensorBytes } from '../../../schema/ids.ts';
import { writeBytes } from '../../../schema/packed/pack.ts';
import { greaterValue } from '../../../schema/packed/series.ts';
import { DAY_MS, MAX_ENTRIES_PER_GROUP_COMMIT, MAX_ENTRIES_PER_MESSAGE } from '../../../schema/rules.ts';
import {
  encodeStamp,
  greaterStamp,
  int32,
  int64,
  msOfStamp,
  type Stamp,
  stampAfter,
  stampOf,
  writeTimestamp,
} from '../cql-values.ts';
import { type Newest, newer } from '../devices/latest-rows.ts';
import { committed, isRefusal, Partition, PendingRow, PendingRows } from '../sending/pending-rows.ts';
import { halvesOf } from '../sending/request-bounds.ts';
import type { Retry } from '../sending/retry.ts';
import type { Query, Session } from '../sending/session.ts';

// Each entry of the map is a cell whose write timestamp is the time of the measurement. So the value with the newest measurement wins,
// in whatever order values arrive. If two values have the same time, the database keeps the value with the greater bytes. The merging
// of updates in this file follows the same rule.
const UPDATE = 'UPDATE latest USING TIMESTAMP ? SET newest = newest + ? WHERE grp = ? AND device_id = ?';

/**
 * Bytes that a server counts for a batch of one group, for each device row in it, and for each entry of a map, rounded up.
 * Cassandra 5.0 counts 41, 57 and 60 bytes. The 60 bytes of an entry are the sensor id, time and value with their lengths, the write
 * timestamp and two times of expiry.
 */
const GROUP_WEIGHT = 45;
const DEVICE_WEIGHT = 60;
const ENTRY_WEIGHT = 64;

/** The newest value that this process knows to be committed; null: no such value is known. */
type LatestSensor = {
  bytes: SensorBytes;
  ts: number | null;
  value: number | null;
  /** epoch ms: a correction decides what `latest` shows of samples up to this instant */
  correctedUntil?: number | undefined;
};

type SensorNewest<S extends LatestSensor = LatestSensor> = Newest & { sensor: S };

/**
 * Writes the newest value of each sensor to `latest`, unless a newer value is known to be committed.
 *
 * For each group of devices one write is in flight at a time. Meanwhile further updates of the group are merged, and are sent together as
 * the next write (group commit, without a timer). An update of `latest` costs 15 to 17 µs in a full batch, and 35 µs alone.
 */
export class LatestWrites {
  #rows;
  #logger;
  #partitions = new GroupPartitions();

  constructor({
    session,
    retry,
    logger,
  }: {
    session: Pick<Session, 'writeMerged'>;
    retry: Pick<Retry, 'wait' | 'noteAnswer'>;
    logger: Pick<Logger, 'warn'>;
  }) {
    this.#rows = new PendingRows({ session, retry, isSequential: true });
    this.#logger = logger;
  }

  /**
   * Writes the values that are newer than the last committed values, and then notes them in the sensors.
   * @returns the sensors that have a newer value now; settles when all values are committed
   * @throws `unavailable` while the process ends
   */
  write<S extends LatestSensor>(
    device: { bytes: DeviceBytes; group: number; retiredAt: number | null },
    newest: SensorNewest<S>[],
  ): Promise<S[]> {
    // Nearly always all values are newer. Then the list of the message is used without a copy.
    const news = newest.every(isNews) ? newest : newest.filter(isNews);
    if (news.length === 0) return Promise.resolve([]);
    return this.writeNews(device, news);
  }

  /** Also writes values that the process already knows: of samples that were acknowledged before their rows are written. */
  writeNews<S extends LatestSensor>(
    device: { bytes: DeviceBytes; group: number; retiredAt: number | null },
    news: SensorNewest<S>[],
  ): Promise<S[]> {
    if (news.length > MAX_ENTRIES_PER_MESSAGE) return this.#writeWide(device, news);
    const update = new LatestUpdate(device, news);
    const partition = this.#partitions.find(device.group);
    const { open } = partition;
    const row = open?.join(update) ? open : this.#rows.open(new PendingLatest(partition, update));
    const onRefusal = async (error: unknown) => {
      if (!isRefusal(error)) throw error;
      // The refused update also has values of later messages of the device. So an update with only the values of this message is built.
      const isCommitted = await this.#writeAlone(partition, new LatestUpdate(device, news));
      return isCommitted ? noteCommitted(news) : [];
    };
    // `then` instead of an async function saves memory: every message would keep the state of an async function until its commit.
    return row.done.then(
      () =>
        row.parts
          ? committed(row, device.bytes).then(() => noteCommitted(news), onRefusal)
          : noteCommitted(news),
      onRefusal,
    );
  }

  /** Several commits, one after the other. Other devices of the group write between them. */
  async #writeWide<S extends LatestSensor>(
    device: { bytes: DeviceBytes; group: number; retiredAt: number | null },
    news: SensorNewest<S>[],
  ): Promise<S[]> {
    const changed: S[] = [];
    for (let from = 0; from < news.length; from += MAX_ENTRIES_PER_MESSAGE)
      changed.push(...(await this.writeNews(device, news.slice(from, from + MAX_ENTRIES_PER_MESSAGE))));
    return changed;
  }

  /**
   * A separate request, because a device with refused values would make the writes of other devices fail.
   * @returns false: the database refuses the update
   */
  async #writeAlone(partition: Partition, update: LatestUpdate): Promise<boolean> {
    try {
      const row = new PendingLatest(partition, update);
      await this.#rows.sendAlone(row);
      await committed(row, update.device);
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const { message } = error as Error;
      this.#logger.warn({ reason: message }, 'the database refuses the latest values of a device');
      return false;
    }
  }
}

/** @returns the sensors that have a newer value now */
export function noteCommitted<S extends LatestSensor>(news: SensorNewest<S>[]): S[] {
  const changed: S[] = new Array(news.length);
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

/** The update of one message uses the list of the message itself. A map would create 150 more objects for a message of 50 sensors. */
export class LatestUpdate {
  declare device: DeviceBytes;
  declare retiredAt: number | null;
  declare newest: SensorNewest[];

  /**
   * By the Buffer object of the sensor's id. The map is created when a message with other sensors, or with
   * another order of sensors, is merged.
   */
  #places: Map<SensorBytes, number> | null = null;

  /** @param device `retiredAt`: null: never @param newest each sensor once */
  constructor(
    { bytes, retiredAt }: { bytes: DeviceBytes; retiredAt: number | null },
    newest: SensorNewest[],
  ) {
    this.device = bytes;
    this.retiredAt = retiredAt;
    this.newest = newest;
  }

  get size() {
    return this.newest.length;
  }

  countNew({ newest }: LatestUpdate): number {
    if (this.#hasSensorsOf(newest)) return 0;
    const places = this.#findPlaces();
    let count = 0;
    for (const { sensor } of newest) if (!places.has(sensor.bytes)) count++;
    return count;
  }

  merge({ newest, retiredAt }: LatestUpdate) {
    this.retiredAt = retiredAt;
    if (this.#hasSensorsOf(newest)) {
      // The list is not changed in place, because the message needs it again if the database refuses the row.
      this.newest = newest.map((each, place) => newer(this.newest[place] as SensorNewest, each));
      return;
    }
    const places = this.#findPlaces();
    for (const each of newest) {
      const { bytes } = each.sensor;
      const place = places.get(bytes);
      if (place === undefined) places.set(bytes, this.newest.push(each) - 1);
      else this.newest[place] = newer(this.newest[place] as SensorNewest, each);
    }
  }

  /** Messages of a device nearly always have the same sensors in the same order, and then no map is needed. */
  #hasSensorsOf(arriving: SensorNewest[]) {
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
 * The updates of a group of devices that are sent as one write. Invariant: a write has at most 2,000 entries,
 * even after merging, and so at most 2,000 statements.
 */
export class PendingLatest extends PendingRow<LatestUpdate> {
  declare entries: number;

  updates: Map<DeviceBytes, LatestUpdate> = new Map();

  constructor(partition: Partition, update: LatestUpdate) {
    super('write_latest', partition, GROUP_WEIGHT + DEVICE_WEIGHT + ENTRY_WEIGHT * update.size);
    this.updates.set(update.device, update);
    this.entries = update.size;
  }

  override join(update: LatestUpdate): boolean {
    const same = this.updates.get(update.device);
    const added = same ? same.countNew(update) : update.size;
    if (this.entries + added > MAX_ENTRIES_PER_GROUP_COMMIT) return false;
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

  /** By device; the update of a single device by sensor. */
  override divide() {
    const updates = [...this.updates.values()];
    const [first] = updates;
    if (first && updates.length > 1) return halvesOf(updates).map((half) => this.#part(half));
    if (!first || first.size < 2) return [];
    const { device: bytes, retiredAt } = first;
    return halvesOf(first.newest).map((half) => this.#part([new LatestUpdate({ bytes, retiredAt }, half)]));
  }

  #part([first, ...others]: LatestUpdate[]) {
    const part = new PendingLatest(this.partition, first as LatestUpdate);
    for (const update of others) part.join(update);
    return part;
  }

  override has(device: DeviceBytes) {
    return this.updates.has(device);
  }

  override toQueries() {
    const queries: Query[] = [];
    const [group] = this.partition.key;
    for (const { device, newest, retiredAt } of this.updates.values())
      for (const { ts, entries } of byInstant(newest))
        queries.push({
          query: UPDATE,
          params: [encodeStamp(latestStamp(ts, retiredAt)), mapCell(ts, entries), group, device],
        });
    return queries;
  }
}

const isNews = ({ sensor, ts, value }: SensorNewest) =>
  (sensor.correctedUntil === undefined || ts > sensor.correctedUntil) &&
  (sensor.ts === null ||
    ts > sensor.ts ||
    (ts === sensor.ts &&
      sensor.value !== null &&
      !Object.is(greaterValue(sensor.value, value), sensor.value)));

/**
 * In ms. Values that were measured in this time before a retirement, but sent after it, get distinct write timestamps: see `latestStamp`.
 * At 1 µs for each ms, a year takes 8.8 hours of write timestamps. ScyllaDB accepts timestamps up to 3 days in the future.
 */
const SQUEEZED_MS = 365 * DAY_MS;

/**
 * The time of the measurement, so that the newest measured value wins. A retirement deletes values, and a deletion wins
 * against a value with the same write timestamp. Values that were measured before the retirement and sent after it get
 * timestamps above the deletions, in the order of the measurements: 1 µs for each ms.
 * @param retiredAt epoch ms of the last retirement of the device; null: never
 */
export function latestStamp(ts: number, retiredAt: number | null): Stamp {
  const measured = stampOf(ts);
  if (retiredAt === null) return measured;
  return greaterStamp(measured, stampAfter(stampOf(retiredAt), Math.max(1, SQUEEZED_MS + ts - retiredAt)));
}

/** @returns epoch ms of the newest sample that loses against a value with this write timestamp, or equals it */
export function lastInstantOf(stamp: Stamp, retiredAt: number | null): number {
  const measured = msOfStamp(stamp);
  if (retiredAt === null) return measured;
  return Math.min(measured, stamp - stampOf(retiredAt) - SQUEEZED_MS + retiredAt);
}

/** A statement has one write timestamp, so values with different times need separate statements. */
function byInstant(newest: SensorNewest[]): Array<{ ts: number; entries: SensorNewest[] }> {
  const [first] = newest;
  // A shortcut: nearly always a device measures all of its sensors at the same time.
  if (first && newest.every(({ ts }) => ts === first.ts)) return [{ ts: first.ts, entries: newest }];
  const instants: Map<number, SensorNewest[]> = new Map();
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
 * Encodes a `map<uuid, frozen<tuple<timestamp, double>>>` (native_protocol_v4.spec, sections 6.11 and 6.23).
 * All bytes are written into one Buffer, since the driver's encoder makes eight Buffers for each entry.
 */
export function mapCell(ts: number, entries: Array<{ sensor: { bytes: SensorBytes }; value: number }>) {
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + ENTRY_BYTES * entries.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setInt32(0, entries.length);
  // All entries have the same time, so its two halves are computed once.
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

/** Minimum time between two writes for a device, in ms. Earlier updates are dropped. */
const LAST_SEEN_EVERY_MS = 60_000;

/** Bytes that a server counts for an update of `last_seen`, rounded up. */
const LAST_SEEN_WEIGHT = 120;

/** A device was last seen when its last message was received. */
export class LastSeenWrites {
  #rows;
  #partitions = new GroupPartitions();

  constructor({
    session,
    retry,
  }: { session: Pick<Session, 'writeMerged'>; retry: Pick<Retry, 'wait' | 'noteAnswer'> }) {
    this.#rows = new PendingRows({ session, retry, isSequential: true });
  }

  /**
   * Writes at most once a minute.
   * @param at epoch ms of the receipt
   * @returns undefined: nothing is written, because the last write was less than a minute ago
   */
  note(
    device: { bytes: DeviceBytes; group: number; lastSeen: number },
    at: number,
  ): Promise<void> | undefined {
    if (at - device.lastSeen < LAST_SEEN_EVERY_MS) return undefined;
    device.lastSeen = at;
    const seen = { device: device.bytes, at };
    const partition = this.#partitions.find(device.group);
    const { open } = partition;
    const row = open?.join(seen) ? open : this.#rows.open(new PendingLastSeen(partition, seen));
    return committed(row, device.bytes);
  }
}

type Seen = { device: DeviceBytes; at: number };

class PendingLastSeen extends PendingRow<Seen> {
  #seen: Map<DeviceBytes, number> = new Map();

  constructor(partition: Partition, { device, at }: Seen) {
    super('write_last_seen', partition, LAST_SEEN_WEIGHT);
    this.#seen.set(device, at);
  }

  override join({ device, at }: Seen): boolean {
    const known = this.#seen.get(device);
    if (known === undefined && this.#seen.size >= MAX_ENTRIES_PER_GROUP_COMMIT) return false;
    this.#seen.set(device, Math.max(at, known ?? at));
    this.messages++;
    if (known === undefined) this.grow(LAST_SEEN_WEIGHT);
    return true;
  }

  override toQueries() {
    const [group] = this.partition.key;
    return Array.from(this.#seen, ([device, at]) => ({
      query: WRITE_LAST_SEEN,
      params: [writeTimestamp(at), int64(at), group, device],
    }));
  }
}

/** For a table that has one partition for each group of devices. */
class GroupPartitions {
  #groups: Map<number, Partition> = new Map();

  find(group: number): Partition {
    let partition = this.#groups.get(group);
    if (!partition) {
      partition = new Partition(int32(group));
      this.#groups.set(group, partition);
    }
    return partition;
  }
}

import { LRUCache } from 'lru-cache';
import { uuidText } from '../../../schema/ids.ts';
import { visitBlock } from '../../../schema/packed/block.ts';
import { bucketOf, closingOf, HOUR_MS, isLate, LATE_MARGIN_MS } from '../../../schema/rules.ts';
import { iteratePages } from '../../history/packing/index.ts';
import type { Store } from '../../store/index.ts';
import type { StoredBlock } from '../../store/streaming.ts';
import { type Names, openBatchText } from '../records.ts';
import type { CommitHorizon } from './horizon.ts';

export { CommitHorizon } from './horizon.ts';

/**
 * Readers read blocks in windows of their write timestamps. A window has this width, in ms, and is read in pieces. Cursors rely on the width,
 * so it must not change.
 */
const WINDOW_MS = 60_000;

/** Width of a piece of a window in ms: at least this, and at least this for each device, because each piece reads all devices. */
const PIECE_MS = 1000;
const PIECE_MS_PER_DEVICE = 2;

/** Time in ms until a reader that waits asks again whether its step can be read. */
const ASK_EVERY_MS = 250;

/** A reader that begins now does not wait for processes whose marks are older than this, in ms. */
const OLDEST_JOIN_MS = 150_000;

/**
 * Limit in ms by which the newest sample of a block may be older than the window of its write. A window leaves out older blocks.
 * Readers get them when their hour has closed.
 */
const ORDERLY_MS = 10 * 60_000;

/** Limit in ms by which the hour of a block may be ahead of the window of its write: the default of MAX_CLOCK_SKEW. */
const AHEAD_MS = 5 * 60_000;

/** Limit of devices that a step reads concurrently. */
const DEVICES_AT_ONCE = 16;

/** Number behind all parts of a device's hour. A place with this part is after all blocks of the hour. */
const BEHIND_PARTS = Number.MAX_SAFE_INTEGER;

/** Limit by which write timestamps of the driver may be ahead of its clock, in ms. */
const DRIFT_MS = 1000;

const NAMES = { max: 10_000, ttl: 60_000 };

/**
 * The position of a reader of changes. `from` is the first hour that is not complete. At the instant `join`, the reader changed
 * from closed hours to windows. The step `open` has sent the blocks that were written before `join`. A reader with `fresh` does
 * not want those blocks.
 */
export interface Position {
  step: Step;
  /** epoch ms: the hour of the step, or the end of its window */
  at: number;
  /** epoch ms */
  from: number;
  /** epoch ms: the end of the last piece of the window; missing: the whole window is left */
  begun?: number;
  /** epoch ms: the end of the piece that is being read */
  until?: number;
  /** epoch ms */
  join?: number;
  /** whether the reader wants only blocks that are written after `join` */
  fresh?: boolean;
  /** the last change of the step that the reader has received */
  after?: Place;
}

/**
 * - `hour`: all timely blocks of a closed hour
 * - `late`: the late blocks that were committed in an hour, whatever the hour of their samples
 * - `open`: the blocks of the hours that were open at `join`
 * - `window`: the blocks that were written in a minute, or in a piece of it
 * - `close`: the blocks of a closed hour that no window contained
 */
type Step = 'hour' | 'late' | 'open' | 'window' | 'close';

/** `device` and `digest` as hex */
type Place = { group: number; device: string; bucket: number; part: number; ts: number; digest: string };

/**
 * A change: one block, or the message that all hours before `until` are complete. `text` is JSON without its closing brace.
 */
export type Change = { text: string; position: Position };

/** The progress of a step: the reader has all changes of the step before this position. */
export type Progress = { text: null; position: Position };

/**
 * Returns a reader of committed blocks. It reads the table itself, in an order that is equal for every client. So a position is a
 * few numbers, and a client can resume exactly there, at any process. Only late messages cause additional writes.
 *
 *     since ──▶ hour 10, late 10 │ hour 11, late 11 │ open │ window 13:41 │ window 13:42 │ … │ close 12, late 12 │ window …
 *               closed hours, whole                 join    by write timestamp, minute by minute
 *
 * A piece of a window is read when all its writes are visible, and none can be added: see `horizon.ts`. The write timestamp and
 * the newest sample of a block alone decide whether a window contains the block. So the step `close` can compute which blocks came
 * with windows, without storing them.
 */
export function createChanges({
  store,
  groups,
  horizon,
  clock,
}: {
  store: Pick<Store, 'streaming' | 'devices'>;
  /** number of shards of devices (`LATEST_GROUPS`) */
  groups: number;
  horizon: Pick<CommitHorizon, 'read'>;
  /** epoch ms */
  clock: () => number;
}) {
  const { streaming } = store;
  /** Number of devices that the last piece of a window read. */
  let deviceCount = 0;
  const known: LRUCache<string, Names> = new LRUCache(NAMES);

  /**
   * Returns the names of a device and its sensors. The cache is not used if it lacks a sensor of the block, because that sensor is new.
   * @param bucket epoch ms
   */
  async function namesOf(group: number, device: Buffer, bucket: number, samples: Buffer): Promise<Names> {
    const id = uuidText(device);
    const found = known.get(id);
    let isComplete = found !== undefined;
    if (found)
      visitBlock(bucket, samples, (sensor) => {
        isComplete &&= found.sensor(uuidText(sensor)) !== null;
      });
    if (found && isComplete) return found;
    const key = { group, bytes: device };
    const [row, rows] = await Promise.all([store.devices.device(key), store.devices.sensors(key)]);
    const sensors = new Map(rows.map((sensor) => [sensor.id, sensor.name]));
    const names = {
      id,
      name: row?.name ?? null,
      sensor: (sensorId: string) => sensors.get(sensorId) ?? null,
    };
    known.set(id, names);
    return names;
  }

  /** Reads the blocks of one device in one hour, beginning after a place. @param bucket epoch ms */
  async function* blocksOf(
    device: Buffer,
    bucket: number,
    { since, after }: { since?: number; after?: Place },
  ): AsyncGenerator<StoredBlock, void> {
    const place = after && after.device === device.toString('hex') && after.bucket === bucket ? after : null;
    for (const part of await streaming.parts(device, bucket)) {
      if (place && part < place.part) continue;
      const pages = iteratePages((next) => streaming.blockPage(device, bucket, part, { since, after: next }));
      for await (const block of pages) {
        if (place && part === place.part && !isAfter(block, place)) continue;
        yield block;
      }
    }
  }

  /** Makes a change of a block, with the position after the block. */
  async function toChange(
    group: number,
    device: Buffer,
    bucket: number,
    block: StoredBlock,
    position: Position,
  ): Promise<Change> {
    const { digest, samples, writtenAt, part, ts } = block;
    const late = isLate(bucket, writtenAt);
    const text = openBatchText(
      { bucket, digest, samples, committedAt: writtenAt, late },
      await namesOf(group, device, bucket, samples),
    );
    const after = {
      group,
      device: device.toString('hex'),
      bucket,
      part,
      ts,
      digest: digest.toString('hex'),
    };
    return { text, position: { ...position, after } };
  }

  /**
   * Returns the hours that a step reads of each device. `has` decides whether a block belongs to the step.
   */
  function hoursOf(
    position: Position,
  ): Array<{ bucket: number; since?: number; has: (block: StoredBlock) => boolean }> {
    const { step, at, from, join = 0 } = position;
    if (step === 'hour') return [{ bucket: at, has: ({ writtenAt }) => writtenAt < lateFrom(at) }];
    if (step === 'close') {
      return [
        {
          bucket: at,
          has: (block) =>
            block.writtenAt < lateFrom(at) && !isInWindow(block, at) && !isBeforeJoin(block, at, position),
        },
      ];
    }
    if (step === 'open') {
      return bucketsBetween(from, bucketOf(join + AHEAD_MS)).map((bucket) => ({
        bucket,
        has: ({ writtenAt }) => writtenAt <= join,
      }));
    }
    const since = at - WINDOW_MS - ORDERLY_MS;
    const begun = begunOf(position);
    const until = position.until ?? at;
    return bucketsBetween(Math.max(from, bucketOf(since)), bucketOf(at + AHEAD_MS)).map((bucket) => ({
      bucket,
      since,
      has: ({ writtenAt, ts }) => writtenAt > begun && writtenAt <= until && ts >= since,
    }));
  }

  async function* changesOfDevices(
    position: Position,
    signal: AbortSignal,
  ): AsyncGenerator<Change | Progress, void> {
    const { after } = position;
    const hours = hoursOf(position);
    let count = 0;
    for (let group = after?.group ?? 0; group < groups; group++) {
      const first = after?.group === group ? Buffer.from(after.device, 'hex') : null;
      const devices = iteratePages((next) => streaming.devicePage(group, first, next));
      // Most devices have few blocks, so several devices are read at once.
      for await (const some of inBatches(devices, DEVICES_AT_ONCE)) {
        count += some.length;
        const reads = some.map((device) => {
          const changes = changesOfDevice(group, device, hours, position, signal);
          return { changes, first: changes.next() };
        });
        for (const read of reads) read.first.catch(() => {});
        for (const { changes, first: begun } of reads) {
          for (let next = await begun; !next.done; next = await changes.next()) yield next.value;
        }
        const [device, hour] = [some.at(-1), hours.at(-1)];
        if (device && hour) yield progressOf(position, { group, device, bucket: hour.bucket });
        signal.throwIfAborted();
      }
    }
    if (!after) deviceCount = count;
  }

  async function* changesOfDevice(
    group: number,
    device: Buffer,
    hours: ReturnType<typeof hoursOf>,
    position: Position,
    signal: AbortSignal,
  ): AsyncGenerator<Change, void> {
    const { after } = position;
    const reached = after && after.group === group && after.device === device.toString('hex') ? after : null;
    for (const { bucket, since, has } of hours) {
      if (reached && bucket < reached.bucket) continue;
      signal.throwIfAborted();
      for await (const block of blocksOf(device, bucket, { since, after }))
        if (has(block)) yield await toChange(group, device, bucket, block, position);
    }
  }

  async function* lateChanges(
    position: Position,
    signal: AbortSignal,
  ): AsyncGenerator<Change | Progress, void> {
    const { at, after, fresh, join = 0 } = position;
    for (let group = after?.group ?? 0; group < groups; group++) {
      const from =
        after?.group === group ? { device: Buffer.from(after.device, 'hex'), bucket: after.bucket } : null;
      const pages = iteratePages((next) => streaming.lateArrivalPage(group, at, next, from));
      let last = '';
      for await (const { device, bucket, since } of pages) {
        // The table may list the same hour of a device several times, with different values of `since`. The row with the
        // earliest value comes first.
        const key = `${device.toString('hex')} ${bucket}`;
        if (key === last) continue;
        last = key;
        signal.throwIfAborted();
        const begin = Math.max(since, lateFrom(bucket), fresh ? join + 1 : 0);
        for await (const block of blocksOf(device, bucket, { after })) {
          if (block.writtenAt >= begin && block.writtenAt < at + HOUR_MS + DRIFT_MS)
            yield await toChange(group, device, bucket, block, position);
        }
        yield progressOf(position, { group, device, bucket });
      }
    }
  }

  /** @param position of a finished step */
  function next({ step, at, from, until = at, join, fresh }: Position): Position | Promise<Position> {
    if (step === 'hour') return { step: 'late', at, from };
    if (step === 'late' && join === undefined) return begin(at + HOUR_MS);
    const joined = { from, join, ...(fresh && { fresh }) };
    if (step === 'open') return { step: 'window', at: windowEnd(at), begun: at, ...joined };
    if (step === 'window' && until < at) return { step, at, begun: until, ...joined };
    if (step === 'close') return { step: 'late', at, ...joined };
    // At the end of an hour, the previous hour has closed. The step `close` comes next and completes the previous hour.
    const closed = at - 2 * HOUR_MS;
    if (step === 'window' && at % HOUR_MS === 0 && closed >= from)
      return { step: 'close', at: closed, ...joined };
    const end = step === 'late' ? at + 2 * HOUR_MS : at;
    return { step: 'window', at: end + WINDOW_MS, ...joined, from: step === 'late' ? at + HOUR_MS : from };
  }

  /** @param hour first hour that the reader wants, in epoch ms */
  async function begin(hour: number): Promise<Position> {
    if (clock() >= closingOf(hour)) return { step: 'hour', at: hour, from: hour };
    const join = await presentJoin();
    return { step: 'open', at: join, from: hour, join };
  }

  /** Returns the time at which a reader that begins now changes to windows. @returns epoch ms */
  const presentJoin = async (): Promise<number> => Math.max(await horizon.read(), clock() - OLDEST_JOIN_MS);

  /** @returns end of the first piece of a window that is worth a read, in epoch ms */
  const pieceEnd = (position: Position): number => {
    const { at, after, until } = position;
    // A cursor of version 0.4 in the middle of a window has no `until`, and stands for the whole window.
    if (until !== undefined || after) return until ?? at;
    return Math.min(at, begunOf(position) + Math.max(PIECE_MS, PIECE_MS_PER_DEVICE * deviceCount));
  };

  /** Chooses the end of a piece of a window: all that can be read. */
  async function withPiece(position: Position): Promise<Position> {
    const { step, at, after, until } = position;
    if (step !== 'window' || after || until !== undefined) return position;
    return { ...position, until: Math.min(at, await horizon.read()) };
  }

  return {
    /** @returns time in ms after which it is worth asking again; 0: the step can be read now */
    async readableIn(position: Position): Promise<number> {
      const { step, at } = position;
      // Late messages are noted under the hour of their commit until that hour closes.
      if (step !== 'window' && step !== 'open') return Math.max(0, closingOf(at) - clock());
      const wanted = step === 'open' ? at : pieceEnd(position);
      return (await horizon.read()) >= wanted ? 0 : ASK_EVERY_MS;
    },

    /** Returns the position of a reader that wants only later commits. */
    async fromNow(): Promise<Position> {
      const join = await presentJoin();
      const from = bucketOf(join) - HOUR_MS;
      return { step: 'window', at: windowEnd(join), begun: join, from, join, fresh: true };
    },

    /**
     * Returns the position of a reader that wants the hour of `since` and all later hours.
     * @param since epoch ms
     */
    fromTime: (since: number): Promise<Position> => begin(bucketOf(Math.min(since, clock()))),

    /**
     * Reads the changes of one step after the position. Between changes it also yields its progress, so that a reader can resume
     * there.
     * @param start position of a step that can be read already
     * @param signal ends the read
     * @returns yields changes and progress, and returns the position of the next step
     * @throws the reason with which `signal` was aborted
     */
    async *read(start: Position, signal: AbortSignal): AsyncGenerator<Change | Progress, Position> {
      const position = await withPiece(start);
      yield* position.step === 'late' ? lateChanges(position, signal) : changesOfDevices(position, signal);
      const following = await next(position);
      if (position.step === 'late') {
        const until = new Date(position.at + HOUR_MS).toISOString();
        yield { text: `{"kind":"watermark","until":"${until}"`, position: following };
      }
      return following;
    },
  };
}

/**
 * @param bucket epoch ms
 * @returns epoch ms; blocks of the hour that are written from this time on are late, and come with the step `late`
 */
const lateFrom = (bucket: number): number => closingOf(bucket) - LATE_MARGIN_MS;

/** @param ts epoch ms @returns end of the first window that ends after this time, in epoch ms */
const windowEnd = (ts: number): number => (Math.floor(ts / WINDOW_MS) + 1) * WINDOW_MS;

/** @param position of a window @returns end of its last piece, in epoch ms */
const begunOf = ({ at, begun = at - WINDOW_MS }: Position): number => begun;

/** Whether the block came with the window of its write timestamp. @param bucket epoch ms */
function isInWindow({ writtenAt, ts }: StoredBlock, bucket: number) {
  const end = Math.ceil(writtenAt / WINDOW_MS) * WINDOW_MS;
  return ts >= end - WINDOW_MS - ORDERLY_MS && bucket <= bucketOf(end + AHEAD_MS);
}

/**
 * Whether the block was written before the windows of this reader began. The step `open` has already sent such a block, or the
 * reader does not want it.
 */
const isBeforeJoin = ({ writtenAt }: StoredBlock, bucket: number, { join = 0, fresh }: Position) =>
  writtenAt <= join && (fresh === true || bucket <= bucketOf(join + AHEAD_MS));

/**
 * Returns the position after all blocks of a device in one hour.
 * @param hour device and hour that were read completely
 */
const progressOf = (
  position: Position,
  { group, device, bucket }: { group: number; device: Buffer; bucket: number },
): Progress => ({
  text: null,
  position: {
    ...position,
    after: { group, device: device.toString('hex'), bucket, part: BEHIND_PARTS, ts: 0, digest: '' },
  },
});

/** Whether a block comes after a place in the order of the table: newest first, then by digest. */
const isAfter = ({ ts, digest }: StoredBlock, place: Place) =>
  ts < place.ts || (ts === place.ts && digest.compare(Buffer.from(place.digest, 'hex')) > 0);

/**
 * @param from epoch ms
 * @param to epoch ms
 * @returns all hours from `from` to `to`, both included, in epoch ms
 */
const bucketsBetween = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, (to - from) / HOUR_MS + 1) }, (_, index) => from + index * HOUR_MS);

async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[], void> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

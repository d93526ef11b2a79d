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

/** Blocks are read in windows of their write timestamps, in ms. Cursors rely on this width, so it must not change. */
const WINDOW_MS = 60_000;

/** Minimum width of a piece of a window in ms. It grows with the devices, because each piece reads all of them. */
const PIECE_MS = 1000;
const PIECE_MS_PER_DEVICE = 2;

/** A waiting reader asks again after this time in ms. */
const ASK_EVERY_MS = 250;

/** A new reader does not wait for processes whose marks are older than this, in ms. */
const OLDEST_JOIN_MS = 150_000;

/** In ms. A window leaves out blocks whose newest sample is older than this. Readers get them when their hour has closed. */
const ORDERLY_MS = 10 * 60_000;

/** In ms. The hour of a block may be this far ahead of its window: the default of MAX_CLOCK_SKEW. */
const AHEAD_MS = 5 * 60_000;

const DEVICES_AT_ONCE = 16;

/** A place with this part is after all blocks of a device's hour. */
const BEHIND_PARTS = Number.MAX_SAFE_INTEGER;

/** Write timestamps of the driver may be this far ahead of its clock, in ms. */
const DRIFT_MS = 1000;

const NAMES = { max: 10_000, ttl: 60_000 };

/**
 * The position of a reader of changes, with all instants in epoch ms. `from` is the first hour that is not complete. At `join`, the reader
 * changed from closed hours to windows, and the step `open` has sent the blocks that were written before it.
 */
export interface Position {
  step: Step;
  /** epoch ms: the hour of the step, or the end of its window */
  at: number;
  from: number;
  /** end of the last piece of the window; missing: the whole window is left */
  begun?: number;
  /** end of the piece that is being read, in epoch ms */
  until?: number;
  join?: number;
  /** the reader wants only blocks that are written after `join` */
  fresh?: boolean;
  /** the last change of the step that the reader has */
  after?: Place;
}

/**
 * - `hour`: all timely blocks of a closed hour - `late`: the late blocks that were committed in an hour, whatever the hour of their samples
 * - `open`: the blocks of the hours that were open at `join` - `window`: the blocks that were written in a minute, or in a piece of it -
 * `close`: the blocks of a closed hour that no window contained
 */
type Step = 'hour' | 'late' | 'open' | 'window' | 'close';

/** `device` and `digest` as hex */
type Place = { group: number; device: string; bucket: number; part: number; ts: number; digest: string };

/** One block, or the message that all hours before `until` are complete. `text` is JSON without its closing brace. */
export type Change = { text: string; position: Position };

/** The reader has all changes of the step before this position. */
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
  groups: number;
  horizon: Pick<CommitHorizon, 'read'>;
  clock: () => number;
}) {
  const { streaming } = store;
  let deviceCount = 0;
  const known: LRUCache<string, Names> = new LRUCache(NAMES);

  /** The cache is not used if it lacks a sensor of the block, because that sensor is new. */
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

  /** The change has the position after its block. */
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

  /** Hours of each device that a step reads. `has` decides whether a block belongs to the step. */
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

  /** `position`: of a finished step. */
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

  async function begin(hour: number): Promise<Position> {
    if (clock() >= closingOf(hour)) return { step: 'hour', at: hour, from: hour };
    const join = await presentJoin();
    return { step: 'open', at: join, from: hour, join };
  }

  /** When a reader that begins now changes to windows, in epoch ms. */
  const presentJoin = async (): Promise<number> => Math.max(await horizon.read(), clock() - OLDEST_JOIN_MS);

  /** End of the first piece of a window that is worth a read, in epoch ms. */
  const pieceEnd = (position: Position): number => {
    const { at, after, until } = position;
    // A cursor of version 0.4 in the middle of a window has no `until`, and stands for the whole window.
    if (until !== undefined || after) return until ?? at;
    return Math.min(at, begunOf(position) + Math.max(PIECE_MS, PIECE_MS_PER_DEVICE * deviceCount));
  };

  /** The piece has all that can be read now. */
  async function withPiece(position: Position): Promise<Position> {
    const { step, at, after, until } = position;
    if (step !== 'window' || after || until !== undefined) return position;
    return { ...position, until: Math.min(at, await horizon.read()) };
  }

  return {
    /** In ms until it is worth asking again; 0: the step can be read now. */
    async readableIn(position: Position): Promise<number> {
      const { step, at } = position;
      // Late messages are noted under the hour of their commit until that hour closes.
      if (step !== 'window' && step !== 'open') return Math.max(0, closingOf(at) - clock());
      const wanted = step === 'open' ? at : pieceEnd(position);
      return (await horizon.read()) >= wanted ? 0 : ASK_EVERY_MS;
    },

    /** The position of a reader that wants only later commits. */
    async fromNow(): Promise<Position> {
      const join = await presentJoin();
      const from = bucketOf(join) - HOUR_MS;
      return { step: 'window', at: windowEnd(join), begun: join, from, join, fresh: true };
    },

    /** For a reader that wants the hour of `since` (epoch ms) and all later hours. */
    fromTime: (since: number): Promise<Position> => begin(bucketOf(Math.min(since, clock()))),

    /**
     * Reads one step, which must be readable, and returns the position of the next one. Between changes it also yields its progress, so
     * that a reader can resume there. Throws the reason with which `signal` was aborted.
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

/** Blocks of the hour that are written from this epoch ms on are late, and come with the step `late`. */
const lateFrom = (bucket: number): number => closingOf(bucket) - LATE_MARGIN_MS;

/** End of the first window that ends after `ts`. Both are epoch ms. */
const windowEnd = (ts: number): number => (Math.floor(ts / WINDOW_MS) + 1) * WINDOW_MS;

/** End of the last piece of a window. */
const begunOf = ({ at, begun = at - WINDOW_MS }: Position): number => begun;

function isInWindow({ writtenAt, ts }: StoredBlock, bucket: number) {
  const end = Math.ceil(writtenAt / WINDOW_MS) * WINDOW_MS;
  return ts >= end - WINDOW_MS - ORDERLY_MS && bucket <= bucketOf(end + AHEAD_MS);
}

/** The step `open` has already sent such a block, or the reader does not want it. */
const isBeforeJoin = ({ writtenAt }: StoredBlock, bucket: number, { join = 0, fresh }: Position) =>
  writtenAt <= join && (fresh === true || bucket <= bucketOf(join + AHEAD_MS));

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

/** The table orders newest first, then by digest. */
const isAfter = ({ ts, digest }: StoredBlock, place: Place) =>
  ts < place.ts || (ts === place.ts && digest.compare(Buffer.from(place.digest, 'hex')) > 0);

/** In epoch ms, both ends included. */
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

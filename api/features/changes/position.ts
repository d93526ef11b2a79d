import type { DeviceBytes } from '../../../schema/ids.ts';
import { bucketOf, closingOf, HOUR_MS, LATE_MARGIN_MS } from '../../../schema/rules.ts';
import type { StoredBlock } from '../shared/blocks/store.ts';

/** Blocks are read in windows of their write timestamps, in ms. Cursors rely on this width, so it must not change. */
export const WINDOW_MS = 60_000;

/** In ms. A window leaves out blocks whose newest sample is older than this. Readers get them when their hour has closed. */
const ORDERLY_MS = 10 * 60_000;

/** In ms. The hour of a block may be this far ahead of its window: the default of MAX_CLOCK_SKEW. */
const AHEAD_MS = 5 * 60_000;

/** A place with this part is after all blocks of a device's hour. */
const BEHIND_PARTS = Number.MAX_SAFE_INTEGER;

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
export type Place = {
  group: number;
  device: string;
  bucket: number;
  part: number;
  ts: number;
  digest: string;
};

/** One block, or the message that all hours before `until` are complete. `text` is JSON without its closing brace. */
export type Change = { text: string; position: Position };

/** The reader has all changes of the step before this position. */
export type Progress = { text: null; position: Position };

export interface StepHour {
  bucket: number;
  since?: number;
  has: (block: StoredBlock) => boolean;
}

/** Hours of each device that a step reads. `has` decides whether a block belongs to the step. */
export function hoursOf(position: Position): StepHour[] {
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

/** Blocks of the hour that are written from this epoch ms on are late, and come with the step `late`. */
export const lateFrom = (bucket: number): number => closingOf(bucket) - LATE_MARGIN_MS;

/** End of the first window that ends after `ts`. Both are epoch ms. */
export const windowEnd = (ts: number): number => (Math.floor(ts / WINDOW_MS) + 1) * WINDOW_MS;

/** End of the last piece of a window. */
export const begunOf = ({ at, begun = at - WINDOW_MS }: Position): number => begun;

function isInWindow({ writtenAt, ts }: StoredBlock, bucket: number) {
  const end = Math.ceil(writtenAt / WINDOW_MS) * WINDOW_MS;
  return ts >= end - WINDOW_MS - ORDERLY_MS && bucket <= bucketOf(end + AHEAD_MS);
}

/** The step `open` has already sent such a block, or the reader does not want it. */
const isBeforeJoin = ({ writtenAt }: StoredBlock, bucket: number, { join = 0, fresh }: Position) =>
  writtenAt <= join && (fresh === true || bucket <= bucketOf(join + AHEAD_MS));

export const progressOf = (
  position: Position,
  { group, device, bucket }: { group: number; device: DeviceBytes; bucket: number },
): Progress => ({
  text: null,
  position: {
    ...position,
    after: { group, device: device.toString('hex'), bucket, part: BEHIND_PARTS, ts: 0, digest: '' },
  },
});

/** The table orders newest first, then by digest. */
export const isAfter = ({ ts, digest }: StoredBlock, place: Place) =>
  ts < place.ts || (ts === place.ts && digest.compare(Buffer.from(place.digest, 'hex')) > 0);

/** In epoch ms, both ends included. */
const bucketsBetween = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, (to - from) / HOUR_MS + 1) }, (_, index) => from + index * HOUR_MS);

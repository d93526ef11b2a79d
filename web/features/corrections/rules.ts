import type { Zone } from '../../format.ts';
import { formatCounted, formatDate, formatDateTime, formatTime, formatTimeMs } from '../../format.ts';
import type { Correction } from './api.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Equal to that of schema/rules.ts. A test compares the two. */
export const UNDO_DAYS = 7;

/** @returns time in epoch ms until which the correction can be undone */
export const undoEnd = ({ accepted_at }: Pick<Correction, 'accepted_at'>): number =>
  Date.parse(accepted_at) + UNDO_DAYS * DAY_MS;

/**
 * @param corrections newest first, with all later corrections of their devices
 * @returns ids of the corrections that are in effect, because no later one undoes them
 */
export function inEffect(corrections: Pick<Correction, 'id' | 'undoes'>[]): Set<string> {
  const undone: Set<string> = new Set();
  const effective: Set<string> = new Set();
  for (const { id, undoes } of corrections) {
    if (undone.has(id)) continue;
    effective.add(id);
    if (undoes !== null) undone.add(undoes);
  }
  return effective;
}

/** A correction, or several that were sent as parts of one; `parts`: newest first */
export type JoinedCorrection = Correction & { parts: [Correction, ...Correction[]] };

/** Maximum time in ms between two parts. */
const PART_MS = 600_000;

/**
 * Joins the parts of long corrections. Each continues the range of the part before it.
 *
 * @param corrections newest first
 * @param effective ids of the corrections that are in effect
 */
export function joinParts(corrections: Correction[], effective: ReadonlySet<string>): JoinedCorrection[] {
  const joined: JoinedCorrection[] = [];
  const requestOf = ({ id, kind, device_id, sensor_ids, by, reason }: Correction) =>
    JSON.stringify([kind, device_id, sensor_ids, by, reason, effective.has(id)]);
  for (const correction of corrections) {
    const later = joined.at(-1);
    const next = later?.parts.at(-1);
    const [from, to] = [Date.parse(correction.from), Date.parse(correction.to)];
    const gap = Date.parse(next?.from ?? '') - to;
    const isPart =
      later &&
      next &&
      gap >= 0 &&
      gap < to - from &&
      requestOf(correction) === requestOf(next) &&
      Date.parse(next.accepted_at) - Date.parse(correction.accepted_at) < PART_MS;
    if (isPart) {
      later.parts.push(correction);
      later.samples += correction.samples;
      later.from = correction.from;
    } else joined.push({ ...correction, parts: [correction] });
  }
  return joined;
}

/** A removal counts its samples at its end. */
const isUnfinished = ({ kind, samples }: Pick<Correction, 'kind' | 'samples'>): boolean =>
  kind === 'remove' && samples === 0;

const VERBS = { replace: 'Replaced', remove: 'Removed', undo: 'Undid a correction of' };

/** @returns `Removed 3,600 samples` */
export const correctionText = (correction: Pick<Correction, 'kind' | 'samples'>): string =>
  isUnfinished(correction)
    ? 'Removal that has not ended'
    : `${VERBS[correction.kind]} ${formatCounted(correction.samples, 'sample')}`;

/** @returns `2026-11-21 09:00:00 to 10:00:00`; milliseconds only for a single instant */
export function rangeText({ from, to }: { from: number; to: number }, zone: Zone): string {
  if (to - from <= 1) return `${formatDate(from, zone)} ${formatTimeMs(from, zone)}`;
  const isOneDay = formatDate(from, zone) === formatDate(to, zone);
  return `${formatDateTime(from, zone)} to ${isOneDay ? formatTime(to, zone) : formatDateTime(to, zone)}`;
}

export type Calibration = { kind: 'add' | 'multiply'; by: number };

/** Significant digits of each double. Further digits of a computed value are rounding noise: 0.1 + 0.2 is 0.3. */
const DIGITS = 15;

export function calibrate(value: number, { kind, by }: Calibration): number {
  const exact = kind === 'add' ? value + by : value * by;
  return Number.isSafeInteger(exact) ? exact : Number(exact.toPrecision(DIGITS));
}

/** Maximum number of samples in one request, which then fits into the default of `MAX_MESSAGE_BYTES`. */
export const SAMPLES_PER_REQUEST = 8_000;
/** Maximum number of samples that one calibration reads. */
export const MAX_CALIBRATED = 1_000_000;
/** Approximate number of samples that one request removes. Each is a correction of its own. */
const REMOVED_AT_ONCE = 2_000_000;

export function chunksOf<T>(items: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}

/** Splits a range at whole hours, so that a long removal has progress. @param samples number of samples in the range */
export function partsOf(
  range: { from: number; to: number },
  samples: number,
): { from: number; to: number }[] {
  const step = (range.to - range.from) / Math.max(Math.ceil(samples / REMOVED_AT_ONCE), 1);
  const parts: { from: number; to: number }[] = [];
  for (let from = range.from; from < range.to; ) {
    const end = Math.max(Math.ceil((from + step) / HOUR_MS), Math.floor(from / HOUR_MS) + 1) * HOUR_MS;
    const to = Math.min(end, range.to);
    parts.push({ from, to });
    from = to;
  }
  return parts;
}

/**
 * @param text value of a `datetime-local` field
 * @returns instants at which clocks of the zone show this time, in epoch ms: two in the repeated hour of autumn, none in the skipped hour
 */
export function instantsOf(text: string, zone: Zone): number[] {
  const wall = text.includes('T') ? Date.parse(`${text}Z`) : Number.NaN;
  if (!Number.isFinite(wall)) return [];
  const offsets = [...new Set([zone.offsetAt(wall - DAY_MS), zone.offsetAt(wall + DAY_MS)])];
  return offsets
    .map((offset) => ({ at: wall - offset, offset }))
    .filter(({ at, offset }) => zone.offsetAt(at) === offset)
    .map(({ at }) => at)
    .sort((a, b) => a - b);
}

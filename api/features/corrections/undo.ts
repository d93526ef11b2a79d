import { forEachConcurrently } from '../../../common/concurrency.ts';
import { MillraceError } from '../../../common/errors.ts';
import { uuidBytes } from '../../../schema/ids.ts';
import { DAY_MS, dayOf, MOST_CLOCK_DIFFERENCE_MS, PURGE_DAYS, UNDO_DAYS } from '../../../schema/rules.ts';
import type { Core } from '../../feature.ts';
import type { CorrectionRequest } from '../../ingest/correction-log.ts';
import type { Change } from '../../ingest/corrections.ts';
import type { Device } from '../../ingest/registry/cache.ts';
import type { RevisedHour } from '../../ingest/revisions.ts';
import type { Correction, ListedCorrection } from '../../store/corrections.ts';
import { timeOfId } from '../../store/index.ts';

/** Sensors in one write. */
const SENSORS_AT_ONCE = 8;

/** In ms. Two processes with different clocks may list one correction after the other. */
const MAX_BEHIND_MS = 4 * MOST_CLOCK_DIFFERENCE_MS;

/** Each day of a sensor is one request. */
const DAYS_AT_ONCE = 16;

/**
 * Undoes a correction with a further revision, so readers see what they would see without it. Later corrections stay. The undo of an undo
 * restores the correction. A repeated undo completes the first one, so one undo of it is always enough.
 * @returns the entry of the log
 * @throws `too_late`: it is too old, or its device is gone; `busy`: it still runs
 */
export async function undoCorrection(
  { store, ingest, corrections }: Pick<Core, 'store' | 'ingest' | 'corrections'>,
  correction: Correction,
  request: CorrectionRequest,
): Promise<Correction> {
  const now = await corrections.log.now();
  if (correction.runningUntil > now)
    throw new MillraceError('busy', 'The correction is still running. Try again later.');
  const acceptedAt = Math.floor(correction.revision / 1000);
  if (acceptedAt < now - UNDO_DAYS * DAY_MS) throw tooLate();
  const bytes = uuidBytes(correction.device);
  const device = await ingest.writing.registry.findNow({ id: correction.device, bytes });
  if (!device) throw new MillraceError('too_late', 'The device of this correction is not registered.');
  const undo =
    (await findUndo(store, correction, now)) ??
    (await listUndo({ store, corrections }, device, correction, request));
  const { sensors } = correction;
  for (let at = 0; at < sensors.length; at += SENSORS_AT_ONCE) {
    const changes: Change[] = [];
    // By id, because readers see the samples of a sensor that was retired as soon as it is registered again.
    for (const id of sensors.slice(at, at + SENSORS_AT_ONCE)) {
      const sensor = { id, bytes: uuidBytes(id) };
      changes.push({ sensor, hours: await revisedHours(store, bytes, sensor.bytes, correction) });
    }
    await corrections.write(device, undo.revision, changes, async () => {
      // A packer may delete the samples already.
      if (acceptedAt < (await corrections.log.now()) - (PURGE_DAYS - 0.5) * DAY_MS) throw tooLate();
      await corrections.log.prolong(undo);
    });
  }
  return corrections.log.finish(undo);
}

/** The first undo that is not undone itself. @param except id of an undo that is ignored */
async function findUndo(
  { corrections }: Core['store'],
  { id, device }: Correction,
  now: number,
  except: Buffer = id,
): Promise<Correction | null> {
  const range = { from: timeOfId(id) - MAX_BEHIND_MS, to: now + MAX_BEHIND_MS };
  const isUndo = (listed: ListedCorrection) => listed.undoes !== null && !listed.id.equals(except);
  const listed = await corrections.select(uuidBytes(device), range, isUndo);
  const undone: Set<string> = new Set();
  let first: ListedCorrection | null = null;
  for (const undo of listed.sort((a, b) => b.revision - a.revision)) {
    if (undone.has(undo.id.toString('hex'))) continue;
    undone.add(String(undo.undoes?.toString('hex')));
    if (undo.undoes?.equals(id)) first = undo;
  }
  return first && corrections.find(first.id);
}

/** Two requests may list an undo of one correction at the same time. Both complete the earlier one. */
async function listUndo(
  { store, corrections }: Pick<Core, 'store' | 'corrections'>,
  device: Device,
  correction: Correction,
  request: CorrectionRequest,
): Promise<Correction> {
  const { sensors, from, to, samples, id: undoes, revision } = correction;
  const entry = { kind: 'undo' as const, sensors, from, to, samples, undoes, ...request };
  const undo = await corrections.log.list(device, entry, { after: revision });
  const other = await findUndo(store, correction, await corrections.log.now(), undo.id);
  if (!other || other.revision > undo.revision) return undo;
  await store.corrections.withdraw(undo);
  return other;
}

const tooLate = () => new MillraceError('too_late', `A correction can be undone for ${UNDO_DAYS} days.`);

/** The hours that have a row of this correction. */
async function revisedHours(
  { packed }: Core['store'],
  device: Buffer,
  sensor: Buffer,
  { revision, from, to }: Correction,
): Promise<RevisedHour[]> {
  const hours: RevisedHour[] = [];
  const days: number[] = [];
  for (let day = dayOf(from); day < to; day += DAY_MS) days.push(day);
  await forEachConcurrently(DAYS_AT_ONCE, days, async (day) => {
    const rows = await packed.readSamples({ device, sensor }, day, day + DAY_MS);
    for (const [hour, series] of rows)
      if (series.some((row) => row.revision?.at === revision))
        hours.push({ hour, spans: [], samples: { times: [], values: [] }, undoes: revision });
  });
  return hours.sort((a, b) => a.hour - b.hour);
}

import { MillraceError } from '../../../common/errors.ts';
import { uuidBytes } from '../../../schema/ids.ts';
import { DAY_MS, dayOf, UNDO_DAYS } from '../../../schema/rules.ts';
import type { Core } from '../../feature.ts';
import type { Change } from '../../ingest/corrections.ts';
import { sensorOf } from '../../ingest/index.ts';
import type { Sensor } from '../../ingest/registry/cache.ts';
import type { RevisedHour } from '../../ingest/revisions.ts';
import type { Correction } from '../../store/corrections.ts';

/** Of one write. Each day of a sensor is one request. */
const SENSORS_AT_ONCE = 8;

/**
 * Undoes a correction with a further revision, so readers see what they would see without it. Later corrections stay. The undo of an undo
 * restores the correction.
 * @returns the entry of the log
 * @throws `too_late`: it is too old, or its device is gone
 */
export async function undoCorrection(
  {
    store,
    ingest,
    corrections,
    context: { clock },
  }: Pick<Core, 'store' | 'ingest' | 'corrections'> & { context: { clock: () => number } },
  correction: Correction,
  { by, reason }: { by: string; reason: string | null },
): Promise<Correction> {
  if (Math.floor(correction.revision / 1000) < clock() - UNDO_DAYS * DAY_MS)
    throw new MillraceError('too_late', `A correction can be undone for ${UNDO_DAYS} days.`);
  const bytes = uuidBytes(correction.device);
  const device = await ingest.writing.registry.findNow({ id: correction.device, bytes });
  if (!device) throw new MillraceError('too_late', 'The device of this correction is not registered.');
  const revision = await corrections.nextRevision();
  const { sensors, from, to, samples } = correction;
  const entry = {
    revision,
    kind: 'undo' as const,
    sensors,
    from,
    to,
    samples,
    by,
    reason,
    undoes: correction.id,
  };
  const id = await store.corrections.add(bytes, entry);
  for (let at = 0; at < sensors.length; at += SENSORS_AT_ONCE) {
    const changes: Change[] = [];
    for (const ref of sensors.slice(at, at + SENSORS_AT_ONCE)) {
      const sensor = sensorOf(device, ref);
      if (sensor)
        changes.push({ sensor, hours: await revisedHours(store, device.bytes, sensor, correction) });
    }
    await corrections.write(device, revision, changes);
  }
  return { ...entry, id, device: correction.device };
}

/** The hours that have a row of this correction. */
async function revisedHours(
  { packed }: Core['store'],
  device: Buffer,
  sensor: Sensor,
  { revision, from, to }: Correction,
): Promise<RevisedHour[]> {
  const hours: RevisedHour[] = [];
  for (let day = dayOf(from); day < to; day += DAY_MS) {
    const rows = await packed.readSamples({ device, sensor: sensor.bytes }, day, day + DAY_MS);
    for (const [hour, series] of rows)
      if (series.some((row) => row.revision?.at === revision))
        hours.push({ hour, spans: [], samples: { times: [], values: [] }, undoes: revision });
  }
  return hours;
}

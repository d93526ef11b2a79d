import { forEachConcurrently } from '../../../common/concurrency.ts';
import { uuidBytes } from '../../../schema/ids.ts';
import type { Correction } from '../../store/corrections.ts';
import type { AlarmStore } from './store/episodes.ts';

/** Each may have many alarms. */
const SENSORS_AT_ONCE = 8;

/** Marks the alarms whose time has corrected values. A correction does not evaluate their rules again. */
export async function noteCorrected(
  episodes: Pick<AlarmStore, 'ofSensor' | 'noteCorrected'>,
  { device: id, sensors, from, to, revision }: Correction,
) {
  const device = uuidBytes(id);
  const at = Math.floor(revision / 1000);
  await forEachConcurrently(SENSORS_AT_ONCE, sensors, async (sensor) => {
    for (const alarm of await episodes.ofSensor(device, uuidBytes(sensor)))
      if (
        alarm.start < to &&
        (alarm.cleared ?? Number.POSITIVE_INFINITY) >= from &&
        (alarm.valuesCorrectedAt ?? 0) < at
      )
        await episodes.noteCorrected(alarm, at);
  });
}

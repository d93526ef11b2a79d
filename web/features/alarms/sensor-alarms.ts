import { useQuery, useServices } from '../../state/hooks.ts';
import { missingBefore } from '../shared/missing.ts';
import type { Alarm } from './api.ts';
import { readAlarms } from './api.ts';
import { REFRESH, useReloads } from './open-alarms.ts';

const NONE: Alarm[] = [];
const NOTHING_READ = { alarms: NONE, missing: null };

/** Maximum number of alarms read for one sensor, the newest first. */
const MOST_OF_SENSOR = 200;

/**
 * Reads the alarms of one sensor.
 *
 * @param sensor null: the sensor is not known yet
 * @returns alarms, newest first; `missing`: time in epoch ms; alarms that began before it may not have been read; null: all
 *   alarms were read
 */
export function useSensorAlarms(sensor: { device_id: string; sensor_id: string } | null): {
  alarms: Alarm[];
  missing: number | null;
} {
  const { client } = useServices();
  const { data, reload } = useQuery(
    `alarms of ${sensor?.device_id}/${sensor?.sensor_id}`,
    async (signal) => {
      if (sensor === null) return NOTHING_READ;
      const query = { device: sensor.device_id, sensor: sensor.sensor_id, limit: MOST_OF_SENSOR };
      const page = await readAlarms(client, query, signal);
      return { alarms: page.items, missing: missingBefore([page], ({ started_at }) => started_at) };
    },
    REFRESH,
  );
  useReloads(reload);
  return data ?? NOTHING_READ;
}

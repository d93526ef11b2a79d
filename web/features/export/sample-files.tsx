import { sensorPath } from '../../api/client.ts';
import { BASE, toQuery } from '../../api/request.ts';
import type { Slots } from '../../feature.ts';

/** The browser streams these files to disk. */
export function SampleFiles({ sensor, range: { live, from, to } }: Slots['sensorFiles']) {
  const range = { from: new Date(from).toISOString(), to: live ? null : new Date(to).toISOString() };
  const path = `${BASE}${sensorPath(sensor.device_id, sensor.sensor_id)}/measurements`;
  const link = (format: 'csv' | 'ndjson', label: string) => (
    <a class="button" href={`${path}${toQuery({ ...range, format, order: 'asc' })}`} download data-native>
      {label}
    </a>
  );
  return (
    <>
      <span>All samples</span> {link('csv', 'CSV')} {link('ndjson', 'NDJSON')}
    </>
  );
}

import type { Range } from '../../../history/reading/hours.ts';
import type { PlaceFilter } from '../../../http/places.ts';
import type { SelectedSensor } from './sensors.ts';

/** A sensor stands once for each of its places, with the spans in which it was there. */
export function splitByPlace(sensors: SelectedSensor[], filter: PlaceFilter, range: Range): SelectedSensor[] {
  return sensors.flatMap((sensor) => {
    const parts: Map<string, SelectedSensor & { spans: Range[] }> = new Map();
    for (const { place, ...span } of filter.spansOf(sensor.row.deviceId, sensor.row.id, range)) {
      const part = parts.get(place?.id ?? '') ?? { ...sensor, place, spans: [] };
      part.spans.push(span);
      parts.set(place?.id ?? '', part);
    }
    return [...parts.values()];
  });
}

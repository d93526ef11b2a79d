import type { DeviceBytes, SensorBytes } from '../../../schema/ids.ts';
import { dayOf, yearOf } from '../../../schema/rules.ts';
import { int32, int64 } from '../cql-values.ts';

/** The first columns of every partition key of history. 16 bytes each */
export type SensorKey = { device: DeviceBytes; sensor: SensorBytes };

export const dayKey = (
  { device, sensor }: SensorKey,
  hour: number,
): [DeviceBytes, SensorBytes, day: Buffer] => [device, sensor, int64(dayOf(hour))];

export const yearKey = (
  { device, sensor }: SensorKey,
  hour: number,
): [DeviceBytes, SensorBytes, year: Buffer] => [device, sensor, int32(yearOf(hour))];

import { dayOf, yearOf } from '../../../schema/rules.ts';
import { int32, int64 } from '../cql-encoding.ts';

/** The first columns of every partition key of history. 16 bytes each */
export type SensorBytes = { device: Buffer; sensor: Buffer };

export const dayKey = ({ device, sensor }: SensorBytes, hour: number): Buffer[] => [
  device,
  sensor,
  int64(dayOf(hour)),
];

export const yearKey = ({ device, sensor }: SensorBytes, hour: number): Buffer[] => [
  device,
  sensor,
  int32(yearOf(hour)),
];

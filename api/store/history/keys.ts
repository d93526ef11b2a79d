import { dayOf, yearOf } from '../../../schema/rules.ts';
import { int32, int64 } from '../cql-encoding.ts';

/** The key of a sensor: the first columns of every partition key of history. 16 bytes each */
export type SensorBytes = { device: Buffer; sensor: Buffer };

/** @param hour epoch ms @returns key of the partition of `history` that contains the hour */
export const dayKey = ({ device, sensor }: SensorBytes, hour: number): Buffer[] => [
  device,
  sensor,
  int64(dayOf(hour)),
];

/** @param hour epoch ms @returns key of the partition of `history_stat` that contains the hour */
export const yearKey = ({ device, sensor }: SensorBytes, hour: number): Buffer[] => [
  device,
  sensor,
  int32(yearOf(hour)),
];

import { DEVICES, SENSORS, typeOf } from '../simulator/small-fleet.ts';
import type { Dashboard } from '../web/dashboard.ts';
import { writeUsual } from './baselines.ts';

/** Stores the usual values of each sensor of the small fleet. The system reads baselines often. */
export const writeSmallFleetUsual = ({ system }: Pick<Dashboard, 'system'>) =>
  writeUsual(
    system,
    DEVICES.flatMap((device) =>
      SENSORS.map((sensor, index) => ({
        device,
        sensor,
        ...(typeOf(index) === 'pulse' ? { mean: 74, deviation: 3 } : { mean: 38, deviation: 0.7 }),
      })),
    ),
  );

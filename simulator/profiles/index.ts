import type { Random } from '../random.ts';
import { pulse, respiration, temperature } from '../signals/body.ts';
import type { Signal } from '../signals/index.ts';
import { location } from '../signals/location.ts';
import { factory, inRounds } from './factory.ts';

export interface Profile {
  /** prefix of names, before the number */
  device: string;
  /** names of a site, an area, a line and a machine, before their numbers */
  places: [site: string, area: string, line: string, machine: string];
  /** range of the number of signals, if no count is given */
  sensors: { least: number; most: number };
  /** returns a device's signals: `count`, or a number within `sensors` */
  sensorsOf: (random: Random, count: number | undefined) => NamedSignal[];
}

export type NamedSignal = { name: string; signal: Signal };

export const COLLAR_SIGNALS: readonly Signal[] = [temperature, pulse, location, respiration];

const SENSORS = { least: 1, most: 4 };

/** A collar around the neck of a cow, with some of the four sensor types in any order. */
export const collar = {
  device: 'collar',
  places: ['Farm', 'Barn', 'Row', 'Stall'],
  sensors: SENSORS,
  sensorsOf(random, count = SENSORS.least + Math.floor(SENSORS.most * random.uniform())) {
    const order = random.shuffled(COLLAR_SIGNALS);
    return inRounds(
      order.map((signal) => ({ name: signal.type, signal })),
      count,
    );
  },
} satisfies Profile;

export const PROFILES: Record<string, Profile> = { collar, factory };

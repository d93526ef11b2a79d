import { mapInOrder } from '../../../../common/concurrency.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import type { Grid } from '../../../history/reading/grid.ts';
import type { Range, Sensor } from '../../../history/reading/hours.ts';
import { Bins, type Reading } from '../../../history/reading/index.ts';

export interface AlignedSensor {
  key: Sensor;
  /** epoch ms; null: there are no samples */
  newest: number | null;
  /** whole hours within the range, in order of time; missing: the range */
  spans?: Range[];
}

/**
 * Sensors that are read concurrently. For statistics the limit is high enough to hide the round trips. With
 * 32 instead of 8, the garbage collector copies the hours of more sensors: a month of 1,000 sensors took 1.7
 * times the CPU time between rows and answer. For samples the limit is low enough for the memory.
 */
const AT_ONCE = { statistics: 8, samples: 6 };

/** Approximate limit over all sensors that are read concurrently. A bin takes about 100 bytes. */
const BINS_AT_ONCE = 200_000;

/** Only the bins of a few sensors are in memory. @throws the reason with which `signal` was aborted */
export function readAligned<T extends AlignedSensor>(
  reading: Pick<Reading, 'bins'>,
  sensors: T[],
  range: Range,
  { grid, signal }: { grid: Grid; signal: AbortSignal },
): AsyncGenerator<{ sensor: T; bins: Bins }, void> {
  const atOnce = AT_ONCE[grid.narrowest < HOUR_MS ? 'samples' : 'statistics'];
  const concurrency = Math.max(2, Math.min(atOnce, Math.floor(BINS_AT_ONCE / grid.length)));
  return mapInOrder(concurrency, sensors, async (sensor) => {
    signal.throwIfAborted();
    const bins = new Bins(range, grid);
    for (const span of sensor.spans ?? [range])
      await reading.bins(sensor.key, span, { grid, bins, newest: sensor.newest, signal });
    return { sensor, bins };
  });
}

export type Group<T> = { sensors: T[]; bins: Bins };

/** Adds in the order of the sensors, so that a repeated query gives exactly the same sums. The sensors of a group follow each other. */
export async function* addGroups<T extends AlignedSensor>(
  read: AsyncIterable<{ sensor: T; bins: Bins }>,
  groupOf: (sensor: T) => unknown,
): AsyncGenerator<Group<T>, void> {
  let group: Group<T> | null = null;
  for await (const { sensor, bins } of read) {
    const [first] = group?.sensors ?? [];
    if (group && first && groupOf(first) === groupOf(sensor)) {
      group.sensors.push(sensor);
      group.bins.addBins(bins);
      continue;
    }
    if (group) yield group;
    group = { sensors: [sensor], bins };
  }
  if (group) yield group;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../../common/settings/config.ts';
import { bucketOf, DAY_MS, dayOf, HOUR_MS, PACK_DELAY_MS } from '../../../schema/rules.ts';
import type { Line } from '../environment/pipeline.ts';
import type { Shape } from '../load/shapes.ts';
import { build } from '../loader/build.ts';

/** Stored before reading is measured. */
export interface Sizes {
  small: { sensors: number; days: number };
  /** `longDays`: days of one additional sensor */
  large: { sensors: number; days: number; longDays: number };
  /** between two samples of a sensor */
  intervalMs: number;
  /** publish during the reads, with four sensors each */
  devices: number;
}

const RECIPE = { signal: 'decimals' as const, jitterMs: 20 };

/** Data sets with one device each: the device of the fleet, and the device with a long history. */
const FLEET = 1;
const LONG = 2;

/** Time left out at the old end of the retention. Otherwise data could expire before the last round has read it. */
const SPARE_MS = 4 * HOUR_MS;

/** The data to load, and the parts of it to read. @param now epoch ms */
export function planOf({ small, large, intervalMs }: Sizes, now: number) {
  const to = bucketOf(now) - PACK_DELAY_MS;
  const month = { from: dayOf(to) - large.days * DAY_MS, to: dayOf(to) };
  const year = { from: to - large.longDays * DAY_MS + SPARE_MS, to };
  const latest = { from: to - small.days * DAY_MS, to };
  return {
    small: [{ seed: FLEET, sensors: small.sensors, ...latest, intervalMs }],
    large: [
      { seed: FLEET, sensors: large.sensors, from: month.from, to, intervalMs },
      { seed: LONG, sensors: 1, ...year, intervalMs },
    ],
    targets: {
      newest: { ...sensorOf(FLEET), ...latest },
      month: { ...sensorOf(FLEET), ...month },
      year: { ...sensorOf(LONG), ...year },
    },
  };
}

const sensorOf = (seed: number) => ({ device: `load-${seed}-000000`, sensor: 'sensor-000' });

type Loaded = ReturnType<typeof planOf>['large'][number];

/** Loads one data set after the other. @returns number of stored samples */
export async function loadAll(
  config: Config,
  list: Loaded[],
  onStatus: (text: string) => void,
): Promise<number> {
  let stored = 0;
  for (const { seed, sensors, from, to, intervalMs } of list) {
    const { samples } = await build({
      config,
      fleet: { seed, devices: 1, sensors },
      set: { ...RECIPE, seed, intervalMs, from, to },
      into: 'history',
      onProgress: (done) => onStatus(`loading history: ${(done / 1e6).toFixed(1)} million samples`),
    });
    stored += samples;
  }
  return stored;
}

export type Plan = ReturnType<typeof planOf>;

/** Publishes at a fixed rate during the reads, into one line at a time. */
export function createBackground({
  shape,
  rate,
  warmMs,
}: {
  shape: Shape;
  /** samples/s */
  rate: number;
  /** ms, after each change of the line */
  warmMs: number;
}) {
  let current: Line | null = null;
  let end: () => Promise<void> = async () => {};

  async function stop() {
    current = null;
    const ending = end;
    end = async () => {};
    await ending();
  }

  return {
    async into(line: Line) {
      if (line === current) return;
      await stop();
      end = await line.hold(shape, rate);
      current = line;
      await sleep(warmMs);
    },

    stop,
  };
}

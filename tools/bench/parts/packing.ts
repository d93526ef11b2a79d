import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Line } from '../environment/pipeline.ts';
import { loadOf } from '../load/shapes.ts';
import { build } from '../loader/build.ts';
import { startObserving } from '../measure/machine.ts';
import { measurePeak } from '../measure/rate.ts';
import { figure, percent } from '../report/table.ts';
import type { Part } from './index.ts';

/** The simulator's collar, at this share of its highest rate. The packing process itself ingests the load. */
const LOAD = '4x10';
const SHARE = 0.5;

const SENSORS = 4;

/** `STUCK_MS`: longest time without progress. */
const LOOK_MS = 100;
const STUCK_MS = 120_000;

/** A new installation packs the hours from three hours before its start. Two of these hours can be packed at once. */
const DUE = { first: 3, hours: 2 };

/** `devices`: to pack, with four sensors at 1 Hz and a message a minute; `loadDevices`: of the load */
type Sizes = { devices: number; loadDevices: number };

const SIZES: Sizes = { devices: 500, loadDevices: 1000 };

/** Measures how fast an ingest process packs closed hours, alone and next to a load. */
export const createPackingPart = (sizes: Sizes): Part<Result> => ({
  name: 'packing',
  title: `Packing, hours of sensors at 1 Hz, alone and next to half of the highest rate of load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD, sizes.loadDevices);
    const config = await environment.prepare('packing');
    const due = sizes.devices * SENSORS * DUE.hours;
    const from = bucketOf(Date.now()) - DUE.first * HOUR_MS;
    await build({
      config,
      fleet: { seed: 1, devices: sizes.devices, sensors: SENSORS },
      set: {
        seed: 1,
        signal: 'decimals',
        intervalMs: 1000,
        jitterMs: 20,
        from,
        to: from + DUE.hours * HOUR_MS,
      },
      into: 'batches',
      // The batches are committed within their hour, so they are not packed yet.
      arrival: (hour) => hour,
      onProgress: (samples) => status(`loading batches: ${(samples / 1e6).toFixed(1)} million samples`),
    });
    status('the highest rate');
    const peak = await measurePeak(await environment.pipeline('packed'), shape, { environment, flags });
    const pipeline = await environment.pipeline('packing');
    const pids = { ...pipeline.pids, database: environment.database };
    status('packing next to ingest');
    // The measurement of packing starts before the load, because packing may begin as soon as the load runs.
    const [loaded, end] = await Promise.all([
      watch(pipeline, pids, due / 2),
      pipeline.hold(shape, peak * SHARE),
    ]);
    await end();
    status('packing alone');
    const alone = await watch(pipeline, pids, due);
    await environment.close('packing');
    return { peak, loaded, alone };
  },

  tables: ({ peak, loaded, alone }) => [
    {
      head: ['', 'hours of sensors/s', 'sensors at 1 Hz that it keeps up with', 'steal', 'others'],
      rows: (
        [
          [`next to ${figure((peak * SHARE) / 1000)} thousand samples/s`, loaded],
          ['alone', alone],
        ] as Array<[string, Phase]>
      ).map(([label, phase]) => [
        label,
        figure(phase.hours / phase.seconds),
        figure(sensorsOf(phase)),
        percent(phase.steal),
        percent(phase.others),
      ]),
    },
  ],
});

export const packing = createPackingPart(SIZES);

/** Sensors at 1 Hz whose samples are packed as fast as they arrive. */
export const sensorsOf = ({ samples, seconds }: Phase): number => samples / seconds;

/** Measures from the next packed hour until `until` hours, counted per sensor, are packed in total, or until packing makes no progress. */
async function watch(pipeline: Line, pids: Record<string, number>, until: number): Promise<Phase> {
  const look = async () => {
    const metric = await pipeline.metrics();
    return {
      hours: metric('iot_pack_hours_total'),
      samples: metric('iot_pack_samples_total'),
      at: performance.now(),
    };
  };
  const before = await look();
  let [first, last] = [before, before];
  const observed = await startObserving(pids);
  while (last.hours < until && performance.now() - last.at < STUCK_MS) {
    await sleep(LOOK_MS);
    const now = await look();
    // The measurement starts with the first packed hour.
    if (now.hours === before.hours) first = now;
    else if (now.hours > last.hours) last = now;
  }
  const { steal, others } = await observed();
  return {
    hours: last.hours - first.hours,
    samples: last.samples - first.samples,
    seconds: (last.at - first.at) / 1000,
    steal,
    others,
  };
}

/** `hours`: counted per sensor */
type Phase = { hours: number; samples: number; seconds: number; steal: number; others: number };

type Result = { peak: number; loaded: Phase; alone: Phase };

import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Line } from '../environment/line.ts';
import { loadOf } from '../load/shapes.ts';
import { build } from '../loader/build.ts';
import { withShares } from '../measure/machine.ts';
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

const SIZES: Sizes = { devices: 250, loadDevices: 1000 };

/** `hours`: counted per sensor */
type Phase = { hours: number; samples: number; seconds: number; steal: number; others: number };

type Result = { peak: number; loaded: Phase; alone: Phase };

/** Sensors at 1 Hz whose samples are packed as fast as they arrive. */
const sensorsOf = ({ samples, seconds }: Phase): number => samples / seconds;

/** Measures how fast an ingest process packs closed hours, alone and next to a load. `npm run size` calculates with these figures. */
export const createPackingPart = (sizes: Sizes): Part<Result> => ({
  name: 'packing',
  title: `Packing, hours of sensors at 1 Hz, alone and next to half of the highest rate of load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD, sizes.loadDevices);
    const due = sizes.devices * SENSORS * DUE.hours;
    const from = bucketOf(Date.now()) - DUE.first * HOUR_MS;
    const to = from + DUE.hours * HOUR_MS;
    await build({
      config: await environment.prepare('packing'),
      fleet: { seed: 1, devices: sizes.devices, sensors: SENSORS },
      set: { seed: 1, signal: 'decimals', intervalMs: 1000, jitterMs: 20, from, to },
      into: 'batches',
      // The batches are committed within their hour, so they are not packed yet.
      arrival: (hour) => hour,
      onProgress: (samples) => status(`loading batches: ${(samples / 1e6).toFixed(1)} million samples`),
    });
    status('the highest rate');
    const peak = await measurePeak(await environment.pipeline('packed'), shape, { environment, flags });
    const line = await environment.pipeline('packing');
    const pids = { ...line.pids, database: environment.database.pid };
    status('packing next to ingest');
    // The measurement of packing starts before the load, because packing may begin as soon as the load runs.
    const [loaded, end] = await Promise.all([
      withShares(pids, () => watch(line, due / 2)),
      line.hold(shape, peak * SHARE),
    ]);
    await end();
    status('packing alone');
    const alone = await withShares(pids, () => watch(line, due));
    await environment.close('packing');
    return { peak, loaded, alone };
  },

  tables: ({ peak, loaded, alone }) => [
    {
      head: ['', 'hours of sensors/s', 'sensors at 1 Hz that it keeps up with', 'steal', 'others'],
      rows: [
        { label: `next to ${figure((peak * SHARE) / 1000)} thousand samples/s`, phase: loaded },
        { label: 'alone', phase: alone },
      ].map(({ label, phase }) => [
        label,
        figure(phase.hours / phase.seconds),
        figure(sensorsOf(phase)),
        percent(phase.steal),
        percent(phase.others),
      ]),
    },
  ],

  targets: ({ loaded }) => [
    {
      figure: 'sensors at 1 Hz that packing keeps up with, next to half of the highest rate',
      atLeast: 10_000,
      value: sensorsOf(loaded),
    },
  ],
});

export const packing = createPackingPart(SIZES);

/** Measures from the next packed hour until `until` hours, counted per sensor, are packed in total, or until packing makes no progress. */
async function watch(line: Line, until: number) {
  const look = async () => {
    const metric = await line.metrics();
    const [hours, samples] = [metric('iot_pack_hours_total'), metric('iot_pack_samples_total')];
    return { hours, samples, at: performance.now() };
  };
  const before = await look();
  let [first, last] = [before, before];
  while (last.hours < until && performance.now() - last.at < STUCK_MS) {
    await sleep(LOOK_MS);
    const now = await look();
    // The measurement starts with the first packed hour.
    if (now.hours === before.hours) first = now;
    else if (now.hours > last.hours) last = now;
  }
  return {
    hours: last.hours - first.hours,
    samples: last.samples - first.samples,
    seconds: (last.at - first.at) / 1000,
  };
}

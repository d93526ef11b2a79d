import { startChromium } from '../dashboard/watch.ts';
import type { Latencies } from '../load/open-loop.ts';
import { loadOf } from '../load/shapes.ts';
import { withShares } from '../measure/machine.ts';
import { measurePeak, measureRate } from '../measure/rate.ts';
import { alternate, medianOf, type Round } from '../measure/rounds.ts';
import { figure, stealOf } from '../report/table.ts';
import { type FleetViews, viewsTables } from './dashboard.ts';
import type { Part } from './index.ts';

/** The simulator's collar with four sensors per device, at this share of its highest rate. */
const LOAD = '4x10';
const SHARE = 0.25;

/** 25,000 devices with four sensors have 100,000 sensors. */
const DEVICES = 25_000;

/** The name in the table of views. */
const FLEET = '100,000 sensors';

/** A run is longer than one of a comparison, because loading the dashboard takes seconds. */
const LONGER = 2;

type Name = 'alone' | 'opened';

const NAMES = ['alone', 'opened'] as Name[];

/** Compares the acknowledgement latencies of ingest with and without a new user who opens the dashboard of the same process. */
export const createOpeningPart = (devices: number): Part<Result> => ({
  name: 'opening',
  title: `Acknowledgements while a dashboard on ${devices * 4} sensors opens, load ${LOAD}`,
  needsDashboard: true,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD, devices);
    const wired = await environment.wired();
    const timing = { database: environment.database, warmMs: flags.warmMs, forMs: 100 };
    status(`registering ${devices * 4} sensors`);
    await measureRate(wired, shape, timing);
    status('the highest rate');
    const peak = await measurePeak(wired, shape, { environment, flags });
    const browser = await startChromium();
    try {
      const rounds = await alternate({
        names: NAMES,
        rounds: flags.rounds,
        onStatus: status,
        measure: (name) =>
          withShares({ ...wired.pids, database: environment.database }, async () => {
            const [{ latency }, page] = await Promise.all([
              wired.pace(shape, { rate: peak * SHARE, forMs: flags.runMs * LONGER }),
              name === 'opened' ? browser.open(String(wired.api)) : null,
            ]);
            await page?.close();
            return latency.published;
          }),
      });
      status('first view and reload');
      const views = await browser.weigh(String(wired.api));
      return { peak, rounds, views: [{ fleet: FLEET, sensors: devices * 4, ...views }] };
    } finally {
      await browser.stop();
    }
  },

  tables: ({ peak, rounds, views = [] }) => [
    {
      head: [`at ${figure((peak * SHARE) / 1000)} thousand samples/s`, 'p50 ms', 'p99 ms', 'max ms', 'steal'],
      rows: NAMES.map((name) => [
        name === 'alone' ? 'no dashboard' : 'a dashboard opens',
        ...(['p50', 'p99', 'max'] as const).map((key) =>
          figure(medianOf(rounds, (results) => results[name][key])),
        ),
        stealOf(rounds),
      ]),
    },
    ...viewsTables(views),
  ],
});

export const opening = createOpeningPart(DEVICES);

type Measured = Latencies & { steal: number; others: number };

/** `views`: requests and bytes of the dashboard; older raw files lack it. */
type Result = { peak: number; rounds: Round<Name, Measured>[]; views?: FleetViews[] };

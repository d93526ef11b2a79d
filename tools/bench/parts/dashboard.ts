import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../../common/errors.ts';
import { requestsOf, type Views } from '../dashboard/views.ts';
import { LONG_MS, startChromium, type Watched, watchDashboard } from '../dashboard/watch.ts';
import type { Context } from '../environment/index.ts';
import type { Front } from '../environment/ingest.ts';
import type { Line } from '../environment/pipeline.ts';
import { withShares } from '../measure/machine.ts';
import { median } from '../measure/rounds.ts';
import { type Child, startChild } from '../process/child.ts';
import { figure, percent } from '../report/table.ts';
import type { Part } from './index.ts';

interface Fleet {
  devices: number;
  /** sensors of each device; default: as in the profile of the devices */
  sensors?: number;
  /** between two messages of a device */
  batch: string;
}

interface Sizes {
  /** the fleet of the dashboard that stays open */
  wall: Fleet;
  /** fleets whose first view is measured in requests and bytes */
  viewed: Array<Fleet & { name: string }>;
  /** first views before the dashboard stays open */
  visits: number;
}

const SIZES: Sizes = {
  wall: { devices: 2500, sensors: 4, batch: '1s' },
  // The first fleet is that of `npm run dev`.
  viewed: [
    { name: '57 sensors', devices: 25, batch: '10s' },
    { name: '2,000 devices', devices: 2000, batch: '10s' },
  ],
  visits: 5,
};

const LOOK_MS = 500;

const FILLED_MS = 300_000;

/** A fleet with so many samples per sensor on average counts as filled. */
const SAMPLES = 10;

/**
 * Measures the dashboard in a real browser, while the sensors of a fleet change once a second, through broker and database.
 * Before that, the requests and bytes of a first view are measured with other fleets.
 */
export const createDashboardPart = ({ wall, viewed, visits }: Sizes): Part<Result> => ({
  name: 'dashboard',
  title: 'The wall of the dashboard in Chromium: 10,000 sensors that change once a second',
  needsDashboard: true,

  async run(context) {
    const { environment, flags, status } = context;
    const browser = await startChromium();
    try {
      const views: FleetViews[] = [];
      for (const { name, ...fleet } of viewed) {
        const options = { name: `view-${fleet.devices}`, fleet };
        const weighed = await withFleet(context, options, async ({ front, sensors }) => {
          status(`first view and reload, ${name}`);
          return { fleet: name, sensors, ...(await browser.weigh(front.url)) };
        });
        views.push(weighed);
      }
      return await withFleet(context, { name: 'dashboard', fleet: wall }, async (running) => {
        const { front, pipeline, simulator } = running;
        const first: number[] = [];
        for (let visit = 1; visit <= visits; visit += 1) {
          status(`visit ${visit} of ${visits}`);
          const opened = await browser.open(front.url);
          first.push(Number((await opened.seen()).firstCellsMs));
          await opened.close();
        }
        const slow: number[] = [];
        for (let visit = 1; visit <= visits; visit += 1) {
          status(`visit ${visit} of ${visits}, slow network`);
          slow.push(await browser.firstPaint(front.url));
        }
        status(`${Math.round(flags.watchMs / 1000)} s with the dashboard open`);
        const started = { http: front.pid, simulator: simulator.pid, database: environment.database };
        return withShares({ ...pipeline.pids, ...started }, async () => {
          const watched = await watchDashboard(await browser.open(front.url), flags.watchMs);
          return { first, slow, views, ...watched };
        });
      });
    } finally {
      await browser.stop();
    }
  },

  tables: (result) => [
    {
      head: ['', 'p50', 'p95', 'most', 'count'],
      rows: [
        rowOf('script time of a frame, ms', result.frames.ms),
        rowOf('of that with a processor, ms', result.frames.cpuMs),
      ],
    },
    {
      head: ['', ''],
      rows: [
        [
          'first cells on the screen, ms, median and most',
          `${figure(median(result.first))}, ${figure(Math.max(...result.first))}`,
        ],
        // Older raw files have no `slow`.
        ...(result.slow
          ? [
              [
                'first contentful paint at 50 kB/s and 300 ms latency, ms, median and most',
                `${figure(median(result.slow))}, ${figure(Math.max(...result.slow))}`,
              ],
            ]
          : []),
        [`tasks that had a processor for more than ${LONG_MS} ms`, figure(result.busy.length)],
        [`tasks over ${LONG_MS} ms by the clock, loading included`, figure(result.longTasks.length)],
        [
          'JavaScript heap, MB, first and last',
          `${figure(Number(result.heap[0]))}, ${figure(Number(result.heap.at(-1)))}`,
        ],
        [
          'commit to screen, ms, p50 and p99',
          `${figure(median(result.shown.map(({ p50 }) => p50)))}, ${figure(median(result.shown.map(({ p99 }) => p99)))}`,
        ],
        ['steal, browser and others', `${percent(result.steal)}, ${percent(result.others)}`],
      ],
    },
    ...viewsTables(result.views ?? []),
  ],
});

export const dashboard = createDashboardPart(SIZES);

/** @param views empty: an older raw file without views */
export const viewsTables = (views: FleetViews[]): Array<{ head: string[]; rows: string[][] }> =>
  views.length === 0
    ? []
    : [
        {
          head: ['requests and KB until a view is complete', 'sensors', 'requests', 'of these files', 'KB'],
          rows: views.flatMap(({ fleet, sensors, first, reload }) => [
            [`${fleet}, first view`, figure(sensors), ...weightCells(first)],
            [`${fleet}, reload`, figure(sensors), ...weightCells(reload)],
          ]),
        },
      ];

const weightCells = (weight: Views['first']) => [
  `${requestsOf(weight)}`,
  `${weight.files}`,
  figure(weight.kilobytes),
];

/** `sensors`: of the whole fleet */
export type FleetViews = Views & { fleet: string; sensors: number };

/**
 * `first`: ms until the first cells, by visit; `slow`: ms until the first contentful paint over a slow network; `views`: requests
 * and bytes with several fleets. Older raw files have neither `slow` nor `views`.
 */
export type Result = Watched & {
  first: number[];
  slow?: number[];
  views?: FleetViews[];
  steal: number;
  others: number;
};

const rowOf = (
  name: string,
  { p50, p95, most, count }: { p50: number; p95: number; most: number; count: number },
) => [name, figure(p50), figure(p95), figure(most), figure(count)];

type Running = { front: Front; pipeline: Line; simulator: Child; sensors: number };

/** Fleet and pipeline end with the work, which begins when all sensors have values. */
async function withFleet<T>(
  { environment, status }: Context,
  { name, fleet }: { name: string; fleet: Fleet },
  work: (running: Running) => Promise<T>,
): Promise<T> {
  const pipeline = await environment.pipeline(name);
  try {
    const front = await environment.front(pipeline);
    status(`starting the simulator, ${fleet.devices} devices`);
    const log = join(environment.dir, 'logs', `simulator-${name}.log`);
    const simulator = await startSimulator({ ...fleet, url: pipeline.url, log });
    try {
      const sensors = Number(simulator.said);
      await untilFilled({ front, pipeline, sensors });
      return await work({ front, pipeline, simulator, sensors });
    } finally {
      await simulator.stop();
    }
  } finally {
    await environment.close(`${pipeline.name}-front`);
    await environment.close(name);
  }
}

/** @throws {MillraceError} `failed`: the fleet is not filled within the time limit */
async function untilFilled({ front, pipeline, sensors }: Omit<Running, 'simulator'>) {
  const isFilled = async () => (await countSensors(front.url)) >= sensors;
  const deadline = performance.now() + FILLED_MS;
  while (!((await isFilled()) && (await pipeline.committed()) >= sensors * SAMPLES)) {
    if (performance.now() > deadline)
      throw new MillraceError(
        'failed',
        `Not all ${sensors} sensors have values after ${FILLED_MS / 1000} s.`,
      );
    await sleep(LOOK_MS);
  }
}

async function countSensors(url: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/fleet`);
  if (!response.ok) throw new MillraceError('failed', `GET /fleet answered ${response.status}.`);
  return ((await response.json()) as { sensors: number }).sensors;
}

const SIMULATOR = fileURLToPath(new URL('../../../simulator/index.ts', import.meta.url));

/**
 * As `npm run simulator` does. Each sensor measures once a second. The first line of the output has the number of sensors.
 * @param options `url`: of the broker; `log`: path
 */
const startSimulator = ({ url, devices, sensors, batch, log }: Fleet & { url: string; log: string }) =>
  startChild(SIMULATOR, {
    title: 'simulator',
    log,
    args: [
      ...['--broker', url],
      ...['--devices', `${devices}`],
      ...(sensors === undefined ? [] : ['--sensors', `${sensors}`]),
      ...['--interval', '1s'],
      ...['--batch', batch],
      ...['--seed', '1'],
    ],
    isReady: (line) => / devices with (\d+) sensors /.exec(line)?.[1],
  });

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../../common/errors.js';
import { requestsOf } from '../dashboard/views.js';
import { LONG_MS, startChromium, watchDashboard } from '../dashboard/watch.js';
import { withShares } from '../measure/machine.js';
import { median } from '../measure/rounds.js';
import { startChild } from '../process/child.js';
import { figure, percent } from '../report/table.js';

/** @import { Views } from '../dashboard/views.js' */
/** @import { Watched } from '../dashboard/watch.js' */
/** @import { Context } from '../environment/index.js' */
/** @import { Front } from '../environment/ingest.js' */
/** @import { Line } from '../environment/pipeline.js' */
/** @import { Child } from '../process/child.js' */
/** @import { Part } from './index.js' */

/**
 * A fleet of the simulator.
 *
 * @typedef {object} Fleet
 * @property {number} devices
 * @property {number} [sensors] number of sensors of each device; default: as in the profile of the devices
 * @property {string} batch time between two messages of a device
 */

/**
 * @typedef {object} Sizes
 * @property {Fleet} wall the fleet of the dashboard that stays open
 * @property {Array<Fleet & { name: string }>} viewed fleets whose first view is measured in requests and bytes
 * @property {number} visits number of first views before the dashboard stays open
 */

/** @type {Sizes} */
const SIZES = {
  wall: { devices: 2500, sensors: 4, batch: '1s' },
  // The first fleet is that of `npm run dev`.
  viewed: [
    { name: '57 sensors', devices: 25, batch: '10s' },
    { name: '2,000 devices', devices: 2000, batch: '10s' },
  ],
  visits: 5,
};

const LOOK_MS = 500;

/** Time limit until all sensors of a fleet have values, in ms. */
const FILLED_MS = 300_000;

/** Number of committed samples of each sensor, on average, from which a fleet counts as filled. */
const SAMPLES = 10;

/**
 * Measures the dashboard in a real browser, while the sensors of a fleet change once a second, through broker and database.
 * Before that, the requests and bytes of a first view are measured with other fleets.
 *
 * @param {Sizes} sizes
 * @returns {Part<Result>}
 */
export const createDashboardPart = ({ wall, viewed, visits }) => ({
  name: 'dashboard',
  title: 'The wall of the dashboard in Chromium: 10,000 sensors that change once a second',
  needsDashboard: true,

  async run(context) {
    const { environment, flags, status } = context;
    const browser = await startChromium();
    try {
      /** @type {FleetViews[]} */
      const views = [];
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
        /** @type {number[]} */
        const first = [];
        for (let visit = 1; visit <= visits; visit += 1) {
          status(`visit ${visit} of ${visits}`);
          const opened = await browser.open(front.url);
          first.push(Number((await opened.seen()).firstCellsMs));
          await opened.close();
        }
        /** @type {number[]} */
        const slow = [];
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

/**
 * @param {FleetViews[]} views empty: an older raw file without views
 * @returns {Array<{ head: string[], rows: string[][] }>}
 */
export const viewsTables = (views) =>
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

/** @param {Views['first']} weight */
const weightCells = (weight) => [`${requestsOf(weight)}`, `${weight.files}`, figure(weight.kilobytes)];

/** The views of a fleet. `sensors`: number of sensors of the fleet. @typedef {Views & { fleet: string, sensors: number }} FleetViews */

/**
 * `first`: ms until the first cells, by visit; `slow`: ms until the first contentful paint over a slow network; `views`: requests
 * and bytes with several fleets. Older raw files have neither `slow` nor `views`.
 *
 * @typedef {Watched & { first: number[], slow?: number[], views?: FleetViews[], steal: number, others: number }} Result
 */

/** @param {string} name @param {{ p50: number, p95: number, most: number, count: number }} frames */
const rowOf = (name, { p50, p95, most, count }) => [
  name,
  figure(p50),
  figure(p95),
  figure(most),
  figure(count),
];

/**
 * The processes that serve a fleet. `sensors`: number of sensors of the fleet.
 *
 * @typedef {{ front: Front, pipeline: Line, simulator: Child, sensors: number }} Running
 */

/**
 * Runs work while a simulated fleet publishes into its own pipeline. Fleet and pipeline end with the work.
 *
 * @template T
 * @param {Context} context
 * @param {{ name: string, fleet: Fleet }} options `name`: name of the pipeline
 * @param {(running: Running) => Promise<T>} work begins when all sensors have values
 * @returns {Promise<T>}
 */
async function withFleet({ environment, status }, { name, fleet }, work) {
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

/**
 * Waits until all sensors of a fleet have values.
 *
 * @param {Omit<Running, 'simulator'>} running
 * @throws {MillraceError} `failed`: the fleet is not filled within the time limit
 */
async function untilFilled({ front, pipeline, sensors }) {
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

/** @param {string} url of the API @returns {Promise<number>} */
async function countSensors(url) {
  const response = await fetch(`${url}/api/v1/fleet`);
  if (!response.ok) throw new MillraceError('failed', `GET /fleet answered ${response.status}.`);
  return /** @type {{ sensors: number }} */ (await response.json()).sensors;
}

const SIMULATOR = fileURLToPath(new URL('../../../simulator/index.js', import.meta.url));

/**
 * Starts the simulator as `npm run simulator` does. Each sensor measures once a second. The first line of the output has the
 * number of sensors.
 *
 * @param {Fleet & { url: string, log: string }} options `url`: URL of the broker; `log`: path of the log file
 */
const startSimulator = ({ url, devices, sensors, batch, log }) =>
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

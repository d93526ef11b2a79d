import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LONG_MS, startChromium, watchDashboard } from '../dashboard/watch.js';
import { withShares } from '../measure/machine.js';
import { median } from '../measure/rounds.js';
import { startChild } from '../process/child.js';
import { figure, percent } from '../report/table.js';

/** @import { Watched } from '../dashboard/watch.js' */
/** @import { Part } from './index.js' */

const FLEET = { devices: 2500, sensors: 4 };
const LOOK_MS = 500;

/** Visits of a new user, before the page stays open. */
const VISITS = 5;

/**
 * The dashboard in a real browser, while ten thousand sensors change once a second, through broker and database.
 *
 * @type {Part<Result>}
 */
export const dashboard = {
  name: 'dashboard',
  title: 'The wall of the dashboard in Chromium: 10,000 sensors that change once a second',

  async run({ environment, flags, status }) {
    const pipeline = await environment.pipeline('dashboard');
    const front = await environment.front(pipeline);
    status('starting the simulator');
    const simulator = await startSimulator({
      ...FLEET,
      url: pipeline.url,
      log: join(environment.dir, 'logs', 'simulator.log'),
    });
    const browser = await startChromium();
    try {
      await untilAllThere(front.url);
      /** @type {number[]} */
      const first = [];
      for (let visit = 1; visit <= VISITS; visit += 1) {
        status(`visit ${visit} of ${VISITS}`);
        const opened = await browser.open(front.url);
        first.push(Number((await opened.seen()).firstCellsMs));
        await opened.close();
      }
      /** @type {number[]} */
      const slow = [];
      for (let visit = 1; visit <= VISITS; visit += 1) {
        status(`visit ${visit} of ${VISITS}, slow network`);
        slow.push(await browser.firstPaint(front.url));
      }
      status(`${Math.round(flags.watchMs / 1000)} s with the dashboard open`);
      const started = { http: front.pid, simulator: simulator.pid, database: environment.database };
      return await withShares({ ...pipeline.pids, ...started }, async () => {
        const watched = await watchDashboard(await browser.open(front.url), flags.watchMs);
        return { first, slow, ...watched };
      });
    } finally {
      await browser.stop();
      await simulator.stop();
      await environment.close('dashboard-front');
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
        // Earlier results have no `slow`.
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
  ],
};

/**
 * `first`: ms until the first cells, of each visit; `slow`: ms until the first contentful paint over a slow network.
 *
 * @typedef {Watched & { first: number[], slow?: number[], steal: number, others: number }} Result
 */

/** @param {string} name @param {{ p50: number, p95: number, most: number, count: number }} frames */
const rowOf = (name, { p50, p95, most, count }) => [
  name,
  figure(p50),
  figure(p95),
  figure(most),
  figure(count),
];

/** @param {string} url of the API */
async function untilAllThere(url) {
  const wanted = FLEET.devices * FLEET.sensors;
  for (;;) {
    const { sensors } = /** @type {{ sensors: number }} */ (
      await (await fetch(`${url}/api/v1/fleet`)).json()
    );
    if (sensors >= wanted) return;
    await sleep(LOOK_MS);
  }
}

const SIMULATOR = fileURLToPath(new URL('../../../simulator/index.js', import.meta.url));

/**
 * The simulator as `npm run simulator` runs it: each sensor measures once a second, and each device sends that at once.
 *
 * @param {object} options
 * @param {string} options.url of the broker
 * @param {number} options.devices
 * @param {number} options.sensors of each
 * @param {string} options.log path of the file
 */
const startSimulator = ({ url, devices, sensors, log }) =>
  startChild(SIMULATOR, {
    title: 'simulator',
    log,
    args: [
      '--broker',
      url,
      '--devices',
      `${devices}`,
      '--sensors',
      `${sensors}`,
      '--interval',
      '1s',
      '--batch',
      '1s',
      '--seed',
      '1',
    ],
    isReady: () => 'running',
  });

import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { MillraceError } from '../../../common/errors.ts';
import { findTools } from '../../../infra/bootstrap/index.ts';
import type { Latencies } from '../load/open-loop.ts';
import { loadOf } from '../load/shapes.ts';
import { withShares } from '../measure/machine.ts';
import { measurePeak, measureRate } from '../measure/rate.ts';
import { alternate, medianOf, type Round } from '../measure/rounds.ts';
import { figure, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

/** The simulator's collar with four sensors per device, at this share of its highest rate. */
const LOAD = '4x10';
const SHARE = 0.25;

/** With four sensors each: 100,000 sensors. */
const DEVICES = 25_000;

/** A run is longer than one of a comparison, because loading the dashboard takes seconds. */
const RUN_FACTOR = 2;

const LABELS = { alone: 'no dashboard', opened: 'a dashboard opens' };

type Name = keyof typeof LABELS;

const NAMES = Object.keys(LABELS) as Name[];

/** `shownMs`: from the opening until the first cells are on the screen */
type Measured = Latencies & { shownMs?: number; steal: number; others: number };

type Result = { peak: number; rounds: Round<Name, Measured>[] };

/** Compares the acknowledgement latencies of ingest with and without a new user who opens the dashboard of the same process. */
export const createOpeningPart = (devices: number): Part<Result> => ({
  name: 'opening',
  title: `Acknowledgements while a dashboard on ${devices * 4} sensors opens, load ${LOAD}`,
  needsDashboard: true,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD, devices);
    const pipeline = await environment.observedPipeline();
    const database = environment.database.pid;
    status(`registering ${devices * 4} sensors`);
    await measureRate(pipeline, shape, { database, warmMs: flags.warmMs, forMs: 100 });
    status('the highest rate');
    const peak = await measurePeak(pipeline, shape, { environment, flags });
    const { chromium: program } = await findTools(['chromium']);
    const browser = await chromium.launch({
      executablePath: program?.path,
      args: ['--no-sandbox', '--disable-gpu'],
    });
    const measure = (name: Name) =>
      withShares({ ...pipeline.pids, database }, async () => {
        const [{ latency }, shownMs] = await Promise.all([
          pipeline.pace(shape, { rate: peak * SHARE, forMs: flags.runMs * RUN_FACTOR }),
          name === 'opened' ? openDashboard(browser, String(pipeline.api)) : undefined,
        ]);
        return { ...latency, shownMs };
      });
    try {
      return {
        peak,
        rounds: await alternate({ names: NAMES, rounds: flags.rounds, onStatus: status, measure }),
      };
    } finally {
      await browser.close();
    }
  },

  tables: ({ peak, rounds }) => [
    {
      head: [
        `at ${figure((peak * SHARE) / 1000)} thousand samples/s`,
        ...['p50 ms', 'p99 ms', 'max ms', 'first cells on the screen, ms', 'steal'],
      ],
      rows: NAMES.map((name) => [
        LABELS[name],
        ...(['p50', 'p99', 'max', 'shownMs'] as const).map((key) =>
          figure(medianOf(rounds, (results) => Number(results[name][key]))),
        ),
        stealOf(rounds),
      ]),
    },
  ],

  targets: ({ rounds }) => [
    {
      figure: 'p99 of acknowledgements while a dashboard on 100,000 sensors opens, against without',
      atMost: 2,
      value: medianOf(rounds, ({ alone, opened }) => opened.p99 / alone.p99),
    },
  ],
});

export const opening = createOpeningPart(DEVICES);

/** Headings are drawn together with the cells, and a large fleet has tiles instead. */
const SHOWN = "document.querySelector('.wall-site, .group-wall > li') !== null";

const SHOWN_MS = 120_000;
const POLL_MS = 50;

/**
 * With a new profile, so that no earlier page has filled its cache. Playwright's own wait runs inside the page, and the security policy of
 * the page forbids that.
 * @returns ms until the first cells are on the screen
 * @throws {MillraceError} `failed`: the page shows nothing within the time limit
 */
async function openDashboard(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
  try {
    const page = await context.newPage();
    const began = performance.now();
    await page.goto(url);
    for (; performance.now() < began + SHOWN_MS; await sleep(POLL_MS))
      if (await page.evaluate<boolean>(SHOWN)) return performance.now() - began;
    throw new MillraceError('failed', `${url} showed nothing within ${SHOWN_MS / 1000} s.`);
  } finally {
    await context.close();
  }
}

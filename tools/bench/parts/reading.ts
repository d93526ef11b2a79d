import type { Config } from '../../../common/settings/config.ts';
import type { Environment } from '../environment/index.ts';
import type { Line } from '../environment/pipeline.ts';
import { loadOf } from '../load/shapes.ts';
import { withPeakMemory, withShares } from '../measure/machine.ts';
import { measurePeak, measureRate } from '../measure/rate.ts';
import { alternate, medianOf, type Round } from '../measure/rounds.ts';
import { createBackground, loadAll, planOf, type Sizes } from '../reading/data.ts';
import { createHttpReader } from '../reading/http.ts';
import {
  KINDS,
  type Kind,
  NAMES,
  type Name,
  RATIOS,
  READINGS,
  type Read,
  readRepeatedly,
  type Target,
} from '../reading/kinds.ts';
import { openStoreReader } from '../reading/store.ts';
import { figure, percent, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

/** The simulator's collar, at this share of its highest rate. */
const LOAD = '4x10';
const SHARE = 0.5;

const SIZES: Sizes = {
  small: { sensors: 12, days: 1 },
  large: { sensors: 4, days: 30, longDays: 365 },
  intervalMs: 1000,
  devices: 1000,
};

/**
 * Measures reads over HTTP and from the store, with a small and a large amount of stored data. Devices publish at half of the
 * highest rate meanwhile. At the end, one export reads all samples of the sensor with the longest history.
 */
export const createReadingPart = (sizes: Sizes): Part<Result> => ({
  name: 'reading',
  title: `Reading, while devices measure at half of the highest rate, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const plan = planOf(sizes, Date.now());
    const configs = { small: await environment.prepare('small'), large: await environment.prepare('large') };
    const loaded = {
      small: await loadAll(configs.small, plan.small, status),
      large: await loadAll(configs.large, plan.large, status),
    };
    const lines = { small: await environment.pipeline('small'), large: await environment.pipeline('large') };
    const readers = {
      small: await openReader(environment, lines.small, configs.small),
      large: await openReader(environment, lines.large, configs.large),
    };
    const shape = loadOf(LOAD, sizes.devices);
    status('registering devices');
    await measureRate(lines.small, shape, { database: environment.database, warmMs: 0, forMs: 100 });
    status('the highest rate');
    const peak = await measurePeak(lines.large, shape, { environment, flags });
    const background = createBackground({ shape, rate: peak * SHARE, warmMs: flags.warmMs });

    async function read(name: Name, forMs: number) {
      const { system, kind, target } = READINGS[name];
      await background.into(lines[system]);
      return readers[system].read(kind, plan.targets[target], forMs);
    }

    try {
      for (const name of NAMES) {
        status(`warming up: ${READINGS[name].label}`);
        await read(name, flags.warmMs / 2);
      }
      const rounds = await alternate({
        names: NAMES,
        rounds: flags.rounds,
        measure: (name) => read(name, flags.runMs),
        onStatus: status,
      });
      status('export of a year');
      const longest = await readers.large.read('export', plan.targets.year, 0);
      await background.stop();
      const stored = {
        small: loaded.small + (await lines.small.committed()),
        large: loaded.large + (await lines.large.committed()),
      };
      return { peak, loaded, stored, rounds, longest };
    } finally {
      await background.stop();
      for (const { close } of Object.values(readers)) await close();
      for (const name of ['small', 'large']) {
        await environment.close(`${name}-front`);
        await environment.close(name);
      }
    }
  },

  tables: ({ peak, loaded, stored, rounds, longest }) => [
    {
      head: [
        `next to ${figure((peak * SHARE) / 1000)} thousand samples/s`,
        'items',
        'p50 ms',
        'p99 ms',
        'thousand items/s',
        'HTTP process, MB',
        'steal',
      ],
      rows: [
        ...NAMES.map((name) =>
          rowOf(
            READINGS[name].label,
            (read) => medianOf(rounds, ({ [name]: of }) => read(of)),
            stealOf(rounds),
          ),
        ),
        rowOf('export of a year, once', (read) => read(longest), percent(longest.steal)),
      ],
    },
    {
      head: ['side by side', 'ratio'],
      rows: Object.values(RATIOS).map(({ label, ratio }) => [label, figure(medianOf(rounds, ratio))]),
    },
    {
      head: ['million samples stored', 'loaded', 'at the end'],
      rows: (['small', 'large'] as const).map((name) => [
        name === 'small' ? 'little' : 'much',
        figure(loaded[name] / 1e6),
        figure(stored[name] / 1e6),
      ]),
    },
  ],
});

export const reading = createReadingPart(SIZES);

const rowOf = (label: string, of: (read: (measured: Measured) => number) => number, steal: string) => [
  label,
  figure(of(({ items }) => items)),
  figure(of(({ p50 }) => p50)),
  figure(of(({ p99 }) => p99)),
  figure(of(({ items, p50 }) => items / p50)),
  figure(of(({ mb }) => mb)),
  steal,
];

interface Result {
  /** samples/s */
  peak: number;
  /** samples */
  loaded: { small: number; large: number };
  /** samples stored at the end */
  stored: { small: number; large: number };
  rounds: Round<Name, Measured>[];
  longest: Measured;
}

/** `mb`: maximum memory of the HTTP process, in MB */
type Measured = Read & { mb: number; steal: number; others: number };

async function openReader(environment: Environment, line: Line, config: Config) {
  const front = await environment.front(line);
  const http = createHttpReader(front.url);
  const store = await openStoreReader(config);
  return {
    async close() {
      http.close();
      await store.close();
    },

    read(kind: Kind, target: Target, forMs: number): Promise<Measured> {
      const pids = { ...line.pids, http: front.pid, bench: process.pid, database: environment.database };
      return withShares(pids, async () => {
        const reads = readRepeatedly(() => KINDS[kind]({ http, store }, target), forMs);
        const { value, mb } = await withPeakMemory(front.pid, reads);
        return { ...value, mb };
      });
    },
  };
}

import type { Order, Range, Sensor } from '../../../api/history/reading/hours.ts';
import { createReading, type Reading } from '../../../api/history/reading/index.ts';
import type { Store } from '../../../api/store/index.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import type { Random } from '../../../simulator/random.ts';
import { faultsOf, type Instants, type Known, seriesFaultsOf } from './samples.ts';
import type { SimulatedDevice, SimulatedInstallation, SimulatedSensor } from './simulated-installation.ts';

type KnownBoth = { acknowledged: Known; sent: Known };

const wholeRange = ({ start }: SimulatedInstallation): Range => ({
  from: start - 2 * HOUR_MS,
  to: start + 7 * HOUR_MS,
});

/** Reads a sensor in one way. @param known `acknowledged`: before the reading began @returns the faults */
type Way = (
  reading: Reading,
  sensor: Sensor,
  range: Range,
  random: Random,
  known: () => { acknowledged: Instants; sent: Instants },
) => Promise<string[]>;

async function pages(
  reading: Reading,
  sensor: Sensor,
  range: Range,
  random: Random,
  known: () => { acknowledged: Instants; sent: Instants },
) {
  const order = random.uniform() < 0.5 ? 'asc' : 'desc';
  const limit = random.uniform() < 0.5 ? 5 : 1000;
  const got = await readPages(reading, sensor, range, { order, limit });
  return faultsOf(order === 'asc' ? got : got.reverse(), known()).map(by(`${order} pages`));
}

async function whole(
  reading: Reading,
  sensor: Sensor,
  range: Range,
  _random: Random,
  known: () => { acknowledged: Instants; sent: Instants },
) {
  return faultsOf(await readWhole(reading, sensor, range), known()).map(by('export'));
}

async function series(
  reading: Reading,
  sensor: Sensor,
  range: Range,
  random: Random,
  known: () => { acknowledged: Instants; sent: Instants },
) {
  const points = random.shuffled([3, 6, 100])[0] as number;
  const shape = await reading.series(sensor, range, { points, newest: range.to });
  return seriesFaultsOf(shape, known()).map(by(`${points} points from ${shape.source}`));
}

/** The ways of reading. `series` is listed twice, so a random choice prefers it, because only `series` reads the stored statistics. */
const WAYS: Way[] = [series, series, pages, whole];

export function createReaders({
  store,
  random,
  installation,
  known: { acknowledged, sent },
}: {
  store: Store;
  random: Random;
  installation: SimulatedInstallation;
  known: KnownBoth;
}) {
  const range = wholeRange(installation);

  async function readBy(device: SimulatedDevice, { key, bytes }: SimulatedSensor, way: Way) {
    const before = acknowledged.copy(key);
    const sensor = { device: device.bytes, sensor: bytes, group: device.group };
    const knownNow = () => ({ acknowledged: before, sent: sent.instantsOf(key) });
    return way(createReading(store), sensor, range, random, knownNow);
  }

  return {
    async readOne(): Promise<string[]> {
      const [device] = random.shuffled(installation.devices);
      const [sensor] = random.shuffled(device?.sensors ?? []);
      const [way] = random.shuffled(WAYS);
      return device && sensor && way ? readBy(device, sensor, way) : [];
    },

    async readAll(): Promise<string[]> {
      const faults = [];
      for (const device of installation.devices) {
        for (const sensor of device.sensors) {
          for (const way of new Set(WAYS)) faults.push(...(await readBy(device, sensor, way)));
        }
      }
      return faults;
    },
  };
}

/** @param way of reading */
const by =
  (way: string): ((fault: string) => string) =>
  (fault) =>
    `${way}: ${fault}`;

async function readPages(
  reading: Reading,
  sensor: Sensor,
  range: Range,
  { order, limit }: { order: Order; limit: number },
) {
  const got = [];
  for (let rest = range; rest.from < rest.to; ) {
    const page = await reading.page(sensor, rest, { order, limit });
    got.push(...page.times.map((ts, index) => ({ ts, value: Number(page.values[index]) })));
    if (page.reached === null) break;
    rest = order === 'asc' ? { ...rest, from: page.reached } : { ...rest, to: page.reached };
  }
  return got;
}

async function readWhole(reading: Reading, sensor: Sensor, range: Range) {
  const got = [];
  for await (const { times, values } of reading.all(sensor, range, 'asc', new AbortController().signal)) {
    for (let i = 0; i < times.length; i++) got.push({ ts: Number(times[i]), value: Number(values[i]) });
  }
  return got;
}

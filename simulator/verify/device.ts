import { createLookUp, type Hour, type Sensor } from '../../api/history/reading/hours.ts';
import type { Store } from '../../api/store/index.ts';
import {
  type DeviceBytes,
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
} from '../../schema/ids.ts';
import { greaterValue, mergeSeries, type Series } from '../../schema/packed/series.ts';
import { bucketOf, HOUR_MS } from '../../schema/rules.ts';
import type { Bitmap, Sent } from './ledger-parts.ts';
import type { Findings } from './report.ts';
import { SensorComparison, shown } from './sensor.ts';

const NOTHING_SENT: Sent = { times: [], values: [], messages: [] };

/** by sensor id */
type Comparisons = Map<string, { name: string; comparison: SensorComparison }>;

type LatestRow = Awaited<ReturnType<Stored['fleet']['latestOfDevice']>>[number];

export class DeviceComparison {
  #store;
  #groups;
  #range;
  #acknowledged;
  #findings;
  #storedHours;

  constructor({
    store,
    groups,
    range,
    acknowledged,
    findings,
  }: {
    store: Stored;
    groups: number;
    range: { from: number; to: number };
    acknowledged: Bitmap;
    findings: Findings;
  }) {
    this.#store = store;
    this.#groups = groups;
    this.#range = range;
    this.#acknowledged = acknowledged;
    this.#findings = findings;
    this.#storedHours = new StoredHours(store);
  }

  /**
   * Compares the samples that a device sent with the stored samples in the range, and its latest values with the stored samples.
   * @param sensors samples that each sensor sent, by sensor name
   * @returns numbers of different timestamps
   */
  async compare(
    device: string,
    sensors: Map<string, Sent>,
  ): Promise<{ acknowledged: number; stored: number }> {
    const identity = identifyDevice(device);
    if (!identity) throw new RangeError(`the ledger has a device that cannot be: ${JSON.stringify(device)}`);
    const comparisons: Comparisons = new Map();
    const add = (id: string, sensor: string, sent = NOTHING_SENT) => {
      const comparison = new SensorComparison({
        device,
        sensor,
        sent,
        acknowledged: this.#acknowledged,
        range: this.#range,
        findings: this.#findings,
      });
      comparisons.set(id, { name: sensor, comparison });
    };
    for (const [name, sent] of sensors) add(identifySensor(identity.id, name)?.id ?? name, name, sent);

    const latest = await this.#latestOf(identity.bytes);
    for (const id of latest.keys()) if (!comparisons.has(id)) add(id, id);
    await this.#compareHours(identity, comparisons, add);
    await this.#compareLatest(device, identity, comparisons, latest);
    return sumOf([...comparisons.values()].map(({ comparison }) => comparison.counts));
  }

  #keyOf(device: Identity, id: string): Sensor {
    const sensor = identifySensor(device.id, id);
    if (!sensor) throw new RangeError(`the ledger has a sensor that cannot be: ${JSON.stringify(id)}`);
    return { group: groupOf(device.bytes, this.#groups), device: device.bytes, sensor: sensor.bytes };
  }

  async #latestOf(bytes: DeviceBytes) {
    const rows = await this.#store.fleet.latestOfDevice({ group: groupOf(bytes, this.#groups), bytes });
    return new Map(rows.map((row) => [row.id, row]));
  }

  /**
   * Reads hour by hour.
   * @param add adds the comparison of a sensor that has stored samples but sent none
   */
  async #compareHours(device: Identity, comparisons: Comparisons, add: (id: string, name: string) => void) {
    const [from, to] = [bucketOf(this.#range.from), bucketOf(this.#range.to - 1) + HOUR_MS];
    const hoursOf = async (id: string) => {
      const sensor = this.#keyOf(device, id);
      return { sensor, hours: await this.#storedHours.hoursOf(sensor, from, to) };
    };
    const entries = [...comparisons.keys()].map(async (id) => [id, await hoursOf(id)] as const);
    const sensors = new Map(await Promise.all(entries));
    for (let bucket = from; bucket < this.#range.to; bucket += HOUR_MS) {
      const rows = await this.#storedHours.readHour(bucket, device.bytes, sensors);
      for (const id of rows.keys()) if (!comparisons.has(id)) add(id, id);
      for (const [id, { comparison }] of comparisons) {
        comparison.addHour(bucket + HOUR_MS, rows.get(id) ?? []);
      }
    }
  }

  /** Compares the row of each sensor in the table `latest` with the newest stored sample. */
  async #compareLatest(
    device: string,
    identity: Identity,
    comparisons: Comparisons,
    latest: Map<string, LatestRow>,
  ) {
    for (const [id, { name, comparison }] of comparisons) {
      const newest = comparison.newest();
      const row = latest.get(id);
      const actual = { ts: row?.ts ?? null, value: row?.value ?? null };
      if (await this.#isRight(identity, id, newest, actual)) continue;
      const is = actual.ts === null ? 'nothing' : `${shown(Number(actual.value))} at ${actual.ts}`;
      const should = newest === null ? 'nothing' : `${shown(newest.value)} at ${newest.ts}`;
      const finding = { device, sensor: name, ts: newest?.ts ?? null };
      this.#findings.add('latest', {
        ...finding,
        message: `latest has ${is}; the newest that is stored is ${should}`,
      });
    }
  }

  /** @param newest newest stored sample of the hours that were read */
  async #isRight(
    device: Identity,
    sensor: string,
    newest: { ts: number; value: number } | null,
    { ts, value }: { ts: number | null; value: number | null },
  ) {
    if (ts === null || value === null) return newest === null;
    if (newest?.ts === ts) return Object.is(newest.value, value);
    if (newest !== null && ts < newest.ts) return false;
    // A latest value after all read samples is right if it is the newest of its hour.
    const bucket = bucketOf(ts);
    if (bucket >= bucketOf(this.#range.from) && bucket < this.#range.to) return false;
    const rows = await this.#storedHours.readSensorHour(this.#keyOf(device, sensor), sensor, bucket);
    const samples = rows.flatMap(({ times, values }) =>
      [...times].map((time, i) => ({ time, value: values[i] })),
    );
    if (samples.some(({ time }) => time > ts)) return false;
    const same = samples.filter(({ time }) => time === ts).map((sample) => Number(sample.value));
    return same.length > 0 && Object.is(same.reduce(greaterValue), value);
  }
}

const sumOf = (counts: Array<{ acknowledged: number; stored: number }>) => ({
  acknowledged: counts.reduce((sum, one) => sum + one.acknowledged, 0),
  stored: counts.reduce((sum, one) => sum + one.stored, 0),
});

export type Stored = Pick<Store, 'samples' | 'packed' | 'packProgress' | 'fleet'>;

/** As every reader does: packed hours from history, all other hours from batches and history. */
class StoredHours {
  #store;
  #lookUp;

  constructor(store: Stored) {
    this.#store = store;
    this.#lookUp = createLookUp({
      packedUntil: async (group) => (await store.packProgress.read(group)).packedUntil,
      readStatistics: store.packed.readStatistics,
    });
  }

  /** The hours that may have samples, by the start of the hour. */
  async hoursOf(sensor: Sensor, from: number, to: number): Promise<Map<number, Hour>> {
    const hours = await this.#lookUp(sensor, from, to);
    return new Map(hours.map((hour) => [hour.hour, hour]));
  }

  /** @param sensors by id @returns by sensor id. Sensors that are not in `sensors` are included as long as the hour is in batches */
  async readHour(
    bucket: number,
    device: DeviceBytes,
    sensors: Map<string, { sensor: Sensor; hours: Map<number, Hour> }>,
  ): Promise<Map<string, Series[]>> {
    const found = [...sensors.values()].map(({ hours }) => hours.get(bucket));
    const inBatches = found.some((hour) => hour && !hour.packed);
    const batches = inBatches
      ? await this.#store.samples.readDeviceHour(device, bucket)
      : (new Map() as Map<string, Series[]>);
    const rows = new Map(batches);
    await Promise.all(
      [...sensors].map(async ([id, { sensor, hours }]) => {
        rows.set(id, await this.#rowsOf(sensor, hours.get(bucket), bucket, batches.get(id) ?? []));
      }),
    );
    return rows;
  }

  async readSensorHour(sensor: Sensor, id: string, bucket: number): Promise<Series[]> {
    const hours = await this.hoursOf(sensor, bucket, bucket + HOUR_MS);
    return (await this.readHour(bucket, sensor.device, new Map([[id, { sensor, hours }]]))).get(id) ?? [];
  }

  async #rowsOf(
    sensor: Sensor,
    found: Hour | undefined,
    bucket: number,
    batches: Series[],
  ): Promise<Series[]> {
    if (!found) return [];
    const history = mergeSeries(await this.#store.packed.readHour(sensor, bucket));
    return found.packed ? [history] : [...batches, history];
  }
}

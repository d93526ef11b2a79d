import { createLookUp } from '../../api/history/reading/hours.js';
import { groupOf, identifyDevice, identifySensor } from '../../schema/ids.js';
import { greaterValue, mergeSeries } from '../../schema/packed/series.js';
import { bucketOf, HOUR_MS } from '../../schema/rules.js';
import { SensorComparison, shown } from './sensor.js';

/** @import { Hour, Sensor } from '../../api/history/reading/hours.js' */
/** @import { Store } from '../../api/store/index.js' */
/** @import { Identity } from '../../schema/ids.js' */
/** @import { Series } from '../../schema/packed/series.js' */
/** @import { Bitmap, Sent } from './ledger-parts.js' */
/** @import { Findings } from './report.js' */

/** @type {Sent} */
const NOTHING_SENT = { times: [], values: [], messages: [] };

/**
 * @param {object} options
 * @param {Stored} options.store
 * @param {number} options.groups `LATEST_GROUPS`
 * @param {{ from: number, to: number }} options.range epoch ms
 * @param {Bitmap} options.acknowledged
 * @param {Findings} options.findings
 */
export function createDeviceComparison({ store, groups, range, acknowledged, findings }) {
  const storedHours = new StoredHours(store);

  /** @param {Identity} device @param {string} id id of a sensor of the device @returns {Sensor} */
  function keyOf(device, id) {
    const sensor = identifySensor(device.id, id);
    if (!sensor) throw new RangeError(`the ledger has a sensor that cannot be: ${JSON.stringify(id)}`);
    return { group: groupOf(device.bytes, groups), device: device.bytes, sensor: sensor.bytes };
  }

  /**
   * Compares the samples that a device sent with the stored samples in the range, and its latest values with the stored samples.
   *
   * @param {string} device name
   * @param {Map<string, Sent>} sensors the samples that each sensor sent, by sensor name
   * @returns {Promise<{ acknowledged: number, stored: number }>} numbers of different timestamps
   */
  return async function compareDevice(device, sensors) {
    const identity = identifyDevice(device);
    if (!identity) throw new RangeError(`the ledger has a device that cannot be: ${JSON.stringify(device)}`);
    /** @type {Map<string, { name: string, comparison: SensorComparison }>} by sensor id */
    const comparisons = new Map();
    const add = (/** @type {string} */ id, /** @type {string} */ sensor, sent = NOTHING_SENT) => {
      const comparison = new SensorComparison({ device, sensor, sent, acknowledged, range, findings });
      comparisons.set(id, { name: sensor, comparison });
    };
    for (const [name, sent] of sensors) add(identifySensor(identity.id, name)?.id ?? name, name, sent);

    const latest = await latestOf(identity.bytes);
    for (const id of latest.keys()) if (!comparisons.has(id)) add(id, id);
    await compareHours(identity, comparisons, add);
    await compareLatest(device, identity, comparisons, latest);
    return sumOf([...comparisons.values()].map(({ comparison }) => comparison.counts));
  };

  /** @param {Buffer} bytes id of the device */
  async function latestOf(bytes) {
    const rows = await store.fleet.latestOfDevice({ group: groupOf(bytes, groups), bytes });
    return new Map(rows.map((row) => [row.id, row]));
  }

  /**
   * Reads the stored samples of a device, hour by hour, and adds them to the comparison of their sensor.
   *
   * @param {Identity} device
   * @param {Map<string, { name: string, comparison: SensorComparison }>} comparisons by sensor id
   * @param {(id: string, name: string) => void} add adds the comparison of a sensor that has stored samples but sent none
   */
  async function compareHours(device, comparisons, add) {
    const [from, to] = [bucketOf(range.from), bucketOf(range.to - 1) + HOUR_MS];
    const hoursOf = async (/** @type {string} */ id) => {
      const sensor = keyOf(device, id);
      return { sensor, hours: await storedHours.hoursOf(sensor, from, to) };
    };
    const entries = [...comparisons.keys()].map(async (id) => /** @type {const} */ ([id, await hoursOf(id)]));
    const sensors = new Map(await Promise.all(entries));
    for (let bucket = from; bucket < range.to; bucket += HOUR_MS) {
      const rows = await storedHours.readHour(bucket, device.bytes, sensors);
      for (const id of rows.keys()) if (!comparisons.has(id)) add(id, id);
      for (const [id, { comparison }] of comparisons) {
        comparison.addHour(bucket + HOUR_MS, rows.get(id) ?? []);
      }
    }
  }

  /**
   * Compares the row of each sensor in the table `latest` with the newest stored sample.
   *
   * @param {string} device name
   * @param {Identity} identity
   * @param {Map<string, { name: string, comparison: SensorComparison }>} comparisons by sensor id
   * @param {Awaited<ReturnType<typeof latestOf>>} latest
   */
  async function compareLatest(device, identity, comparisons, latest) {
    for (const [id, { name, comparison }] of comparisons) {
      const newest = comparison.newest();
      const row = latest.get(id);
      const actual = { ts: row?.ts ?? null, value: row?.value ?? null };
      if (await isRight(identity, id, newest, actual)) continue;
      const is = actual.ts === null ? 'nothing' : `${shown(Number(actual.value))} at ${actual.ts}`;
      const should = newest === null ? 'nothing' : `${shown(newest.value)} at ${newest.ts}`;
      const finding = { device, sensor: name, ts: newest?.ts ?? null };
      findings.add('latest', {
        ...finding,
        message: `latest has ${is}; the newest that is stored is ${should}`,
      });
    }
  }

  /**
   * @param {Identity} device
   * @param {string} sensor id
   * @param {{ ts: number, value: number } | null} newest newest stored sample of the hours that were read
   * @param {{ ts: number | null, value: number | null }} latest
   */
  async function isRight(device, sensor, newest, { ts, value }) {
    if (ts === null || value === null) return newest === null;
    if (newest?.ts === ts) return Object.is(newest.value, value);
    if (newest !== null && ts < newest.ts) return false;
    // A latest value after all read samples is right if it is the newest of its hour.
    const bucket = bucketOf(ts);
    if (bucket >= bucketOf(range.from) && bucket < range.to) return false;
    const rows = await storedHours.readSensorHour(keyOf(device, sensor), sensor, bucket);
    const samples = rows.flatMap(({ times, values }) =>
      [...times].map((time, i) => ({ time, value: values[i] })),
    );
    if (samples.some(({ time }) => time > ts)) return false;
    const same = samples.filter(({ time }) => time === ts).map((sample) => Number(sample.value));
    return same.length > 0 && Object.is(same.reduce(greaterValue), value);
  }
}

/** @param {Array<{ acknowledged: number, stored: number }>} counts */
const sumOf = (counts) => ({
  acknowledged: counts.reduce((sum, one) => sum + one.acknowledged, 0),
  stored: counts.reduce((sum, one) => sum + one.stored, 0),
});

/** The tables that have samples and latest values. @typedef {Pick<Store, 'samples' | 'packed' | 'packProgress' | 'fleet'>} Stored */

/** Reads the stored samples of a device as every reader does: packed hours from history, all other hours from batches and history. */
class StoredHours {
  #store;
  #lookUp;

  /** @param {Stored} store */
  constructor(store) {
    this.#store = store;
    this.#lookUp = createLookUp({
      packedUntil: async (group) => (await store.packProgress.read(group)).packedUntil,
      readStatistics: store.packed.readStatistics,
    });
  }

  /**
   * Lists the hours of a sensor.
   *
   * @param {Sensor} sensor
   * @param {number} from epoch ms, the start of an hour
   * @param {number} to epoch ms
   * @returns {Promise<Map<number, Hour>>} the hours that may have samples, by the start of the hour
   */
  async hoursOf(sensor, from, to) {
    const hours = await this.#lookUp(sensor, from, to);
    return new Map(hours.map((hour) => [hour.hour, hour]));
  }

  /**
   * Reads an hour of a device.
   *
   * @param {number} bucket start of the hour, in epoch ms
   * @param {Buffer} device id of the device, 16 bytes
   * @param {Map<string, { sensor: Sensor, hours: Map<number, Hour> }>} sensors sensors by id
   * @returns {Promise<Map<string, Series[]>>} series by sensor id. Sensors that are not in `sensors` are included as long as the
   *   hour is in batches
   */
  async readHour(bucket, device, sensors) {
    const found = [...sensors.values()].map(({ hours }) => hours.get(bucket));
    const inBatches = found.some((hour) => hour && !hour.packed);
    const batches = inBatches
      ? await this.#store.samples.readDeviceHour(device, bucket)
      : /** @type {Map<string, Series[]>} */ (new Map());
    const rows = new Map(batches);
    await Promise.all(
      [...sensors].map(async ([id, { sensor, hours }]) => {
        rows.set(id, await this.#rowsOf(sensor, hours.get(bucket), bucket, batches.get(id) ?? []));
      }),
    );
    return rows;
  }

  /** Reads an hour of a sensor. @param {Sensor} sensor @param {string} id of the sensor @param {number} bucket epoch ms @returns {Promise<Series[]>} */
  async readSensorHour(sensor, id, bucket) {
    const hours = await this.hoursOf(sensor, bucket, bucket + HOUR_MS);
    return (await this.readHour(bucket, sensor.device, new Map([[id, { sensor, hours }]]))).get(id) ?? [];
  }

  /** @param {Sensor} sensor @param {Hour | undefined} found @param {number} bucket @param {Series[]} batches @returns {Promise<Series[]>} */
  async #rowsOf(sensor, found, bucket, batches) {
    if (!found) return [];
    const history = mergeSeries(await this.#store.packed.readHour(sensor, bucket));
    return found.packed ? [history] : [...batches, history];
  }
}

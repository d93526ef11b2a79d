import { formatTime } from '../../common/times.js';
import { brokenNameRule, identifyDevice, isName } from '../../schema/ids.js';
import { ruleOf, timeRefusal } from '../ingest/decode/index.js';
import { readTime, readValue } from './rows.js';
import { sortInTurns } from './sorting.js';

/** @import { ErrorCode } from '../../common/errors.js' */
/** @import { ImportWriter } from '../ingest/import-writer.js' */
/** @import { Device, Sensor } from '../ingest/registry/cache.js' */
/** @import { Described } from '../ingest/registry/index.js' */
/** @import { ImportOptions } from './index.js' */
/** @import { Rows } from './rows.js' */

/**
 * Number of samples in memory from which they are written. A sample takes 16 bytes. During a write, the same number of
 * samples may be collected again.
 */
const MAX_BUFFERED = 1_000_000;

/**
 * Limit of names of sensors in memory, at about 300 bytes each. At the limit all names are dropped, and each sensor is
 * looked up again when it occurs.
 */
const MAX_ENTRIES = 500_000;

/** Number of samples that a dry run shows. */
const SHOWN = 20;

const NUMBER_AS_TEXT = 'must be a number, without quotation marks';

/** A line of the file of which a sample was refused. @typedef {{ line: number, code: ErrorCode, rule: string }} RefusedLine */

/**
 * The progress of an import.
 *
 * @typedef {{ rows: number, samples: number, refused: number }} Progress `rows`: number of rows from the start of the file
 *   whose samples are all committed or refused
 */

/** A sample as it is stored. @typedef {{ line: number, device: string, sensor: string, ts: string, value: number, type: string | null, unit: string | null, site: string | null }} StoredRow */

/** A sensor of the file. @typedef {{ refusal: { code: ErrorCode, rule: string } | null, device: Device | null, sensor: Sensor | null, samples: GrowingSeries | null }} Entry */

/** Collects the samples of a file by sensor, and commits them whenever a limited number of samples is in memory. */
export class Importer {
  #files;
  #times;
  #options;
  /** Sensors by the texts of the file: by device, then by sensor. @type {Map<string, Map<string, Entry>>} */
  #entries = new Map();
  /** @type {Map<Sensor, Entry>} */
  #bySensor = new Map();
  /** Entries with samples that are not written yet. @type {Set<Entry>} */
  #filled = new Set();
  #buffered = 0;
  /** Number of names of sensors in `#entries`. */
  #resolved = 0;
  /** @type {Progress} */
  #progress;
  #gathered;
  /** @type {StoredRow[]} */
  #first = [];
  #writing = Promise.resolve();

  /**
   * @param {object} deps
   * @param {ImportWriter} deps.files
   * @param {{ oldest: number, newest: number }} deps.times bounds of accepted times, epoch ms
   * @param {ImportOptions} deps.options
   */
  constructor({ files, times, options }) {
    this.#files = files;
    this.#times = times;
    this.#options = options;
    this.#progress = { rows: options.skip, samples: 0, refused: 0 };
    this.#gathered = { ...this.#progress };
  }

  /** Adds rows. @param {Rows} rows @returns {Promise<void>} settles when memory for more rows is free */
  async add(rows) {
    for (const { line, rule } of rows.malformed) this.#refuse(line, 'malformed', rule);
    if (this.#resolved > MAX_ENTRIES) await this.#forgetNames();
    await this.#resolve(rows);
    this.#gather(rows);
    this.#gathered.rows = rows.end;
    if (this.#buffered >= MAX_BUFFERED) await this.#flush();
  }

  /** Writes the collected samples, and drops all names of sensors. */
  async #forgetNames() {
    await this.#flush();
    this.#entries.clear();
    this.#bySensor.clear();
    this.#resolved = 0;
  }

  /** @returns {Promise<{ progress: Progress, first: StoredRow[] }>} settles when all samples are committed */
  async end() {
    await this.#flush();
    await this.#writing;
    return { progress: this.#progress, first: this.#first };
  }

  /** Looks up the sensors of the rows that are not in memory yet. @param {Rows} rows */
  async #resolve({ device, sensor, type, unit, site }) {
    /** @type {Map<string, { site: string | null, sensors: Described }>} */
    const missing = new Map();
    let lastDevice;
    let lastSensor;
    for (let index = 0; index < device.length; index++) {
      // The check of `index` is needed: in the first row device and sensor may be undefined, like `lastDevice`. A row of
      // CSV that ends early is an example.
      if (index > 0 && device[index] === lastDevice && sensor[index] === lastSensor) continue;
      lastDevice = device[index];
      lastSensor = sensor[index];
      const [deviceRef, sensorRef] = [textOf(lastDevice), textOf(lastSensor)];
      if (deviceRef === null || sensorRef === null) continue;
      if (this.#entries.get(deviceRef)?.has(sensorRef)) continue;
      const known = missing.get(deviceRef);
      const found = known ?? { site: nameOf(site?.[index]), sensors: new Map() };
      if (!known) missing.set(copyOf(deviceRef), found);
      if (!found.sensors.has(sensorRef))
        found.sensors.set(copyOf(sensorRef), describe(type?.[index], unit?.[index]));
    }
    for (const [ref, found] of missing) await this.#resolveDevice(ref, found);
  }

  /** @param {string} ref @param {{ site: string | null, sensors: Described }} found */
  async #resolveDevice(ref, { site, sensors }) {
    const entries = this.#entries.get(ref) ?? new Map();
    this.#entries.set(ref, entries);
    this.#resolved += sensors.size;
    const identity = identifyDevice(ref);
    if (!identity) {
      const refusal = { code: 'bad_id', rule: `the device ${brokenNameRule(ref)}` };
      for (const sensor of sensors.keys())
        entries.set(sensor, { refusal, device: null, sensor: null, samples: null });
      return;
    }
    const registers = !this.#options.dryRun;
    const options = { registers, ...(site !== null && { site }) };
    const { device, known, refused } = await this.#files.resolve(identity, sensors, options);
    for (const [sensor, code] of refused) {
      const rule = code === 'bad_id' ? `the sensor ${brokenNameRule(sensor)}` : ruleOf(code);
      entries.set(sensor, { refusal: { code, rule }, device: null, sensor: null, samples: null });
    }
    for (const [name, sensor] of known) {
      // A file may name the same sensor by its id and by its name. Then both share one entry.
      const same = sensor && this.#bySensor.get(sensor);
      const entry = same || { refusal: null, device, sensor, samples: null };
      if (sensor) this.#bySensor.set(sensor, entry);
      entries.set(name, entry);
    }
  }

  /** @param {Rows} rows */
  #gather({ isText, lines, device, sensor, ts, value, type, unit, site }) {
    let lastDevice;
    let lastSensor;
    let entry = /** @type {Entry | undefined} */ (undefined);
    for (let index = 0; index < device.length; index++) {
      if (!entry || device[index] !== lastDevice || sensor[index] !== lastSensor) {
        lastDevice = device[index];
        lastSensor = sensor[index];
        entry = this.#entryOf(lastDevice, lastSensor);
      }
      const line = /** @type {number} */ (lines[index]);
      const number = readValue(value[index], isText);
      const rule = typeof value[index] === 'string' && !isText ? NUMBER_AS_TEXT : undefined;
      const sample = this.#check(line, entry, ts[index], { number, rule });
      if (sample === null) continue;
      if (this.#first.length < SHOWN) {
        const labels = { device: String(lastDevice), sensor: String(lastSensor) };
        const described = {
          type: nameOf(type?.[index]),
          unit: nameOf(unit?.[index]),
          site: nameOf(site?.[index]),
        };
        this.#first.push({
          line,
          ...labels,
          ts: formatTime(sample.time),
          value: sample.number,
          ...described,
        });
      }
      this.#gathered.samples++;
      if (this.#options.dryRun) continue;
      if (entry.samples === null) {
        entry.samples = new GrowingSeries();
        this.#filled.add(entry);
      }
      entry.samples.add(sample.time, sample.number);
      this.#buffered++;
    }
  }

  /** @param {unknown} device @param {unknown} sensor @returns {Entry} */
  #entryOf(device, sensor) {
    const [deviceRef, sensorRef] = [textOf(device), textOf(sensor)];
    if (deviceRef !== null && sensorRef !== null)
      return /** @type {Entry} */ (this.#entries.get(deviceRef)?.get(sensorRef));
    const rule = `the ${deviceRef === null ? 'device' : 'sensor'} must be a text`;
    return { refusal: { code: 'bad_id', rule }, device: null, sensor: null, samples: null };
  }

  /**
   * @param {number} line
   * @param {Entry} entry
   * @param {unknown} ts
   * @param {{ number: number | null, rule: string | undefined }} value `number`: as `readValue` returns it; `rule`: the broken rule if it is null
   * @returns {{ time: number, number: number } | null} null: the sample is refused
   */
  #check(line, { refusal }, ts, { number, rule }) {
    if (refusal) return this.#refuse(line, refusal.code, refusal.rule);
    const time = readTime(ts);
    if (time === null) return this.#refuse(line, 'bad_timestamp');
    const wrong = timeRefusal(time, this.#times);
    if (wrong) return this.#refuse(line, wrong.code, wrong.rule);
    if (number === null) return this.#refuse(line, 'not_numeric', rule);
    if (Number.isNaN(number)) return this.#refuse(line, 'not_finite');
    return { time, number };
  }

  /** @param {number} line @param {ErrorCode} code @param {string} [rule] @returns {null} */
  #refuse(line, code, rule = ruleOf(code)) {
    this.#gathered.refused++;
    this.#options.onRefused({ line, code, rule });
    return null;
  }

  /**
   * Starts to write the collected samples. Meanwhile the next rows are collected.
   *
   * @returns {Promise<void>} settles when the previous write is committed
   */
  async #flush() {
    await this.#writing;
    /** @type {Map<Device, Array<{ known: Sensor, sensor: Buffer, times: Float64Array | number[], values: Float64Array | number[] }>>} */
    const devices = new Map();
    for (const entry of this.#filled) {
      const { device, sensor, samples } =
        /** @type {{ device: Device, sensor: Sensor, samples: GrowingSeries }} */ (entry);
      const { times, values } = await sortInTurns(samples);
      const series = { known: sensor, sensor: sensor.bytes, times, values };
      const list = devices.get(device);
      if (list) list.push(series);
      else devices.set(device, [series]);
      entry.samples = null;
    }
    this.#filled.clear();
    this.#buffered = 0;
    const reached = { ...this.#gathered };
    this.#writing = this.#write(devices, reached);
    // A failure is reported when `#writing` is awaited. It must not be an unhandled rejection until then.
    this.#writing.catch(() => {});
  }

  /** @param {Map<Device, Parameters<ImportWriter['write']>[1]>} devices @param {Progress} reached */
  async #write(devices, reached) {
    for (const [device, series] of devices) await this.#files.write(device, series);
    this.#progress = reached;
    this.#options.onProgress(reached);
  }
}

/** Times and values of one sensor, in typed arrays outside the heap of V8. */
class GrowingSeries {
  #times = new Float64Array(64);
  #values = new Float64Array(64);
  #length = 0;

  /** @param {number} time epoch ms @param {number} value */
  add(time, value) {
    if (this.#length === this.#times.length) {
      this.#times = doubled(this.#times);
      this.#values = doubled(this.#values);
    }
    this.#times[this.#length] = time;
    this.#values[this.#length++] = value;
  }

  get times() {
    return this.#times.subarray(0, this.#length);
  }

  get values() {
    return this.#values.subarray(0, this.#length);
  }
}

/** @param {Float64Array} array */
function doubled(array) {
  const larger = new Float64Array(2 * array.length);
  larger.set(array);
  return larger;
}

/** @param {unknown} cell @returns {string | null} null: the cell cannot be a name */
function textOf(cell) {
  if (typeof cell === 'string') return cell;
  if (cell === null || cell === undefined) return '';
  // Integers beyond 2^53 are rounded, so two numbers could become the same name.
  if (typeof cell === 'number') return Math.abs(cell) <= Number.MAX_SAFE_INTEGER ? String(cell) : null;
  return typeof cell === 'bigint' || typeof cell === 'boolean' ? String(cell) : null;
}

/** @param {unknown} cell @returns {string | null} null: the cell is no valid type or unit */
function nameOf(cell) {
  const text = textOf(cell);
  return isName(text) ? copyOf(text) : null;
}

/**
 * Copies a text that stays in memory. A cell of CSV is a slice of the 64 KiB that were read at once. V8 would keep the 64 KiB in memory as
 * long as the slice.
 *
 * @param {string} text may have lone surrogates, so it is copied as UTF-16. UTF-8 would change them
 */
const copyOf = (text) => Buffer.from(text, 'utf16le').toString('utf16le');

/** @param {unknown} type @param {unknown} unit */
function describe(type, unit) {
  const [typeName, unitName] = [nameOf(type), nameOf(unit)];
  return { ...(typeName !== null && { type: typeName }), ...(unitName !== null && { unit: unitName }) };
}

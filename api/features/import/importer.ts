import type { ErrorCode } from '../../../common/errors.ts';
import { printable } from '../../../common/printable.ts';
import { formatTime } from '../../../common/times.ts';
import {
  brokenNameRule,
  type Identity,
  identifyDevice,
  identifySensor,
  isName,
  type SensorBytes,
} from '../../../schema/ids.ts';
import { ruleOf, timeRefusal } from '../../ingest/decode/index.ts';
import type { Device, Sensor } from '../../ingest/registry/cache.ts';
import type { Described } from '../../ingest/registry/index.ts';
import type { Destination, ImportOptions } from './files.ts';
import { BadTime } from './local-times.ts';
import type { PastSamples } from './past-samples.ts';
import { type Rows, readTime } from './rows.ts';
import { SampleSeries } from './sample-series.ts';
import { sortInTurns } from './sorting.ts';
import { parseFileTime, timeRule, unitHint } from './time-formats.ts';
import { numberRule, valueReader } from './values.ts';
import { Zone } from './zones.ts';

/** Samples are written from this number on. A sample takes 20 bytes. During a write, the same number may be collected again. */
const MAX_BUFFERED = 1_000_000;

/** At about 500 bytes for each name of a sensor. At the limit all names are dropped, and each sensor is looked up again when it occurs. */
const MAX_ENTRIES = 300_000;

const DRY_RUN_SAMPLES = 20;

/** An import lists only the first lines with merged samples. */
const MAX_MERGED_LINES = 100;

const NUMBER_AS_TEXT = 'must be a number, without quotation marks';

/** Limit of the length of a cell in a message. */
const MAX_CELL = 60;

export type RefusedLine = { line: number; code: ErrorCode; rule: string };

/** Two samples have the same time, so one of the two is stored. */
export type MergedLine = { line: number; same_as: number };

/**
 * `rows`: from the start of the file, with all samples committed or refused. `samples`: committed. `merged`: not committed, because the
 * file has another sample of the same sensor and time.
 */
export type Progress = { rows: number; samples: number; merged: number; refused: number };

/** Times of the first and the last sample, in epoch ms. */
export type TimeRange = { oldest: number; newest: number };

export type StoredRow = {
  line: number;
  device: string;
  sensor: string;
  ts: string;
  local: string | null;
  value: number;
  type: string | null;
  unit: string | null;
  site: string | null;
};

/** `range` is null without samples. `first`: some samples as they are stored, for a dry run. */
export type Imported = {
  progress: Progress;
  range: TimeRange | null;
  first: StoredRow[];
  mergedLines: MergedLine[];
};

type Owner = { identity: Identity; site: string | null; device: Device | null };

/** `sensor` is null before its registration, which uses `described` (type and unit). */
interface Entry {
  refusal: { code: ErrorCode; rule: string } | null;
  owner: Owner | null;
  ref: string;
  sensor: Sensor | null;
  described: { type?: string; unit?: string };
  samples: SampleSeries | null;
}

const refusedEntry = (ref: string, refusal: { code: ErrorCode; rule: string }): Entry => ({
  refusal,
  owner: null,
  ref,
  sensor: null,
  described: {},
  samples: null,
});

/** Commits whenever a limited number of samples is in memory. */
export class Importer {
  #pastSamples;
  #corrections;
  #times;
  #options;
  /** By the texts of the file: by device, then by sensor. */
  #entries: Map<string, Map<string, Entry>> = new Map();
  /** By the ids of device and sensor, because a file may name a sensor by its id and by its name. */
  #byId: Map<string, Entry> = new Map();
  #filled: Set<Entry> = new Set();
  #buffered = 0;
  #resolved = 0;
  #progress: Progress;
  #gathered;
  #first: StoredRow[] = [];
  #mergedLines: MergedLine[] = [];
  #range: TimeRange | null = null;
  #style;
  #readValue;
  #zone;
  #writing = Promise.resolve();

  constructor({
    destination: { pastSamples, corrections },
    times,
    options,
  }: {
    destination: Pick<Destination, 'pastSamples' | 'corrections'>;
    /** accepted times, in epoch ms */
    times: TimeRange;
    options: ImportOptions;
  }) {
    this.#pastSamples = pastSamples;
    this.#corrections = corrections;
    this.#times = times;
    this.#options = options;
    this.#progress = { rows: options.skip, samples: 0, merged: 0, refused: 0 };
    this.#gathered = { ...this.#progress };
    this.#style = { decimal: options.decimal ?? 'point', thousands: options.thousands ?? 'none' };
    this.#readValue = valueReader(this.#style);
    this.#zone = options.zone === undefined ? null : Zone.parse(options.zone);
  }

  /** Resolves when memory for more rows is free. */
  async add(rows: Rows): Promise<void> {
    for (const { line, rule } of rows.malformed) this.#refuse(line, 'malformed', rule);
    if (this.#resolved > MAX_ENTRIES) await this.#forgetNames();
    await this.#resolve(rows);
    this.#gather(rows);
    this.#gathered.rows = rows.end;
    if (this.#buffered >= MAX_BUFFERED) await this.#flush();
  }

  async #forgetNames() {
    await this.#flush();
    this.#entries.clear();
    this.#byId.clear();
    this.#resolved = 0;
  }

  /** Resolves when all samples are committed. */
  async end(): Promise<Imported> {
    await this.#flush();
    await this.#writing;
    return {
      progress: this.#progress,
      range: this.#range,
      first: this.#first,
      mergedLines: this.#mergedLines,
    };
  }

  async #resolve({ device, sensor, type, unit, site }: Rows) {
    const missing: Map<string, { site: string | null; sensors: Described }> = new Map();
    let lastDevice: unknown;
    let lastSensor: unknown;
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
      const owner = known ?? { site: this.#siteOf(site?.[index]), sensors: new Map() };
      if (!known) missing.set(copyOf(deviceRef), owner);
      if (!owner.sensors.has(sensorRef))
        owner.sensors.set(copyOf(sensorRef), describe(type?.[index], unit?.[index]));
    }
    for (const [ref, owner] of missing) await this.#resolveDevice(ref, owner);
  }

  /** Unknown devices and sensors are registered with their first sample that is stored. */
  async #resolveDevice(ref: string, { site, sensors }: { site: string | null; sensors: Described }) {
    const entries = this.#entries.get(ref) ?? new Map();
    this.#entries.set(ref, entries);
    this.#resolved += sensors.size;
    const identity = identifyDevice(ref);
    if (!identity) {
      const refusal = { code: 'bad_id' as const, rule: `the device ${brokenNameRule(ref)}` };
      for (const sensor of sensors.keys()) entries.set(sensor, refusedEntry(sensor, refusal));
      return;
    }
    const { device, known, refused } = await this.#pastSamples.look(identity, [...sensors.keys()]);
    const owner = { identity, site, device };
    for (const [sensor, code] of refused) entries.set(sensor, refusedEntry(sensor, refusalOf(code, sensor)));
    for (const [name, sensor] of known) {
      const key = `${identity.id}/${sensor?.id ?? identifySensor(identity.id, name)?.id}`;
      const described = sensors.get(name) ?? {};
      const entry = this.#byId.get(key) ?? {
        refusal: null,
        owner,
        ref: name,
        sensor,
        described,
        samples: null,
      };
      this.#byId.set(key, entry);
      entries.set(name, entry);
    }
  }

  #gather(rows: Rows) {
    const { lines, device, sensor, ts, value } = rows;
    let lastDevice: unknown;
    let lastSensor: unknown;
    let entry = undefined as Entry | undefined;
    for (let index = 0; index < device.length; index++) {
      if (!entry || device[index] !== lastDevice || sensor[index] !== lastSensor) {
        lastDevice = device[index];
        lastSensor = sensor[index];
        entry = this.#entryOf(lastDevice, lastSensor);
      }
      const line = lines[index] as number;
      const sample = this.#check(line, entry, rows, index, ts[index], value[index]);
      if (sample === null) continue;
      if (this.#first.length < DRY_RUN_SAMPLES) this.#first.push(this.#shown(rows, index, sample));
      if (entry.samples === null) {
        entry.samples = new SampleSeries();
        this.#filled.add(entry);
      }
      entry.samples.add(sample.time, sample.number, line);
      this.#buffered++;
    }
  }

  #shown(
    { lines, device, sensor, type, unit, site }: Rows,
    index: number,
    { time, number }: { time: number; number: number },
  ): StoredRow {
    return {
      line: Number(lines[index]),
      device: String(device[index]),
      sensor: String(sensor[index]),
      ts: formatTime(time),
      local: this.#zone?.format(time) ?? null,
      value: number,
      type: nameOf(type?.[index]),
      unit: nameOf(unit?.[index]),
      site: this.#siteOf(site?.[index]),
    };
  }

  #siteOf = (cell: unknown) => nameOf(cell) ?? this.#options.site ?? null;

  #entryOf(device: unknown, sensor: unknown): Entry {
    const [deviceRef, sensorRef] = [textOf(device), textOf(sensor)];
    if (deviceRef !== null && sensorRef !== null)
      return this.#entries.get(deviceRef)?.get(sensorRef) as Entry;
    const rule = `the ${deviceRef === null ? 'device' : 'sensor'} must be a text`;
    return refusedEntry('', { code: 'bad_id', rule });
  }

  /** Null: the sample is refused. `index`: in `rows`. */
  #check(
    line: number,
    { refusal }: Entry,
    rows: Rows,
    index: number,
    ts: unknown,
    value: unknown,
  ): { time: number; number: number } | null {
    if (refusal) return this.#refuse(line, refusal.code, refusal.rule);
    const time = ts instanceof BadTime ? null : (readTime(ts) ?? parseFileTime(ts, 'iso')?.ms ?? null);
    if (time === null) return this.#refuseTime(line, rows, ts);
    const wrong = timeRefusal(time, this.#times);
    if (wrong) return this.#refuse(line, wrong.code, about(rows.columns?.ts, ts, wrong.rule + unitHint(ts)));
    // Outside CSV a text is a number only if the options describe how numbers are written.
    const isQuoted = typeof value === 'string' && !rows.isText && this.#options.decimal === undefined;
    const number = isQuoted ? null : this.#readValue(value);
    if (number !== null && !Number.isNaN(number)) return { time, number };
    const column = rows.columns?.value ?? (rows.columns && String(rows.sensor[index]));
    if (number === null)
      return this.#refuse(
        line,
        'not_numeric',
        about(column, value, isQuoted ? NUMBER_AS_TEXT : numberRule(value, this.#style)),
      );
    return this.#refuse(line, 'not_finite', about(column, value, ruleOf('not_finite')));
  }

  #refuseTime(line: number, { columns }: Rows, ts: unknown) {
    const raw = ts instanceof BadTime ? ts.raw : ts;
    const format = this.#options.time_format ?? 'iso';
    const rule = (ts instanceof BadTime ? ts.rule : null) ?? timeRule(raw, format);
    return this.#refuse(line, 'bad_timestamp', about(columns?.ts, raw, rule));
  }

  #refuse(line: number, code: ErrorCode, rule: string = ruleOf(code)): null {
    this.#gathered.refused++;
    this.#options.onRefused({ line, code, rule });
    return null;
  }

  /** The next rows are collected during the write. Resolves when the previous write is committed. */
  async #flush(): Promise<void> {
    await this.#writing;
    if (!this.#options.dryRun) await this.#register();
    const devices: Map<
      Owner,
      Array<{
        known: Sensor;
        sensor: SensorBytes;
        times: Float64Array | number[];
        values: Float64Array | number[];
      }>
    > = new Map();
    for (const entry of this.#filled) {
      const { owner, sensor, samples } = entry as { owner: Owner; sensor: Sensor; samples: SampleSeries };
      const { times, values } = await sortInTurns(samples);
      this.#gathered.samples += times.length;
      this.#noteMerged(samples, times.length);
      this.#widenRange(Number(times[0]), Number(times[times.length - 1]));
      entry.samples = null;
      if (this.#options.dryRun) continue;
      const series = { known: sensor, sensor: sensor.bytes, times, values };
      const list = devices.get(owner);
      if (list) list.push(series);
      else devices.set(owner, [series]);
    }
    this.#filled.clear();
    this.#buffered = 0;
    const reached = { ...this.#gathered };
    this.#writing = this.#write(devices, reached);
    // A failure is reported when `#writing` is awaited. It must not be an unhandled rejection until then.
    this.#writing.catch(() => {});
  }

  #widenRange(first: number, last: number) {
    const { oldest, newest } = this.#range ?? { oldest: first, newest: last };
    this.#range = { oldest: Math.min(oldest, first), newest: Math.max(newest, last) };
  }

  #noteMerged(samples: SampleSeries, stored: number) {
    if (samples.length === stored) return;
    this.#gathered.merged += samples.length - stored;
    const room = MAX_MERGED_LINES - this.#mergedLines.length;
    if (room > 0) this.#mergedLines.push(...samples.mergedLines(room));
  }

  /** Refuses the samples of sensors that cannot be registered. */
  async #register() {
    const missing: Map<Owner, Entry[]> = new Map();
    for (const entry of this.#filled) {
      const { owner, sensor } = entry;
      if (!owner || (owner.device && sensor)) continue;
      const list = missing.get(owner);
      if (list) list.push(entry);
      else missing.set(owner, [entry]);
    }
    for (const [owner, entries] of missing) {
      const { identity, site } = owner;
      const described = new Map(entries.map((entry) => [entry.ref, entry.described]));
      const options = site === null ? {} : { site };
      const { device, known, refused } = await this.#pastSamples.register(identity, described, options);
      owner.device = device;
      for (const entry of entries) {
        entry.sensor = known.get(entry.ref) ?? null;
        if (entry.sensor === null) this.#refuseEntry(entry, refused.get(entry.ref) ?? 'unknown_sensor');
      }
    }
  }

  #refuseEntry(entry: Entry, code: ErrorCode) {
    const refusal = refusalOf(code, entry.ref);
    for (const line of entry.samples?.lines ?? []) this.#refuse(line, refusal.code, refusal.rule);
    this.#filled.delete(entry);
    Object.assign(entry, { refusal, samples: null });
  }

  #writeDevice(device: Device, series: Parameters<PastSamples['write']>[1]): Promise<void> {
    const { replacing } = this.#options;
    if (!replacing) return this.#pastSamples.write(device, series);
    const replaced = series.map(({ known, times, values }) => ({
      sensor: known,
      samples: { times, values },
    }));
    return this.#corrections.replace(device, replaced, replacing);
  }

  async #write(devices: Map<Owner, Parameters<PastSamples['write']>[1]>, reached: Progress) {
    for (const [{ device }, series] of devices) await this.#writeDevice(device as Device, series);
    this.#progress = reached;
    this.#options.onProgress(reached);
  }
}

const refusalOf = (code: ErrorCode, sensor: string) => ({
  code,
  rule: code === 'bad_id' ? `the sensor ${brokenNameRule(sensor)}` : ruleOf(code),
});

/** Adds the name of the column and the text of the cell to the rule. */
function about(column: string | undefined, cell: unknown, rule: string): string {
  if (column === undefined) return rule;
  const text = printable(typeof cell === 'object' ? JSON.stringify(cell) : String(cell ?? ''));
  const shown = text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text;
  return `column \`${printable(column)}\`: \`${shown}\` ${rule}`;
}

/** Null: the cell cannot be a name. */
function textOf(cell: unknown): string | null {
  if (typeof cell === 'string') return cell;
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return Number.isFinite(cell) ? String(cell) : null;
  return typeof cell === 'bigint' || typeof cell === 'boolean' ? String(cell) : null;
}

/** Null: the cell is no valid type or unit. */
function nameOf(cell: unknown): string | null {
  const text = textOf(cell);
  return isName(text) ? copyOf(text) : null;
}

/**
 * A cell of CSV is a slice of the 64 KiB that were read at once. V8 would keep the 64 KiB in memory as long as the slice. The text may have
 * lone surrogates, which UTF-8 would change.
 */
const copyOf = (text: string) => Buffer.from(text, 'utf16le').toString('utf16le');

function describe(type: unknown, unit: unknown) {
  const [typeName, unitName] = [nameOf(type), nameOf(unit)];
  return { ...(typeName !== null && { type: typeName }), ...(unitName !== null && { unit: unitName }) };
}

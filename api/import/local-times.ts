import { parseFileTime } from './time-formats.js';
import { offsetText } from './zones.js';

/** @import { Rows } from './rows.js' */
/** @import { TimeFormat } from './time-formats.js' */
/** @import { Zone } from './zones.js' */

/** Limit of samples that wait for the row that shows which pass of an hour they belong to. */
const MAX_HELD = 500_000;

/** Limit of series whose last local time is in memory. */
const MAX_SERIES = 500_000;

/** A time that cannot be stored. It stands in the column of times instead of a time. */
export class BadTime {
  /** @param {unknown} raw the cell @param {string | null} rule null: the cell is not a time */
  constructor(raw, rule = null) {
    this.raw = raw;
    this.rule = rule;
  }
}

/** A local time that comes twice. `cells`: its samples. @typedef {{ line: number, raw: unknown, local: number, candidates: number[], cells: Array<{ times: unknown[], index: number }> }} TwiceRow */

/** Rows of one series within an hour that comes twice. @typedef {{ before: number | undefined, rows: TwiceRow[], turns: number }} Run */

/**
 * Converts the times of rows to epoch ms. In an hour that comes twice, the order of the rows decides: in the rising rows of a series, the
 * first pass ends where the clock does not rise. So rows wait until the series leaves the hour.
 */
export class LocalTimes {
  #format;
  #zone;
  /** Last local time of each series. @type {Map<string, number>} */
  #last = new Map();
  /** @type {Map<string, Run>} */
  #runs = new Map();
  /** @type {Rows[]} */
  #held = [];

  /** @param {{ format: TimeFormat, zone: Zone }} options */
  constructor({ format, zone }) {
    this.#format = format;
    this.#zone = zone;
  }

  /** @param {AsyncIterable<Rows>} source @returns {AsyncGenerator<Rows, void>} the same rows, whose times are epoch ms or `BadTime` */
  async *convert(source) {
    let samples = 0;
    for await (const rows of source) {
      this.#held.push(this.#converted(rows));
      samples += rows.device.length;
      if (samples > MAX_HELD) this.#endRuns();
      if (this.#runs.size > 0) continue;
      yield* this.#held.splice(0);
      samples = 0;
    }
    this.#endRuns();
    yield* this.#held.splice(0);
  }

  /** @param {Rows} rows @returns {Rows} */
  #converted(rows) {
    const times = new Array(rows.device.length);
    /** @type {unknown} */
    let lastRaw;
    let lastTime = /** @type {number | BadTime | null} */ (null);
    for (let index = 0; index < times.length; index++) {
      const raw = rows.ts[index];
      if (this.#zone.isFixed && lastTime !== null && raw === lastRaw) {
        times[index] = lastTime;
        continue;
      }
      lastRaw = raw;
      lastTime = this.#timeOf(raw, rows, times, index);
      times[index] = lastTime;
    }
    return { ...rows, ts: times };
  }

  /** @param {unknown} raw @param {Rows} rows @param {unknown[]} times @param {number} index @returns {number | BadTime | null} null: known later */
  #timeOf(raw, rows, times, index) {
    const parsed = parseFileTime(raw, this.#format);
    if (parsed === null) return new BadTime(raw);
    if (!parsed.local) return parsed.ms;
    const local = parsed.ms;
    const candidates = this.#zone.candidates(local);
    if (candidates.length === 0) return new BadTime(raw, this.#gapRule(local));
    if (this.#zone.isFixed) return candidates[0] ?? null;
    const key = rows.isWide
      ? String(rows.device[index])
      : JSON.stringify([rows.device[index], rows.sensor[index]].map(String));
    const run = this.#runs.get(key);
    if (candidates.length === 1) {
      if (run) this.#endRun(key, run, local);
      this.#note(key, local);
      return candidates[0] ?? null;
    }
    const cell = { times, index };
    const line = Number(rows.lines[index]);
    if (run) addToRun(run, { line, raw, local, candidates, cells: [cell] });
    else {
      const before = this.#last.get(key);
      this.#runs.set(key, { before, rows: [{ line, raw, local, candidates, cells: [cell] }], turns: 0 });
    }
    this.#note(key, local);
    return null;
  }

  /** @param {string} key @param {number} local */
  #note(key, local) {
    if (this.#last.size >= MAX_SERIES) this.#last.clear();
    this.#last.set(key, local);
  }

  #endRuns() {
    for (const [key, run] of this.#runs) this.#endRun(key, run);
  }

  /** @param {string} key @param {Run} run @param {number} [next] local time of the next row of the series */
  #endRun(key, run, next = Number.POSITIVE_INFINITY) {
    this.#runs.delete(key);
    const { before = Number.NEGATIVE_INFINITY, rows, turns } = run;
    const [first, last] = [Number(rows[0]?.local), Number(rows.at(-1)?.local)];
    const isKnown = turns === 1 && before < first && next > last;
    let pass = 0;
    let previous = Number.NEGATIVE_INFINITY;
    for (const row of rows) {
      const { raw, local, candidates, cells } = row;
      if (local <= previous) pass = 1;
      previous = local;
      const time = isKnown ? candidates[pass] : new BadTime(raw, this.#twiceRule(row));
      for (const { times, index } of cells) times[index] = time;
    }
  }

  /** @param {TwiceRow} row */
  #twiceRule({ local, candidates }) {
    const offsets = candidates.map((time) => offsetText(local - time));
    return (
      `comes twice in ${this.#zone.name}, and the order of the rows does not show which one it is. ` +
      `Write the time with its offset (${offsets.join(' or ')}), or use \`zone=${offsets.at(-1)}\` for a clock that never changes`
    );
  }

  /** @param {number} local */
  #gapRule(local) {
    return (
      `does not exist in ${this.#zone.name}, where clocks skip it. ` +
      `Use \`zone=${offsetText(this.#zone.winterOffset(local))}\` for a clock that never changes`
    );
  }
}

/** @param {Run} run @param {TwiceRow} row */
function addToRun(run, row) {
  const last = run.rows.at(-1);
  // All samples of a line have one time.
  if (last?.line === row.line) return void last.cells.push(...row.cells);
  if (last && row.local <= last.local) run.turns++;
  run.rows.push(row);
}

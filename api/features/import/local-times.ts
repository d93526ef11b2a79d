import type { Rows } from './rows.ts';
import { parseFileTime, type TimeFormat } from './time-formats.ts';
import { offsetText, type Zone } from './zones.ts';

/** Samples that wait for the row that shows which pass of an hour they belong to. */
const MAX_HELD = 500_000;

const MAX_SERIES = 500_000;

/** Stands in the column of times instead of a time that cannot be stored. */
export class BadTime {
  declare raw: unknown;
  declare rule: string | null;

  /** `rule` is null if the cell is not a time. */
  constructor(raw: unknown, rule: string | null = null) {
    this.raw = raw;
    this.rule = rule;
  }
}

/** A local time that comes twice, with its samples. */
type TwiceRow = {
  line: number;
  raw: unknown;
  local: number;
  candidates: number[];
  cells: Array<{ times: unknown[]; index: number }>;
};

/** Rows of one series within an hour that comes twice. */
type Run = { before: number | undefined; rows: TwiceRow[]; turns: number };

/**
 * In an hour that comes twice, the order of the rows decides: in the rising rows of a series, the first pass ends where the clock does not
 * rise. So rows wait until the series leaves the hour.
 */
export class LocalTimes {
  #format;
  #zone;
  #last: Map<string, number> = new Map();
  #runs: Map<string, Run> = new Map();
  #held: Rows[] = [];

  constructor({ format, zone }: { format: TimeFormat; zone: Zone }) {
    this.#format = format;
    this.#zone = zone;
  }

  /** Replaces the times by epoch ms or `BadTime`. */
  async *convert(source: AsyncIterable<Rows>): AsyncGenerator<Rows, void> {
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

  #converted(rows: Rows): Rows {
    const times = new Array(rows.device.length);
    let lastRaw: unknown;
    let lastTime = null as number | BadTime | null;
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

  /** Null: the time is not known before later rows are read. */
  #timeOf(raw: unknown, rows: Rows, times: unknown[], index: number): number | BadTime | null {
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

  #note(key: string, local: number) {
    if (this.#last.size >= MAX_SERIES) this.#last.clear();
    this.#last.set(key, local);
  }

  #endRuns() {
    for (const [key, run] of this.#runs) this.#endRun(key, run);
  }

  /** `next`: local time of the next row of the series. */
  #endRun(key: string, run: Run, next: number = Number.POSITIVE_INFINITY) {
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

  #twiceRule({ local, candidates }: TwiceRow) {
    const offsets = candidates.map((time) => offsetText(local - time));
    return (
      `comes twice in ${this.#zone.name}, and the order of the rows does not show which one it is. ` +
      `Write the time with its offset (${offsets.join(' or ')}), or use \`zone=${offsets.at(-1)}\` for a clock that never changes`
    );
  }

  #gapRule(local: number) {
    return (
      `does not exist in ${this.#zone.name}, where clocks skip it. ` +
      `Use \`zone=${offsetText(this.#zone.winterOffset(local))}\` for a clock that never changes`
    );
  }
}

function addToRun(run: Run, row: TwiceRow) {
  const last = run.rows.at(-1);
  // All samples of a line have one time.
  if (last?.line === row.line) return void last.cells.push(...row.cells);
  if (last && row.local <= last.local) run.turns++;
  run.rows.push(row);
}

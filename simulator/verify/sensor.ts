import { greaterValue, type Numbers, type Series } from '../../schema/packed/series.ts';
import type { Bitmap, Sent } from './ledger-parts.ts';
import type { Findings, Kind } from './report.ts';

export class SensorComparison {
  #device;
  #sensor;
  #sent;
  #acknowledged;
  #range;
  #findings;
  #expected;
  counts = { acknowledged: 0, stored: 0 };
  /** newest stored sample, in the range or not */
  #newest: { ts: number; value: number } | null = null;
  #next = 0;

  constructor({
    device,
    sensor,
    sent,
    acknowledged,
    range,
    findings,
  }: {
    device: string;
    sensor: string;
    sent: Sent;
    acknowledged: Bitmap;
    /** epoch ms; samples outside the range are not compared */
    range: { from: number; to: number };
    findings: Findings;
  }) {
    this.#device = device;
    this.#sensor = sensor;
    this.#sent = sent;
    this.#acknowledged = acknowledged;
    this.#range = range;
    this.#findings = findings;
    this.#expected = groupByInstant(sent.times);
    while (this.#next < this.#expected.times.length && at(this.#expected.times, this.#next) < range.from)
      this.#next += 1;
  }

  addHour(end: number, rows: Series[]) {
    const values = rows.flatMap((row) => [...row.values]);
    const stored = groupByInstant(rows.flatMap((row) => [...row.times]));
    for (const [place, ts] of stored.times.entries()) {
      const found = stored.samplesAt(place).map((index) => at(values, index));
      this.#newest = { ts, value: found.reduce(greaterValue) };
      if (ts < this.#range.from || ts >= this.#range.to) continue;
      this.#missingBefore(ts);
      this.counts.stored += 1;
      if (this.#expected.times[this.#next] === ts) this.#compareInstant(this.#next++, found);
      else this.#report('unknown', ts, `${found.map(shown)} is stored and was never sent`);
    }
    this.#missingBefore(Math.min(end, this.#range.to));
  }

  newest() {
    return this.#newest;
  }

  #report(kind: Kind, ts: number, message: string) {
    return this.#findings.add(kind, { device: this.#device, sensor: this.#sensor, ts, message });
  }

  /** @param instant index in `expected.times` */
  #wasSent(instant: number) {
    const samples = this.#expected.samplesAt(instant);
    const values = samples.map((index) => at(this.#sent.values, index));
    const kept = samples.filter((index) => this.#acknowledged.has(at(this.#sent.messages, index)));
    return { values, acknowledged: kept.map((index) => at(this.#sent.values, index)) };
  }

  /** @param instant index in `expected.times` @param stored null: nothing is stored */
  #compareInstant(instant: number, stored: number[] | null) {
    const ts = at(this.#expected.times, instant);
    const known = this.#wasSent(instant);
    if (known.acknowledged.length > 0) this.counts.acknowledged += 1;
    if (stored === null) {
      if (known.acknowledged.length > 0)
        this.#report('missing', ts, `${known.acknowledged.map(shown)} is not stored`);
      return;
    }
    const strange = stored.filter((value) => !known.values.some((sentValue) => Object.is(sentValue, value)));
    const wins = stored.reduce(greaterValue);
    const beaten = known.acknowledged.some((value) => !Object.is(greaterValue(value, wins), wins));
    if (strange.length > 0 || beaten) {
      this.#report('differing', ts, `${known.values.map(shown)} was sent, ${stored.map(shown)} is stored`);
    }
  }

  /** Samples that were acknowledged before `ts` and are missing. */
  #missingBefore(ts: number) {
    for (
      ;
      this.#next < this.#expected.times.length && at(this.#expected.times, this.#next) < ts;
      this.#next += 1
    )
      this.#compareInstant(this.#next, null);
  }
}

const at = (numbers: number[], index: number) => numbers[index] as number;

export const shown = (value: number) => (Object.is(value, -0) ? '-0' : String(value));

/** Samples by their timestamp, in order of time. */
interface Instants {
  /** strictly ascending */
  times: number[];
  /** indexes of the samples that have the timestamp `times[at]` */
  samplesAt: (at: number) => number[];
}

function groupByInstant(times: Numbers): Instants {
  const order = Array.from(times, (_, index) => index);
  order.sort((a, b) => (times[a] as number) - (times[b] as number));
  /** index in `order` where each timestamp begins */
  const begins: number[] = [];
  const instants: number[] = [];
  for (let i = 0; i < order.length; i++) {
    const ts = times[order[i] as number] as number;
    if (ts === instants.at(-1)) continue;
    instants.push(ts);
    begins.push(i);
  }
  return {
    times: instants,
    samplesAt: (at) => order.slice(begins[at], begins[at + 1] ?? order.length),
  };
}

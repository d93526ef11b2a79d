import type { OutgoingMessage } from '../outgoing-message.ts';
import type { Sample, Series } from '../payloads/index.ts';
import { encodePlainJson } from '../payloads/plain-json.ts';
import type { Random } from '../random.ts';
import type { DeviceEpisodes } from './episodes.ts';
import type { FaultRates } from './rates.ts';

/** In ms. The API allows a clock to be five minutes ahead, so it accepts these samples. */
const SKEW_MS = { least: 1000, most: 240_000 };

/** A late batch is sent after so many newer batches. */
const LATE_BY = { least: 1, most: 3 };

/** The same random numbers and batches give the same faults. */
export class DeviceFaults {
  #rates;
  #random;
  #encode;
  #episodes;
  #skewMs;
  #late: { series: Series[]; newer: number }[] = [];
  /** for the next batch, by sensor name */
  #leftOver: Map<string, Sample[]> = new Map();

  constructor({
    rates,
    random,
    encode,
    episodes = null,
  }: {
    rates: FaultRates;
    random: Random;
    encode: (series: Series[]) => string;
    episodes?: DeviceEpisodes | null;
  }) {
    this.#rates = rates;
    this.#random = random;
    this.#encode = encode;
    this.#episodes = episodes;
    this.#skewMs = this.#happens('skew') ? skewOf(random) : 0;
  }

  next(measured: Series[]): OutgoingMessage[] {
    let batch = this.#takeLeftOver(
      this.#happens('gap')
        ? measured.map(withoutSamples)
        : measured.map((series) => this.#spoilSamples(series)),
    );
    if (this.#happens('disorder')) batch = this.#disorder(batch);
    if (this.#happens('late')) {
      const newer = Math.floor(this.#random.between(LATE_BY.least, LATE_BY.most + 1));
      this.#late.push({ series: batch, newer: newer + 1 });
      batch = [];
    }
    return [batch, ...this.#comeLate(1)].flatMap((series) => this.#messagesOf(series));
  }

  /** @returns all messages that the faults held back */
  rest(): OutgoingMessage[] {
    this.#episodes?.end();
    const names = [...this.#leftOver.keys()].map((name) => ({ name, samples: [] }));
    return [this.#takeLeftOver(names), ...this.#comeLate(Number.POSITIVE_INFINITY)].flatMap((series) =>
      this.#messagesOf(series),
    );
  }

  #happens(fault: keyof FaultRates) {
    return this.#random.uniform() < this.#rates[fault];
  }

  #spoilSamples(series: Series): Series {
    const samples = series.samples
      .map((sample) => ({ ...sample, high: this.#episodes?.next(series.name) ?? null }))
      .filter(({ high }) => high !== null || !this.#happens('missing'))
      .map(({ ts, value, high }) => ({
        ts: ts + this.#skewMs,
        value: high ?? (this.#happens('zero') ? 0 : value),
      }));
    for (const sample of samples) this.#episodes?.note(series.name, sample);
    return { ...series, samples };
  }

  #takeLeftOver(batch: Series[]): Series[] {
    const before = this.#leftOver;
    this.#leftOver = new Map();
    return batch.map((series) => ({
      ...series,
      samples: [...series.samples, ...(before.get(series.name) ?? [])],
    }));
  }

  #disorder(batch: Series[]): Series[] {
    return batch.map((series) => {
      const shuffled = this.#random.shuffled(series.samples);
      const kept = Math.ceil(shuffled.length / 2);
      this.#leftOver.set(series.name, shuffled.slice(kept));
      return { ...series, samples: shuffled.slice(0, kept) };
    });
  }

  #messagesOf(series: Series[]): OutgoingMessage[] {
    const [first] = series.filter(({ samples }) => samples.length > 0);
    const ts = first?.samples[0]?.ts;
    if (!first || ts === undefined) return [];
    const poison = this.#happens('poison') ? Math.floor(this.#random.uniform() * (POISON.length + 1)) : null;
    const bad = poison === null ? undefined : POISON[poison];
    const payload = poison !== null && !bad ? spoiled(series, first.name, ts) : this.#encode(series);
    const messages = [{ series, payload }];
    if (this.#happens('duplicate')) messages.push({ series, payload });
    return bad ? [...messages, { series: [], payload: bad.make(first.name, ts) }] : messages;
  }

  /** @param passed newer batches since the previous call @returns late batches to send now */
  #comeLate(passed: number): Series[][] {
    const due = this.#late.filter((held) => held.newer <= passed);
    this.#late = this.#late
      .filter((held) => held.newer > passed)
      .map(({ series, newer }) => ({ series, newer: newer - passed }));
    return due.map(({ series }) => series);
  }
}

const withoutSamples = (series: Series): Series => ({ ...series, samples: [] });

/** In ms; negative: the clock is behind. */
const skewOf = (random: Random): number =>
  Math.round(random.between(SKEW_MS.least, SKEW_MS.most)) * (random.uniform() < 0.5 ? -1 : 1);

const YEAR_MS = 365 * 86_400_000;

/** One sample more than the API accepts in a message. */
const TOO_MANY = 10_001;

/** @param value as JSON */
const record = (name: string, ts: number, value: string) =>
  `{"sensor_id":${JSON.stringify(name)},"ts":${ts},"value":${value}}`;

/**
 * Messages of which the API can store nothing. `code` is the error code of the dead letter. The messages name an existing sensor and a
 * valid time, so the comparison finds a sample that is stored by mistake.
 */
export const POISON: ReadonlyArray<{ code: string; make: (name: string, ts: number) => string | Buffer }> = [
  { code: 'malformed', make: (name, ts) => `[${record(name, ts, '1')}`.slice(0, -2) },
  { code: 'not_finite', make: (name, ts) => `[${record(name, ts, 'NaN')}]` },
  { code: 'malformed', make: () => '' },
  { code: 'malformed', make: (name) => `<measurement sensor="${name}"/>` },
  { code: 'unknown_format', make: () => Buffer.from([0xc1, 0xff, 0xfe, 0x00, 0x80]) },
  { code: 'not_finite', make: (name, ts) => `[${record(name, ts, '1e999')}]` },
  { code: 'not_numeric', make: (name, ts) => `[${record(name, ts, '"38.6"')}]` },
  { code: 'not_numeric', make: (name, ts) => `[${record(name, ts, '{"celsius":38.6}')}]` },
  { code: 'bad_id', make: (_, ts) => `[${record('x'.repeat(129), ts, '1')}]` },
  { code: 'bad_id', make: (name, ts) => `[${record(`${name}\u0000`, ts, '1')}]` },
  { code: 'bad_timestamp', make: (name) => `[{"sensor_id":"${name}","ts":"yesterday","value":1}]` },
  { code: 'in_future', make: (name, ts) => `[${record(name, ts + YEAR_MS, '1')}]` },
  { code: 'too_old', make: (name, ts) => `[${record(name, ts - 50 * YEAR_MS, '1')}]` },
  {
    code: 'too_large',
    make: (name, ts) => `[${Array.from({ length: TOO_MANY }, () => record(name, ts, '1')).join(',')}]`,
  },
];

/** Adds a measurement that cannot be stored. All other measurements of the batch must be stored. @param series with at least one sample */
export const spoiled = (series: Series[], name: string, ts: number) =>
  `${encodePlainJson(series).slice(0, -1)},${record(name, ts, '"broken"')}]`;

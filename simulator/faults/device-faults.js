import { POISON, spoiled } from './poison.js';

/** @import { Parcel } from '../parcel.js' */
/** @import { Sample, Series } from '../payloads/index.js' */
/** @import { Random } from '../random.js' */
/** @import { FaultRates } from './rates.js' */

/** How wrong a clock may go: within the five minutes that the API allows a clock to be ahead. */
const SKEW_MS = { least: 1000, most: 240_000 };

/** A late batch comes after so many newer ones. */
const LATE_BY = { least: 1, most: 3 };

/**
 * What goes wrong with the batches of one device. The same random numbers and batches give the same faults.
 *
 * @param {object} options
 * @param {FaultRates} options.rates
 * @param {Random} options.random of this device alone
 * @param {(series: Series[]) => string} options.encode
 */
export function createDeviceFaults({ rates, random, encode }) {
  const happens = (/** @type {keyof typeof rates} */ fault) => random.uniform() < rates[fault];
  const skewMs = happens('skew') ? skewOf(random) : 0;
  /** @type {{ series: Series[], newer: number }[]} */
  let late = [];
  /** @type {Map<string, Sample[]>} by sensor */
  let leftOver = new Map();

  /** @param {Series} series @returns {Series} as the device means to send it */
  const spoilSamples = (series) => ({
    ...series,
    samples: series.samples
      .filter(() => !happens('missing'))
      .map(({ ts, value }) => ({ ts: ts + skewMs, value: happens('zero') ? 0 : value })),
  });

  /** @param {Series[]} batch @returns {Series[]} with what was left over before, after what is newer */
  function takeLeftOver(batch) {
    const before = leftOver;
    leftOver = new Map();
    return batch.map((series) => ({
      ...series,
      samples: [...series.samples, ...(before.get(series.name) ?? [])],
    }));
  }

  /** @param {Series[]} batch @returns {Series[]} */
  const disorder = (batch) =>
    batch.map((series) => {
      const shuffled = random.shuffled(series.samples);
      const kept = Math.ceil(shuffled.length / 2);
      leftOver.set(series.name, shuffled.slice(kept));
      return { ...series, samples: shuffled.slice(0, kept) };
    });

  /** @param {Series[]} series @returns {Parcel[]} what goes out for one batch */
  function parcelsOf(series) {
    const [first] = series.filter(({ samples }) => samples.length > 0);
    const ts = first?.samples[0]?.ts;
    if (!first || ts === undefined) return [];
    const poison = happens('poison') ? Math.floor(random.uniform() * (POISON.length + 1)) : null;
    const bad = poison === null ? undefined : POISON[poison];
    const payload = poison !== null && !bad ? spoiled(series, first.name, ts) : encode(series);
    const parcels = [{ series, payload }];
    if (happens('duplicate')) parcels.push({ series, payload });
    return bad ? [...parcels, { series: [], payload: bad.make(first.name, ts) }] : parcels;
  }

  /** @param {number} passed newer batches @returns {Series[][]} */
  function comeLate(passed) {
    const due = late.filter((held) => held.newer <= passed);
    late = late
      .filter((held) => held.newer > passed)
      .map(({ series, newer }) => ({ series, newer: newer - passed }));
    return due.map(({ series }) => series);
  }

  return {
    /** @param {Series[]} measured a batch @returns {Parcel[]} what is to be sent now */
    next(measured) {
      let batch = takeLeftOver(happens('gap') ? measured.map(withoutSamples) : measured.map(spoilSamples));
      if (happens('disorder')) batch = disorder(batch);
      if (happens('late')) {
        const newer = Math.floor(random.between(LATE_BY.least, LATE_BY.most + 1));
        late.push({ series: batch, newer: newer + 1 });
        batch = [];
      }
      return [batch, ...comeLate(1)].flatMap(parcelsOf);
    },

    /** @returns {Parcel[]} what is still held back */
    rest() {
      const names = [...leftOver.keys()].map((name) => ({ name, samples: [] }));
      return [takeLeftOver(names), ...comeLate(Number.POSITIVE_INFINITY)].flatMap(parcelsOf);
    },
  };
}

/** @typedef {ReturnType<typeof createDeviceFaults>} DeviceFaults */

/** @param {Series} series @returns {Series} */
const withoutSamples = (series) => ({ ...series, samples: [] });

/** @param {Random} random @returns {number} ms, ahead or behind */
const skewOf = (random) =>
  Math.round(random.between(SKEW_MS.least, SKEW_MS.most)) * (random.uniform() < 0.5 ? -1 : 1);

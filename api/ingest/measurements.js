import { MillraceError } from '../../common/errors.js';
import { sortMerge } from '../../schema/packed/series.js';
import { createBasket } from './basket.js';
import { decode } from './formats/index.js';

/** @typedef {import('./basket.js').Basket} Basket */
/** @typedef {import('./registry/cache.js').Device} Device */
/** @typedef {import('./registry/cache.js').Sensor} Sensor */

/** @typedef {import('./sample-writer.js').Series} Series */

/**
 * @typedef {object} Outcome
 * @property {number} accepted samples that are committed
 * @property {import('../store/dead-letters.js').Refusals} refused
 */

/**
 * The way of one message of measurements: decoded, validated one by one, its sensors known, laid out as rows,
 * committed; `latest` and `last_seen` beside them, never after them in turn.
 *
 * @param {object} parts
 * @param {import('./sample-writer.js').SampleWriter} parts.samples
 * @param {import('./registry/index.js').Registry} parts.registry
 * @param {import('./latest-writer.js').LatestWriter} parts.latest
 * @param {import('./last-seen.js').LastSeen} parts.lastSeen
 * @param {{ historyMs: number, maxClockSkewMs: number, relativeTimes: boolean }} parts.limits
 * @param {(device: Device, changed: Sensor[]) => void} parts.publish told of committed newer values
 * @param {import('../metrics.js').Metrics} parts.metrics
 */
export function createMeasurementsWay(parts) {
  const { samples, registry, latest, lastSeen, limits, publish, metrics } = parts;

  /** @param {Device} device @param {Basket} basket @returns {Promise<Series[]>} */
  async function identify(device, basket) {
    const { known, refused } = await registry.sensors(device, basket.sensors.keys());
    for (const [ref, code] of refused) basket.refuseSensor(ref, code);
    const series = [];
    for (const [ref, { times, values }] of basket.sensors) {
      const sensor = /** @type {Sensor} */ (known.get(ref));
      const merged = sortMerge(times, values);
      if (merged.conflicts > 0) metrics.conflicts.inc(merged.conflicts);
      series.push({ ref, known: sensor, sensor: sensor.bytes, times: merged.times, values: merged.values });
    }
    return series;
  }

  /** @param {Device} device @param {Series[]} series */
  async function commitLatest(device, series) {
    const news = await Promise.all(
      series.map(({ known, times, values }) => {
        const at = times.length - 1;
        return latest.write(
          device,
          known,
          /** @type {number} */ (times[at]),
          /** @type {number} */ (values[at]),
        );
      }),
    );
    return series.filter((_, index) => news[index]).map(({ known }) => known);
  }

  return {
    /**
     * @param {Buffer} payload
     * @param {string | undefined} contentType
     * @param {number} receivedAt epoch ms
     * @returns {Basket} what is good of it; a message that is bad as a whole has one refusal, of index -1
     */
    read(payload, contentType, receivedAt) {
      const rules = {
        receivedAt,
        oldest: receivedAt - limits.historyMs,
        newest: receivedAt + limits.maxClockSkewMs,
        relative: limits.relativeTimes,
      };
      const basket = createBasket(rules);
      try {
        decode(payload, contentType, basket);
        return basket;
      } catch (error) {
        if (!(error instanceof MillraceError)) throw error;
        const nothing = createBasket(rules);
        nothing.refuse(-1, error.code);
        return nothing;
      }
    },

    /**
     * @param {Device} device
     * @param {Basket} basket
     * @param {number | null} seenAt epoch ms of the receipt; null where it says nothing of now (a retained replay)
     * @returns {Promise<Outcome>} settles when all that is good is committed
     */
    async store(device, basket, seenAt) {
      const series = await identify(device, basket);
      const [changed] = await Promise.all([
        commitLatest(device, series),
        samples.write(device, series, (ref, ts) => refuseInstant(basket, ref, ts)),
        seenAt === null ? undefined : lastSeen.note(device, seenAt),
      ]);
      if (changed.length > 0) publish(device, changed);
      const accepted = basket.counts.samples;
      metrics.samples.inc(accepted);
      metrics.skipped.inc(basket.counts.skipped);
      metrics.relative.inc(basket.counts.relative);
      return { accepted, refused: basket.refused };
    },
  };
}

/** @typedef {ReturnType<typeof createMeasurementsWay>} MeasurementsWay */

/** @param {Basket} basket @param {string} ref @param {number} ts */
function refuseInstant(basket, ref, ts) {
  const gathered = basket.sensors.get(ref);
  gathered?.times.forEach((time, at) => {
    if (time !== ts) return;
    basket.refuse(/** @type {number} */ (gathered.indexes[at]), 'rejected');
    basket.counts.samples--;
  });
}

import { MillraceError } from '../../common/errors.js';
import { sortMerge } from '../../schema/packed/series.js';
import { createBasket } from './basket.js';
import { decode } from './formats/index.js';

/** @typedef {import('./basket.js').Basket} Basket */
/** @typedef {import('./registry/cache.js').Device} Device */
/** @typedef {import('./registry/cache.js').Sensor} Sensor */

/** @typedef {import('./sample-writer.js').Series} Series */

/**
 * Measurements on their way: decoded, validated one by one, their sensors known, laid out as rows, committed; `latest`
 * and `last_seen` beside them, never after them in turn.
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
export function createMeasurements(parts) {
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

  /** @param {number} receivedAt epoch ms @param {number} [now] epoch ms */
  const newBasket = (receivedAt, now = receivedAt) =>
    createBasket({
      receivedAt,
      oldest: now - limits.historyMs,
      newest: now + limits.maxClockSkewMs,
      relative: limits.relativeTimes,
    });

  return {
    /** An empty one, for what a decoder of its own reads. */
    basket: newBasket,

    /**
     * @param {Buffer} payload
     * @param {string | undefined} contentType
     * @param {number} receivedAt epoch ms
     * @param {number} [now] epoch ms, where it was received before: how old it may be counts from then
     * @returns {Basket} what is good of it; a message that is bad as a whole has one refusal, of index -1
     */
    read(payload, contentType, receivedAt, now = receivedAt) {
      const basket = newBasket(receivedAt, now);
      try {
        decode(payload, contentType, basket);
      } catch (error) {
        if (!(error instanceof MillraceError)) throw error;
        basket.clear();
        basket.refuse(-1, error.code);
      }
      return basket;
    },

    /**
     * @param {import('../../schema/ids.js').Identity} identity
     * @param {Basket} basket
     * @param {number | null} seenAt epoch ms of the receipt; null where it says nothing of now (a retained replay)
     * @returns {Promise<boolean>} settles when all that is good is committed; false: nobody knows the device, and all
     *   of it is refused
     */
    async store(identity, basket, seenAt) {
      if (basket.sensors.size === 0) return true;
      const device = await registry.device(identity);
      if (!device) {
        for (const ref of [...basket.sensors.keys()]) basket.refuseSensor(ref, 'unknown_device');
        return false;
      }
      const series = await identify(device, basket);
      const [changed] = await Promise.all([
        latest.write(device, series.map(newestOf)),
        samples.write(device, series, (ref, ts) => refuseInstant(basket, ref, ts)),
        seenAt === null ? undefined : lastSeen.note(device, seenAt),
      ]);
      if (changed.length > 0) publish(device, changed);
      metrics.samples.inc(basket.counts.samples);
      metrics.skipped.inc(basket.counts.skipped);
      metrics.relative.inc(basket.counts.relative);
      return true;
    },
  };
}

/** @typedef {ReturnType<typeof createMeasurements>} Measurements */

/** @param {Basket} basket @param {string} ref @param {number} ts */
function refuseInstant(basket, ref, ts) {
  const gathered = basket.sensors.get(ref);
  gathered?.times.forEach((time, at) => {
    if (time !== ts) return;
    basket.refuse(/** @type {number} */ (gathered.indexes[at]), 'rejected');
    basket.counts.samples--;
  });
}

/** @param {Series} series */
const newestOf = ({ known, times, values }) => ({
  sensor: known,
  ts: /** @type {number} */ (times[times.length - 1]),
  value: /** @type {number} */ (values[values.length - 1]),
});

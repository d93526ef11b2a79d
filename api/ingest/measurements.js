import { MillraceError } from '../../common/errors.js';
import { sortMerge } from '../../schema/packed/series.js';
import { Basket } from './basket.js';
import { decode } from './formats/index.js';
import { refusalOf } from './refusals.js';

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
 * @param {import('./index.js').Publish} parts.publish
 * @param {() => number} parts.clock epoch ms
 * @param {import('../metrics.js').Metrics} parts.metrics
 */
export function createMeasurements(parts) {
  const { samples, registry, latest, lastSeen, limits, publish, clock, metrics } = parts;

  /** @param {Sensor} known @param {import('./basket.js').Gathered} gathered @returns {Series} */
  function layOut(known, gathered) {
    const { times, values, conflicts } = sortMerge(gathered.times, gathered.values);
    if (conflicts > 0) metrics.conflicts.inc(conflicts);
    return { known, sensor: known.bytes, times, values };
  }

  /** @param {Device} device @param {Basket} basket @param {string[]} refs of sensors that nobody knows here */
  async function layOutNew(device, basket, refs) {
    const { known, refused } = await registry.register(device, refs);
    for (const [ref, code] of refused) basket.refuseSensor(ref, code);
    return [...known].map(([ref, sensor]) =>
      layOut(sensor, /** @type {import('./basket.js').Gathered} */ (basket.sensors.get(ref))),
    );
  }

  /**
   * Sensors that are known are found at once: what registers one may take its time.
   *
   * @param {Device} device
   * @param {Basket} basket
   * @returns {Series[] | Promise<Series[]>}
   */
  function identify(device, basket) {
    /** @type {Series[]} */
    const series = [];
    /** @type {string[] | null} */
    let missing = null;
    for (const [ref, gathered] of basket.sensors) {
      const known = registry.sensor(device, ref);
      if (known) series.push(layOut(known, gathered));
      else if (missing) missing.push(ref);
      else missing = [ref];
    }
    return missing ? layOutNew(device, basket, missing).then((others) => [...series, ...others]) : series;
  }

  /** @param {number} receivedAt epoch ms @param {number} [now] epoch ms */
  const newBasket = (receivedAt, now = receivedAt) =>
    new Basket({
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
        basket.refused.push(refusalOf(error.code, error));
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
      const device = registry.known(identity) ?? (await registry.device(identity));
      if (!device) {
        for (const ref of [...basket.sensors.keys()]) basket.refuseSensor(ref, 'unknown_device');
        return false;
      }
      const identified = identify(device, basket);
      const series = Array.isArray(identified) ? identified : await identified;
      const [, changed] = await Promise.all([
        samples.write(device, series),
        latest.write(device, series.map(newestOf)),
        seenAt === null ? undefined : lastSeen.note(device, seenAt),
      ]);
      if (changed.length > 0) publish(device, changed);
      const { samples: committed, skipped, relative } = basket.counts;
      metrics.samples.inc(committed);
      // What is replayed says nothing of how long samples take, and where every sensor was refused there is none.
      if (seenAt !== null && series.length > 0)
        metrics.endToEndSeconds.observe(Math.max(0, clock() - newestOfAll(series)) / 1000);
      if (skipped > 0) metrics.skipped.inc(skipped);
      if (relative > 0) metrics.relative.inc(relative);
      return true;
    },
  };
}

/** @typedef {ReturnType<typeof createMeasurements>} Measurements */

/** @param {Series} series */
const newestOf = ({ known, times, values }) => ({
  sensor: known,
  ts: /** @type {number} */ (times[times.length - 1]),
  value: /** @type {number} */ (values[values.length - 1]),
});

/** @param {Series[]} series @returns {number} epoch ms of the newest sample */
function newestOfAll(series) {
  let newest = Number.NEGATIVE_INFINITY;
  for (const { times } of series) newest = Math.max(newest, /** @type {number} */ (times[times.length - 1]));
  return newest;
}

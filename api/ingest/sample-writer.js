import { MillraceError } from '../../common/errors.js';
import { someAtOnce } from '../../common/some-at-once.js';
import { bucketOf, isLate } from '../../schema/rules.js';
import { createHourBatches } from './hour-batches.js';

/**
 * Requests that one message has under way at most. A message of a year's hourly samples is 8,760 of them: all at once
 * they would stand before everybody else's in the queue for permits, and weigh 75 times the message.
 */
const HOURS_AT_ONCE = 16;

/** @typedef {import('./registry/cache.js').Device} Device */
/** @typedef {import('../../schema/packed/series.js').Numbers} Numbers */
/** @typedef {import('../store/measurements/writes.js').Hour} Hour */

/**
 * The samples of one sensor in one message, ready to be written: sorted, one per instant.
 *
 * @typedef {{ ref: string, known: import('./registry/cache.js').Sensor, sensor: Buffer, times: Numbers, values: Numbers }} Series
 */

/** @callback OnRejected @param {string} ref the sensor, as the message has it @param {number} ts epoch ms */

/**
 * Commits samples: one batch for each hour that a message touches, shared with other messages that wait for the same.
 * What the database refuses is tried message by message, then sample by sample, so that one poisonous value takes
 * nothing else with it. What was late for its hour goes into history, too.
 *
 * @param {object} parts
 * @param {import('../store/measurements/writes.js').SampleWrites} parts.store
 * @param {import('../patience.js').Patience} parts.patience
 * @param {import('./partition-watch.js').PartitionWatch} parts.partitions
 * @param {import('../trusted-clock.js').TrustedClock} parts.clock
 * @param {import('./late-writer.js').LateWriter} parts.late
 */
export function createSampleWriter({ store, patience, partitions, clock, late }) {
  const batches = createHourBatches({ store, patience });

  /** @param {import('../store/measurements/writes.js').HourWrite} hour in a request of its own */
  const commitAlone = (hour) => isTaken(patience.persist(() => store.commit(hour)));

  /** @param {Device} device @param {Series[]} series @param {number} bucket @param {OnRejected} onRejected */
  async function oneByOne(device, series, bucket, onRejected) {
    for (const { ref, sensor, times, values } of series) {
      for (let at = 0; at < times.length; at++) {
        const ts = /** @type {number} */ (times[at]);
        if (bucketOf(ts) !== bucket) continue;
        const single = { sensor, times: [ts], values: [/** @type {number} */ (values[at])] };
        const hour = { bucket, pieces: [{ series: single, from: 0, to: 1 }] };
        if (!(await commitAlone(store.encode(device.bytes, hour)))) onRejected(ref, ts);
      }
    }
  }

  /** @param {Device} device @param {Series[]} series @param {Hour} hour @param {OnRejected} onRejected */
  async function writeHour(device, series, hour, onRejected) {
    const write = store.encode(device.bytes, hour);
    partitions.note(device, write);
    try {
      await batches.add(device.bytes, write);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The culprit may be of another message.
      if (!(await commitAlone(write))) await oneByOne(device, series, hour.bucket, onRejected);
    }
  }

  /** @param {Device} device @param {Series[]} series @param {Hour[]} hours @param {OnRejected} onRejected */
  function writeHours(device, series, hours, onRejected) {
    const [only] = hours;
    if (hours.length === 1 && only) return writeHour(device, series, only, onRejected);
    return someAtOnce(HOURS_AT_ONCE, hours, (hour) => writeHour(device, series, hour, onRejected));
  }

  return {
    /**
     * @param {Device} device
     * @param {Series[]} series
     * @param {OnRejected} onRejected told of each sample that the database refuses
     * @returns {Promise<void>} settles when all others are committed
     */
    async write(device, series, onRejected) {
      /** @type {Map<string, Set<number>>} */
      const rejected = new Map();
      const hours = store.plan(series);
      await writeHours(device, series, hours, (ref, ts) => {
        rejected.set(ref, (rejected.get(ref) ?? new Set()).add(ts));
        onRejected(ref, ts);
      });
      // Read after the commit: a packer whose reading began before may have missed it.
      const time = clock.now();
      const at = typeof time === 'number' ? time : await time;
      if (!hours.some(({ bucket }) => isLate(bucket, at))) return;
      const kept = rejected.size > 0 ? store.plan(without(series, rejected)) : hours;
      await late.write(device, kept, at);
    },
  };
}

/** @typedef {ReturnType<typeof createSampleWriter>} SampleWriter */

/** @param {Promise<unknown>} commit @returns {Promise<boolean>} false: the database refuses it */
async function isTaken(commit) {
  try {
    await commit;
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** @param {unknown} error */
const isRefusal = (error) => error instanceof MillraceError && error.code === 'rejected';

/** @param {Series[]} series @param {Map<string, Set<number>>} rejected instants by sensor @returns {Series[]} */
const without = (series, rejected) =>
  series.flatMap((one) => {
    const instants = rejected.get(one.ref);
    if (!instants) return [one];
    const kept = [...one.times.keys()].filter((at) => !instants.has(Number(one.times[at])));
    const pick = (/** @type {Numbers} */ numbers) => kept.map((at) => Number(numbers[at]));
    return kept.length > 0 ? [{ ...one, times: pick(one.times), values: pick(one.values) }] : [];
  });

/**
 * The measurements of one message, taken from a decoder one by one: the good ones grouped by sensor, the others
 * refused with a reason. Nothing that is bad takes anything good with it.
 *
 * @typedef {object} Gathered
 * @property {number[]} times epoch ms, in order of arrival
 * @property {number[]} values
 * @property {number[]} indexes which elements of the message these are
 */

/** @typedef {import('../store/dead-letters/writes.js').Refusals} Refusals */

/**
 * What times are taken, in epoch ms.
 *
 * @typedef {{ receivedAt: number, oldest: number, newest: number, relative: boolean }} TimeRules `relative`: whether a
 *   time that counts from now, or none, is taken as the time of receipt
 */

/** @param {TimeRules} rules */
export function createBasket({ receivedAt, oldest, newest, relative }) {
  /** @type {Map<string, Gathered>} by what the message calls the sensor */
  const sensors = new Map();
  /** @type {Refusals} */
  const refused = [];
  const counts = { samples: 0, skipped: 0, relative: 0 };
  // Mostly the next sample is of the same sensor, and of the very same string.
  let latestName = '';
  /** @type {Gathered | undefined} */
  let latest;

  return {
    sensors,
    refused,
    counts,

    /**
     * @param {number} index of the element in the message
     * @param {string} sensor id or name as the message has it
     * @param {number} ts epoch ms
     * @param {number} value
     */
    add(index, sensor, ts, value) {
      if (!Number.isFinite(value)) return this.refuse(index, 'not_finite');
      if (ts < oldest) return this.refuse(index, 'too_old');
      if (ts > newest) return this.refuse(index, 'in_future');
      counts.samples++;
      const gathered = latest && sensor === latestName ? latest : sensors.get(sensor);
      latestName = sensor;
      latest = gathered;
      if (gathered) {
        gathered.times.push(ts);
        gathered.values.push(value);
        gathered.indexes.push(index);
        return;
      }
      // An array that begins with its first element has room for that one, one that begins empty for 17.
      latest = { times: [ts], values: [value], indexes: [index] };
      sensors.set(sensor, latest);
    },

    /**
     * A measurement whose time counts from now (0: now), or is missing.
     *
     * @param {number} index
     * @param {string} sensor
     * @param {number} agoMs ms, negative for the past
     * @param {number} value
     */
    addRelative(index, sensor, agoMs, value) {
      if (!relative) return this.refuse(index, 'bad_timestamp');
      counts.relative++;
      this.add(index, sensor, receivedAt + agoMs, value);
    },

    /** @param {number} index @param {import('../../common/errors.js').ErrorCode} code */
    refuse(index, code) {
      refused.push({ index, code });
    },

    /** An element of a kind that is not stored. */
    skip() {
      counts.skipped++;
    },

    /** As it was when it was made: what was read so far is to be read anew, in another way, or not at all. */
    clear() {
      sensors.clear();
      latest = undefined;
      refused.length = 0;
      Object.assign(counts, { samples: 0, skipped: 0, relative: 0 });
    },

    /**
     * Takes a sensor's measurements out again and refuses them.
     *
     * @param {string} sensor
     * @param {import('../../common/errors.js').ErrorCode} code
     */
    refuseSensor(sensor, code) {
      const gathered = sensors.get(sensor);
      if (!gathered) return;
      sensors.delete(sensor);
      latest = undefined;
      counts.samples -= gathered.times.length;
      for (const index of gathered.indexes) refused.push({ index, code });
    },

    /**
     * Forgets all elements but these, as if the message had no others. What refuses it as a whole stays.
     *
     * @param {(index: number) => boolean} isWanted
     */
    keepOnly(isWanted) {
      const kept = refused.filter(({ index }) => index < 0 || isWanted(index));
      refused.splice(0, refused.length, ...kept);
      latest = undefined;
      Object.assign(counts, { samples: 0, skipped: 0 });
      for (const [sensor, all] of sensors) {
        const wanted = pick(all, isWanted);
        counts.samples += wanted.indexes.length;
        if (wanted.indexes.length > 0) sensors.set(sensor, wanted);
        else sensors.delete(sensor);
      }
    },
  };
}

/** @typedef {ReturnType<typeof createBasket>} Basket */

/** @param {Gathered} all @param {(index: number) => boolean} isWanted @returns {Gathered} */
function pick({ times, values, indexes }, isWanted) {
  const isKept = (/** @type {unknown} */ _, /** @type {number} */ at) => isWanted(Number(indexes[at]));
  return { times: times.filter(isKept), values: values.filter(isKept), indexes: indexes.filter(isWanted) };
}

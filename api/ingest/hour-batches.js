/** What one batch holds at most, in bytes of samples and of rows around them. Larger ones gain nothing and hold up the node. */
const MOST_BYTES = 64 * 1024;
const ROW_BYTES = 64;

/** @typedef {import('../store/measurements/writes.js').HourWrite} HourWrite */

const NOTHING = Promise.resolve();

/**
 * Rows of one device and hour that wait at the same time leave in one batch: one partition, one request. Nothing waits
 * for company: a batch takes in what comes until the moment when it may be sent.
 *
 *     in flight              [a: 12:00] [b: 12:00]      a place in the window each
 *     waiting for a place    [a: 12:00, 12:00, 12:00] [c: 12:00]
 *
 * @param {object} parts
 * @param {import('../store/measurements/writes.js').SampleWrites} parts.store
 * @param {import('./patience.js').Patience} parts.patience
 */
export function createHourBatches({ store, patience }) {
  /** @typedef {{ write: HourWrite, isShared: boolean, done: Promise<void> }} Batch */
  /** Those that may still grow, by the very Buffer of their partition, which the store keeps. @type {Map<Buffer, Batch>} */
  const open = new Map();

  /** @param {HourWrite} first @returns {Batch} */
  function begin(first) {
    /** @type {Batch} */
    const batch = { write: { ...first }, isShared: false, done: NOTHING };
    open.set(first.routing, batch);
    batch.done = send(batch);
    return batch;
  }

  /** @param {Batch} batch */
  async function send(batch) {
    const close = () => {
      if (open.get(batch.write.routing) === batch) open.delete(batch.write.routing);
    };
    try {
      await patience.persist(() => store.commit(batch.write, close));
    } finally {
      close();
    }
  }

  return {
    /**
     * @param {HourWrite} write
     * @returns {Promise<void>} settles when it is committed
     * @throws {import('../../common/errors.js').MillraceError} `rejected`: something in the batch is refused
     */
    add(write) {
      const batch = open.get(write.routing);
      if (!batch || !fits(batch.write, write)) return begin(write).done;
      // The rows of the first may be needed once more by themselves.
      if (!batch.isShared) batch.write.queries = [...batch.write.queries];
      batch.isShared = true;
      batch.write.queries.push(...write.queries);
      batch.write.bytes += write.bytes;
      return batch.done;
    },
  };
}

/** @typedef {ReturnType<typeof createHourBatches>} HourBatches */

/** @param {HourWrite} batch @param {HourWrite} write */
const fits = (batch, write) => weightOf(batch) + weightOf(write) <= MOST_BYTES;

/** @param {HourWrite} write */
const weightOf = ({ bytes, queries }) => bytes + ROW_BYTES * queries.length;

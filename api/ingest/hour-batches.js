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
 * @param {import('../patience.js').Patience} parts.patience
 */
export function createHourBatches({ store, patience }) {
  /** `first`: whose rows these are, as long as they are of one message alone. @typedef {{ write: HourWrite, first: HourWrite | null, done: Promise<void> }} Batch */
  /** Those that may still grow, by the very Buffer of the device's id, which ingest keeps, and by hour. @type {Map<Buffer, Map<number, Batch>>} */
  const open = new Map();

  /** @param {Buffer} device @param {HourWrite} first @returns {Batch} */
  function begin(device, first) {
    /** @type {Batch} */
    const batch = { write: { ...first }, first, done: NOTHING };
    const hours = open.get(device);
    if (hours) hours.set(first.bucket, batch);
    else open.set(device, new Map([[first.bucket, batch]]));
    batch.done = send(device, batch);
    return batch;
  }

  /** @param {Buffer} device @param {Batch} batch */
  function close(device, batch) {
    const hours = open.get(device);
    if (hours?.get(batch.write.bucket) !== batch) return;
    hours.delete(batch.write.bucket);
    if (hours.size === 0) open.delete(device);
  }

  /** @param {Buffer} device @param {Batch} batch */
  async function send(device, batch) {
    try {
      await patience.persist(() => store.commit(batch.write, () => close(device, batch)));
    } finally {
      close(device, batch);
    }
  }

  /** @param {Batch} batch @param {HourWrite} write */
  function join(batch, write) {
    // The rows of the first may be needed once more by themselves: the array that grows is the batch's from now on.
    if (batch.first) batch.first.queries = [...batch.first.queries];
    batch.first = null;
    batch.write.queries.push(...write.queries);
    batch.write.bytes += write.bytes;
  }

  return {
    /**
     * @param {Buffer} device
     * @param {HourWrite} write
     * @returns {Promise<void>} settles when it is committed
     * @throws {import('../../common/errors.js').MillraceError} `rejected`: something in the batch is refused
     */
    add(device, write) {
      const batch = open.get(device)?.get(write.bucket);
      if (!batch || !fits(batch.write, write)) return begin(device, write).done;
      join(batch, write);
      return batch.done;
    },
  };
}

/** @typedef {ReturnType<typeof createHourBatches>} HourBatches */

/** @param {HourWrite} batch @param {HourWrite} write */
const fits = (batch, write) => weightOf(batch) + weightOf(write) <= MOST_BYTES;

/** @param {HourWrite} write */
const weightOf = ({ bytes, queries }) => bytes + ROW_BYTES * queries.length;

import { MAX_BLOCK_BYTES } from '../../schema/packed/layout.js';

/** @typedef {import('../store/measurements/writes.js').Hour} Hour */
/** @typedef {import('../store/session.js').Query} Query */

/**
 * What leaves in one request. `hour` grows until it is sent; `messages` counts whose samples these are.
 *
 * @typedef {{ hour: Hour, messages: number, done: Promise<void> }} Batch
 */

/** Bytes that a server counts for a row beside its block, with headers and timestamps; rounded up. */
const ROW_WEIGHT = 150;

const NOTHING = Promise.resolve();

/**
 * Messages of one device and hour that wait at the same time leave as one block: one row, one request. Nothing waits for
 * company: a batch takes in what comes until the moment when it may be sent. Under load, messages of a sample each become
 * blocks of many by themselves.
 *
 *     in flight              [a: 12:00] [b: 12:00]      a place in the window each
 *     waiting for a place    [a: 12:00, 12:00, 12:00] [c: 12:00]
 *
 * @param {object} parts
 * @param {import('../store/measurements/writes.js').SampleWrites} parts.store
 * @param {import('../patience.js').Patience} parts.patience
 * @param {(device: import('./registry/cache.js').Device, hour: Hour, queries: Query[]) => void} parts.onSend
 */
export function createHourBatches({ store, patience, onSend }) {
  /** Those that may still grow, by the very Buffer of the device's id, which ingest keeps, and by partition. @type {Map<Buffer, Map<number, Batch>>} */
  const open = new Map();

  /** @param {import('./registry/cache.js').Device} device @param {Hour} hour @returns {Batch} */
  function begin(device, hour) {
    /** @type {Batch} */
    const batch = { hour, messages: 1, done: NOTHING };
    const hours = open.get(device.bytes);
    if (hours) hours.set(keyOf(hour), batch);
    else open.set(device.bytes, new Map([[keyOf(hour), batch]]));
    batch.done = send(device, batch);
    return batch;
  }

  /** @param {Buffer} device @param {Batch} batch */
  function close(device, batch) {
    const hours = open.get(device);
    if (hours?.get(keyOf(batch.hour)) !== batch) return;
    hours.delete(keyOf(batch.hour));
    if (hours.size === 0) open.delete(device);
  }

  /** @param {import('./registry/cache.js').Device} device @param {Batch} batch */
  async function send(device, batch) {
    /** Encoded once, however often the request has to be repeated. @type {Query[] | null} */
    let queries = null;
    const take = () => {
      if (queries) return queries;
      close(device.bytes, batch);
      queries = store.encode(device.bytes, batch.hour);
      onSend(device, batch.hour, queries);
      return queries;
    };
    try {
      const bytes = () => ROW_WEIGHT + batch.hour.bytes;
      await patience.persist(() => store.commit(device.bytes, batch.hour, take, bytes));
    } finally {
      close(device.bytes, batch);
    }
  }

  return {
    /**
     * @param {import('./registry/cache.js').Device} device
     * @param {Hour} hour of one message
     * @returns {Promise<void>} settles when it is committed
     * @throws {import('../../common/errors.js').MillraceError} `rejected`: the database refuses these samples
     */
    async add(device, hour) {
      let batch = open.get(device.bytes)?.get(keyOf(hour));
      if (batch && batch.hour.bytes + hour.bytes < MAX_BLOCK_BYTES) {
        // The hour of the first message is needed once more by itself: what grows is the batch's own.
        if (batch.messages === 1) batch.hour = { ...batch.hour, pieces: [...batch.hour.pieces] };
        batch.messages++;
        batch.hour.pieces.push(...hour.pieces);
        batch.hour.bytes += hour.bytes;
      } else batch = begin(device, hour);
      try {
        await batch.done;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        // The database refuses another message of the batch, or all of it for its size: each row of this message is tried alone.
        const rows = store.encode(device.bytes, hour);
        if (batch.messages === 1 && rows.length === 1) throw error;
        for (const row of rows) await patience.persist(() => store.commit(device.bytes, hour, () => [row]));
      }
    },
  };
}

/** @typedef {ReturnType<typeof createHourBatches>} HourBatches */

/** A bucket is a multiple of an hour, in ms: no two partitions of a device have the same sum. @param {Hour} hour */
const keyOf = ({ bucket, part }) => bucket + part;

/** @param {unknown} error */
const isRefusal = (error) => /** @type {{ code?: string }} */ (error)?.code === 'rejected';

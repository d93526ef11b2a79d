import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';
import { createDeviceComparison } from './device.js';
import { createFindings } from './findings.js';
import { partLedger } from './parts.js';

/** @import { Findings } from './findings.js' */
/** @import { Stored } from './stored.js' */

/** Concurrent devices. The round trips overlap, and the database has capacity for other clients. */
const CONCURRENT_DEVICES = 16;

/** @typedef {{ messages: number, devices: number, acknowledged: number, stored: number, problems: number }} Progress so far; samples, but for the first two */

/**
 * The result of a comparison. A sample counts once per instant and sensor, however often it was sent.
 *
 * @typedef {object} Result
 * @property {boolean} agree
 * @property {number} messages
 * @property {number} devices
 * @property {number} acknowledged samples in the range
 * @property {number} stored samples in the range
 * @property {{ from: number, to: number }} range epoch ms
 * @property {Findings['found']} found
 */

/**
 * Compares a ledger with the database, sample by sample and never by counts: every acknowledged sample must be stored
 * with exactly its bits, every stored sample of the ledger's devices in the range must have been sent, and `latest` must be the
 * newest of what is stored. Of two values for one instant the one that merging keeps counts. A sample can stand in several rows: a
 * message that is delivered again can be stored together with others than the first time.
 *
 * It reads the database hour by hour, device by device. Samples outside the range, in its first and last hour, only count for `latest`. An
 * acknowledged sample that was refused is missing too; its dead letter has the reason.
 *
 * @param {object} options
 * @param {string} options.ledgerPath
 * @param {Stored} options.store
 * @param {number} options.groups `LATEST_GROUPS`
 * @param {{ from?: number, to?: number }} [options.range] epoch ms; default from the ledger's first sample to after its last
 * @param {(progress: Progress) => void} [options.onProgress]
 * @param {number} [options.partBytes] of the ledger that is held in memory at once
 * @returns {Promise<Result>}
 * @throws {MillraceError} `failed`: no ledger; `unavailable`: the database is away
 */
export async function compareLedger({
  ledgerPath,
  store,
  groups,
  range = {},
  onProgress = () => {},
  partBytes,
}) {
  const findings = createFindings();
  const progress = { messages: 0, devices: 0, acknowledged: 0, stored: 0, problems: 0 };
  const parts = await partLedger(ledgerPath, {
    onProgress: (messages) => onProgress({ ...progress, messages }),
    ...(partBytes === undefined ? {} : { partBytes }),
  });
  try {
    const { acknowledged, messages, first, last } = parts.overview;
    progress.messages = messages;
    const compared = { from: range.from ?? first, to: range.to ?? last + 1 };
    const compareDevice = createDeviceComparison({
      store: retryingStore(store),
      groups,
      range: compared,
      acknowledged,
      findings,
    });
    for (let part = 0; part < parts.count; part += 1) {
      await forEachOf(await parts.read(part), CONCURRENT_DEVICES, async ([device, sensors]) => {
        const counts = await compareDevice(device, sensors);
        progress.devices += 1;
        progress.acknowledged += counts.acknowledged;
        progress.stored += counts.stored;
        onProgress({ ...progress, problems: findings.total() });
      });
    }
    const { devices, acknowledged: kept, stored } = progress;
    const agree = findings.total() === 0;
    return { agree, messages, devices, acknowledged: kept, stored, range: compared, found: findings.found };
  } finally {
    await parts.remove();
  }
}

/** @param {Stored} store @returns {Stored} */
const retryingStore = ({ samples, packed, packProgress, fleet }) => ({
  samples: {
    ...samples,
    readDeviceHour: (device, bucket) => withRetry(() => samples.readDeviceHour(device, bucket)),
  },
  packed: {
    ...packed,
    readStatistics: (key, from, to) => withRetry(() => packed.readStatistics(key, from, to)),
    readHour: (key, hour) => withRetry(() => packed.readHour(key, hour)),
  },
  packProgress: { ...packProgress, read: (group) => withRetry(() => packProgress.read(group)) },
  fleet: { ...fleet, latestOfDevice: (key) => withRetry(() => fleet.latestOfDevice(key)) },
});

/**
 * @template T
 * @param {Iterable<T>} items
 * @param {number} atOnce
 * @param {(item: T) => Promise<void>} work
 */
async function forEachOf(items, atOnce, work) {
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const PAUSE_MS = 500;
const ATTEMPTS = 60;

/**
 * Retries a read for half a minute while the database does not answer, such as while nodes restart.
 *
 * @template T
 * @param {() => Promise<T>} read
 * @returns {Promise<T>}
 * @throws {MillraceError} `unavailable`
 */
async function withRetry(read) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const isTransient = error instanceof MillraceError && error.code === 'unavailable';
      if (!isTransient || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

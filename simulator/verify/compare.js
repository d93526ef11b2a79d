import { setTimeout as sleep } from 'node:timers/promises';
import { connectStore } from '../../api/store/index.js';
import { forEachConcurrently } from '../../common/concurrency.js';
import { MillraceError } from '../../common/errors.js';
import { createDeviceComparison } from './device.js';
import { partLedger } from './ledger-parts.js';
import { Findings } from './report.js';

/** @import { Store } from '../../api/store/index.js' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Stored } from './device.js' */

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
 * newest of what is stored. For two values of one instant, the value that merging keeps counts. A sample can stand in several rows: a
 * message that is delivered again can be stored together with others than the first time.
 *
 * The comparison reads the database hour by hour, device by device. Samples outside the range, in its first and last hour, only count for `latest`. An
 * acknowledged sample that was refused is missing too; its dead letter has the reason.
 *
 * @param {object} options
 * @param {string} options.ledgerPath
 * @param {Stored} options.store
 * @param {number} options.groups `LATEST_GROUPS`
 * @param {{ from?: number, to?: number }} [options.range] epoch ms; default from the ledger's first sample to after its last
 * @param {(progress: Progress) => void} [options.onProgress]
 * @param {number} [options.partBytes] of the ledger that is held in memory at once
 * @param {number} [options.pauseMs] between two attempts of a read, in ms
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
  pauseMs = PAUSE_MS,
}) {
  const findings = new Findings();
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
      store: retryingStore(store, pauseMs),
      groups,
      range: compared,
      acknowledged,
      findings,
    });
    for (let part = 0; part < parts.count; part += 1) {
      await forEachConcurrently(CONCURRENT_DEVICES, await parts.read(part), async ([device, sensors]) => {
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

/** @param {Stored} store @param {number} pauseMs @returns {Stored} */
function retryingStore({ samples, packed, packProgress, fleet }, pauseMs) {
  const retry = createRetry(pauseMs);
  return {
    samples: {
      ...samples,
      readDeviceHour: (device, bucket) => retry(() => samples.readDeviceHour(device, bucket)),
    },
    packed: {
      ...packed,
      readStatistics: (key, from, to) => retry(() => packed.readStatistics(key, from, to)),
      readHour: (key, hour) => retry(() => packed.readHour(key, hour)),
    },
    packProgress: { ...packProgress, read: (group) => retry(() => packProgress.read(group)) },
    fleet: { ...fleet, latestOfDevice: (key) => retry(() => fleet.latestOfDevice(key)) },
  };
}

const PAUSE_MS = 500;
const ATTEMPTS = 60;

/**
 * Retries reads for half a minute while the database does not answer, such as while nodes restart.
 *
 * @param {number} pauseMs
 * @returns {<T>(read: () => Promise<T>) => Promise<T>} it throws `unavailable` after the last attempt
 */
const createRetry = (pauseMs) => async (read) => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const isTransient = error instanceof MillraceError && error.code === 'unavailable';
      if (!isTransient || attempt === ATTEMPTS) throw error;
      await sleep(pauseMs);
    }
  }
};

/**
 * The tables of the database, for a command that reads alone.
 *
 * @param {Pick<Config, 'cql' | 'retention'>} config
 * @returns {Promise<Store>}
 * @throws {MillraceError} `database_away`, `bad_settings`, `schema_differs`
 */
export const openStore = ({ cql, retention }) =>
  connectStore({
    cql,
    retention,
    observe: () => {},
    onStaleIndex: () => {},
  });

import { setTimeout as sleep } from 'node:timers/promises';
import { connectStore, type Store } from '../../api/store/index.ts';
import { forEachConcurrently } from '../../common/concurrency.ts';
import { MillraceError } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import { DeviceComparison, type Stored } from './device.ts';
import { partLedger } from './ledger-parts.ts';
import { Findings } from './report.ts';

/** The round trips of devices overlap, and the database keeps capacity for other clients. */
const CONCURRENT_DEVICES = 16;

/** `acknowledged`, `stored` and `problems` count samples */
export type Progress = {
  messages: number;
  devices: number;
  acknowledged: number;
  stored: number;
  problems: number;
};

/** A sample counts once per timestamp and sensor, however often it was sent. */
export interface Result {
  agree: boolean;
  messages: number;
  devices: number;
  /** samples in the range */
  acknowledged: number;
  /** samples in the range */
  stored: number;
  range: { from: number; to: number };
  found: Findings['found'];
}

/**
 * Compares sample by sample, never by counts. Every acknowledged sample must be stored with exactly its bits. Every stored sample of the
 * ledger's devices in the range must have been sent. `latest` must be the newest stored sample. If two values have the same timestamp, the
 * value that merging keeps counts. A sample can stand in several rows, because a redelivered message may be stored in another batch.
 *
 * The comparison reads the database hour by hour and device by device. In the first and last hour, samples outside the range only count for
 * `latest`. An acknowledged sample that the API refused is also missing. The reason is in its dead letter.
 * @throws `failed`: the file is no ledger; `unavailable`: the database does not answer
 */
export async function compareLedger({
  ledgerPath,
  store,
  groups,
  range = {},
  onProgress = () => {},
  partBytes,
  pauseMs = PAUSE_MS,
}: {
  ledgerPath: string;
  store: Stored;
  groups: number;
  /** epoch ms; default: from the first sample of the ledger to after the last */
  range?: { from?: number; to?: number };
  onProgress?: (progress: Progress) => void;
  /** of the ledger that are kept in memory at once */
  partBytes?: number;
  /** between two attempts of a read */
  pauseMs?: number;
}): Promise<Result> {
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
    const comparison = new DeviceComparison({
      store: retryingStore(store, pauseMs),
      groups,
      range: compared,
      acknowledged,
      findings,
    });
    for (let part = 0; part < parts.count; part += 1) {
      await forEachConcurrently(CONCURRENT_DEVICES, await parts.read(part), async ([device, sensors]) => {
        const counts = await comparison.compare(device, sensors);
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

function retryingStore({ samples, packed, packProgress, fleet }: Stored, pauseMs: number): Stored {
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
 * For half a minute while the database does not answer, such as while nodes restart.
 * @returns throws `unavailable` after the last attempt
 */
const createRetry =
  (pauseMs: number): (<T>(read: () => Promise<T>) => Promise<T>) =>
  async (read) => {
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

/** For a command that only reads. @throws `database_away`, `bad_settings`, `schema_differs` */
export const openStore = ({ cql, retention }: Pick<Config, 'cql' | 'retention'>): Promise<Store> =>
  connectStore({
    cql,
    retention,
    observe: () => {},
    onStaleIndex: () => {},
  });

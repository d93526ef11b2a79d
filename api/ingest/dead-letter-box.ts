import { LRUCache } from 'lru-cache';
import { MillraceError } from '../../common/errors.ts';
import { identifyDevice, uuidText } from '../../schema/ids.ts';
import type { Numbers } from '../../schema/packed/series.ts';
import { bucketOf } from '../../schema/rules.ts';
import { OWN_TOPICS } from '../../schema/topics.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { DeadLetter, DeadLetterStore, Refusals } from '../store/dead-letters.ts';
import { storedForm } from '../store/index.ts';
import type { Retry } from '../store/sending/retry.ts';
import { refusalOf } from './decode/refusals.ts';
import type { Outbox } from './outbox.ts';
import type { Message } from './pipeline.ts';
import type { RefusalNotices } from './refusal-notices.ts';
import type { Registry } from './registry/index.ts';

/** Of one dead letter of `putSamples`. */
const MAX_SAMPLES = 1000;

/**
 * A refused message becomes one dead letter with all its refusals. Above the quota of a device, one dead letter a
 * minute has counts only.
 */
export function createDeadLetterBox(deps: {
  store: Pick<DeadLetterStore, 'write'>;
  registry: Registry;
  retry: Retry;
  notices: RefusalNotices;
  metrics: Metrics;
  /** epoch ms */
  clock: () => number;
  quota?: DeadLetterQuota;
  /** default: no feature publishes dead letters */
  outbox?: Outbox | null;
  /** value of `LATEST_GROUPS` */
  groups?: number;
}) {
  const { store, registry, retry, notices, metrics, clock, quota = new DeadLetterQuota() } = deps;
  const { outbox = null, groups = 1 } = deps;

  /** Returns null if the device is not in the cache of registered devices. */
  function registeredId(device: string): string | null {
    const identity = identifyDevice(device);
    return identity && registry.cache.peek(identity.id) ? identity.id : null;
  }

  function commit(deadLetter: DeadLetter): Promise<void> {
    // The stored form is created once, so that each retry writes the same row.
    const stored = storedForm(deadLetter);
    if (!outbox) return retry.run(() => store.write(deadLetter, stored));
    const group = Number(stored.id.at(-1)) % groups;
    const announcement = { kind: 'dead_letter', id: uuidText(stored.id), group } as const;
    return retry.run(() =>
      outbox.commit({ ...announcement, deadLetter: stored }, () => store.write(deadLetter, stored)),
    );
  }

  async function write(deadLetter: DeadLetter) {
    try {
      await commit(deadLetter);
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'rejected' || !deadLetter.content) throw error;
      // The database refuses the content, so only the counts are stored. Without a stored dead letter the message would
      // stay unacknowledged, and the broker would redeliver it forever.
      await commit({ ...deadLetter, content: null });
    }
  }

  /** Settles when the dead letter is committed. `device` is the id or name from the topic. */
  async function put(
    {
      topic,
      contentType,
      payload,
      receivedAt,
      replaces,
      onRefused,
    }: Pick<Message, 'topic' | 'contentType' | 'payload' | 'receivedAt' | 'replaces' | 'onRefused'>,
    device: string,
    refused: Refusals,
  ): Promise<void> {
    const [first] = refused;
    if (!first) return;
    onRefused?.(refused);
    for (const { code } of refused) metrics.refused.inc({ code });
    const counts = countCodes(refused);
    notices.refused(topic, counts, first);
    const account = registeredId(device);
    // The quota uses the present time. A redelivered message belongs to an earlier hour, and would restart the hour of the quota.
    const { verdict, codes } = quota.take(account, clock(), counts);
    if (verdict === 'none') return;
    const isWhole = verdict === 'whole';
    await write({
      receivedAt,
      // All unregistered devices share one count, so a dead letter with counts only names no device.
      device: isWhole || account ? device : undefined,
      topic,
      codes,
      content: isWhole ? { contentType, payload, refused, replaces: replaces ? true : undefined } : null,
    });
  }

  return {
    put,

    /** The database refuses these samples, which were acknowledged already. `device`: id */
    async putSamples(
      device: string,
      series: Array<{ known: { id: string }; times: Numbers; values: Numbers }>,
      error: unknown,
    ): Promise<void> {
      const topic = `${OWN_TOPICS}${device}/measurements`;
      const samples = series.flatMap(({ known, times, values }) =>
        Array.from(times, (ts, index) => ({ sensor_id: known.id, ts, value: values[index] })),
      );
      for (let from = 0; from < samples.length; from += MAX_SAMPLES) {
        const payload = Buffer.from(JSON.stringify(samples.slice(from, from + MAX_SAMPLES)));
        await put({ topic, payload, receivedAt: clock() }, device, [refusalOf('rejected', error)]);
      }
    },
  };
}

export type DeadLetterBox = ReturnType<typeof createDeadLetterBox>;

function countCodes(refused: Refusals): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code } of refused) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

const MINUTE_MS = 60_000;

/** Per hour: of one device, of all unregistered devices together, and in total. `counting`: those with counts only, per minute. */
const LIMITS = { perDevice: 1000, unregistered: 10_000, total: 100_000, counting: 100 };

/** Devices in memory. An evicted device starts at 0 again, within the total limit. */
const MAX_DEVICES = 10_000;

/** `pending`: refusals that no dead letter counts yet */
type QuotaUse = { stored: number; countedAt: number; pending: Record<string, number> };

const openAccount = (): QuotaUse => ({ stored: 0, countedAt: 0, pending: {} });

/** `counts`: a dead letter without the payload; `none`: a later one has these counts */
type Verdict = 'whole' | 'counts' | 'none';

/**
 * A broken device must not fill the disk. Above the limit, one dead letter a minute has the counts of all refusals
 * since the previous one.
 *
 * Unregistered devices and invalid names share one account, because a client can invent any number of names.
 */
export class DeadLetterQuota {
  #limits;
  #unregistered = openAccount();
  #devices: LRUCache<string, QuotaUse> = new LRUCache({ max: MAX_DEVICES, memoMethod: openAccount });
  #inHour = { began: 0, stored: 0 };
  #inMinute = { began: 0, counting: 0 };

  constructor({ limits = LIMITS }: { limits?: typeof LIMITS } = {}) {
    this.#limits = limits;
  }

  /** `device` null: it is not registered. Both `codes` count refused measurements by code, the result for the dead letter. */
  take(
    device: string | null,
    now: number,
    codes: Record<string, number>,
  ): { verdict: Verdict; codes: Record<string, number> } {
    this.#reset(now);
    const account = device === null ? this.#unregistered : this.#devices.memo(device);
    const limit = device === null ? this.#limits.unregistered : this.#limits.perDevice;
    if (account.stored < limit && this.#inHour.stored < this.#limits.total) {
      account.stored++;
      this.#inHour.stored++;
      return { verdict: 'whole', codes };
    }
    for (const [code, count] of Object.entries(codes)) {
      account.pending[code] = (account.pending[code] ?? 0) + count;
    }
    const isRecent = Math.abs(now - account.countedAt) < MINUTE_MS;
    if (isRecent || this.#inMinute.counting >= this.#limits.counting) return { verdict: 'none', codes };
    this.#inMinute.counting++;
    const all = account.pending;
    Object.assign(account, { countedAt: now, pending: {} });
    return { verdict: 'counts', codes: all };
  }

  #reset(now: number) {
    if (bucketOf(now) !== this.#inHour.began) {
      Object.assign(this.#inHour, { began: bucketOf(now), stored: 0 });
      for (const account of [this.#unregistered, ...this.#devices.values()]) account.stored = 0;
    }
    const minute = now - (now % MINUTE_MS);
    if (minute !== this.#inMinute.began) Object.assign(this.#inMinute, { began: minute, counting: 0 });
  }
}

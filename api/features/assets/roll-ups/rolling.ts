import { forEachConcurrently } from '../../../../common/concurrency.ts';
import { uuidText } from '../../../../schema/ids.ts';
import {
  bucketOf,
  DAY_MS,
  dayOf,
  HOUR_MS,
  LATE_DAY_DAYS,
  MOST_CLOCK_DIFFERENCE_MS,
  yearOf,
} from '../../../../schema/rules.ts';
import { iteratePages, type Leases, type Steps } from '../../../background/index.ts';
import type { Store } from '../../../store/index.ts';
import { DueHours } from './due-hours.ts';
import { BUCKET_MS, dueBucketOf, readingOf } from './due-notices.ts';
import type { PendingChanges, Span } from './pending-changes.ts';
import type { Recompute } from './recompute.ts';
import type { RolledTree } from './rolled-tree.ts';
import { endOfDay, GRP, type RollUpProgress, type RollUpStore } from './store.ts';

const ASSETS_AT_ONCE = 8;

/** The number of days that are computed together. For few assets it is large, so that a year takes few reads. */
const FILLED_DAYS = { few: 28, many: 1 };
const FEW_ASSETS = 1000;

/** In ms. An installation may have a thousand groups of devices. */
const OBSERVE_EVERY_MS = 120_000;

/** In ms. Notices that are not read for longer may have expired. */
const NOTICES_KEPT_MS = (LATE_DAY_DAYS - 1) * DAY_MS;

/**
 * Computes the roll-ups that are due: those of hours that were packed, by the notices of the packers, and those of hours that an edit of the
 * tree concerns. One process does it at a time. It stores its progress after the roll-ups, and every roll-up is computed from what is stored.
 * So a process that is killed anywhere leaves work that the next one repeats.
 */
export class Rolling {
  #deps;
  #progress: RollUpProgress = { dueUntil: null, rolledUntil: null, version: 0, filling: 0, filledUntil: 0 };
  /** when `packed_until` of the last group of devices was read, and what it was; both in epoch ms, oldest first */
  #packed: Array<{ readAt: number; until: number }> = [];
  #observedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: {
    tree: RolledTree;
    /** reads the newest edits of the tree */
    refresh: () => Promise<void>;
    pending: PendingChanges;
    recompute: Recompute;
    store: Pick<Store, 'packProgress' | 'groups'> & { rollUps: RollUpStore };
    clock: { now: () => number | Promise<number> };
    historyDays: number;
    steps: Pick<Steps, 'run' | 'stopped'>;
    leases: Leases;
  }) {
    this.#deps = deps;
  }

  /** In ms since the oldest notices that were not read could have been read; NaN before any progress was read. @param now epoch ms */
  lagMs(now: number): number {
    const { dueUntil } = this.#progress;
    return dueUntil === null ? Number.NaN : Math.max(0, now - readingOf(dueUntil));
  }

  /** Does nothing while another process rolls up. */
  async rollDue(): Promise<void> {
    const { clock, steps, refresh, pending, leases } = this.#deps;
    await steps.run(refresh);
    await this.#readProgress();
    const now = await clock.now();
    await this.#observePacked(now);
    const { dueUntil, version } = this.#progress;
    if (dueUntil !== null && now < readingOf(dueUntil) && !pending.isAny(version)) return;
    await leases.hold(GRP, () => this.#roll());
  }

  async #roll() {
    const { tree, recompute, clock, steps } = this.#deps;
    // Progress is read again, because the previous owner of the lease may have done everything.
    await this.#readProgress();
    recompute.forgetTypes();
    // A tree that lacks an edit would replace roll-ups that have it.
    if (tree.version < Math.max(this.#progress.version, this.#progress.filling)) return;
    const now = await clock.now();
    const { dueUntil } = this.#progress;
    if (dueUntil === null) await this.#writeDueUntil(dueBucketOf(now));
    else if (now - dueUntil > NOTICES_KEPT_MS) await this.#rollAll(now);
    while (!steps.stopped) {
      const bucket = this.#progress.dueUntil ?? 0;
      if ((await clock.now()) >= readingOf(bucket)) {
        await this.#rollNoticed(bucket);
        await this.#writeDueUntil(bucket + BUCKET_MS);
      } else if (!(await this.#fill(await clock.now()))) return;
    }
  }

  async #rollNoticed(bucket: number) {
    const { store, steps, tree } = this.#deps;
    const days: Map<number, DueHours> = new Map();
    for (let group = 0; group < store.groups; group++) {
      const due = iteratePages((after) => steps.run(() => store.rollUps.duePage(group, bucket, after)));
      for await (const { device, hour } of due) {
        const day = dayOf(hour);
        const hours = days.get(day) ?? new DueHours(tree, { from: day, to: day + DAY_MS });
        days.set(day, hours);
        for (const asset of tree.assetsAt(uuidText(device), hour)) hours.add(asset, hour, hour + HOUR_MS);
      }
    }
    for (const hours of days.values()) await this.#compute(hours);
  }

  /** Computes some days of the edits that the roll-ups lack. @returns false: they lack none */
  async #fill(now: number): Promise<boolean> {
    const { tree, pending, steps, store } = this.#deps;
    const { version } = this.#progress;
    if (this.#progress.filling <= version) {
      if (!pending.isAny(version)) return false;
      await this.#writeFilled(tree.version, 0);
    }
    const { filling } = this.#progress;
    const chunk = this.#chunkOf(pending.until(filling, this.#progress), now);
    if (chunk) {
      await this.#compute(chunk.hours);
      await this.#writeFilled(filling, chunk.until);
      return true;
    }
    await steps.run(() => store.rollUps.writeVersion(filling));
    this.#progress.version = filling;
    pending.forget(filling);
    return true;
  }

  /** The first days of these hours that are neither expired nor in the future. Null: there are none. */
  #chunkOf(spans: Map<string, Span>, now: number): { hours: DueHours; until: number } | null {
    const { tree, historyDays } = this.#deps;
    const oldest = dayOf(now) - historyDays * DAY_MS;
    const newest = bucketOf(now) + HOUR_MS;
    let first = Number.POSITIVE_INFINITY;
    for (const { from, to } of spans.values())
      if (to > oldest) first = Math.min(first, Math.max(from, oldest));
    if (first >= newest) return null;
    const from = dayOf(first);
    const days = FILLED_DAYS[spans.size > FEW_ASSETS ? 'many' : 'few'];
    const until = Math.min(from + days * DAY_MS, endOfDay(newest), Date.UTC(yearOf(from) + 1, 0));
    const hours = new DueHours(tree, { from, to: until });
    for (const [asset, span] of spans) hours.add(asset, span.from, span.to);
    return { hours, until };
  }

  /** When notices may have expired, all roll-ups are computed. */
  async #rollAll(now: number) {
    const { tree, steps } = this.#deps;
    const to = bucketOf(now) + HOUR_MS;
    for (let from = Number.NEGATIVE_INFINITY; from < to && !steps.stopped; ) {
      const spans = new Map(Array.from(tree.ids(), (asset) => [asset, { from, to }]));
      const chunk = this.#chunkOf(spans, now);
      if (!chunk) break;
      await this.#compute(chunk.hours);
      from = chunk.until;
    }
    if (!steps.stopped) await this.#writeDueUntil(dueBucketOf(now));
  }

  async #compute(hours: DueHours) {
    const { recompute } = this.#deps;
    for (const assets of hours.byDepth())
      await forEachConcurrently(ASSETS_AT_ONCE, assets, (due) => recompute.run(due));
  }

  async #readProgress() {
    const { store, steps, pending } = this.#deps;
    this.#progress = await steps.run(() => store.rollUps.progress());
    pending.forget(this.#progress.version);
  }

  /** All notices of hours before the `packed_until` that is read now are in buckets that have begun. */
  async #observePacked(now: number) {
    if (now - this.#observedAt < OBSERVE_EVERY_MS) return;
    this.#observedAt = now;
    const { store, steps } = this.#deps;
    const ends = [];
    for (let group = 0; group < store.groups; group++)
      ends.push((await steps.run(() => store.packProgress.read(group))).packedUntil);
    const until = Math.min(...ends);
    if (until > (this.#packed.at(-1)?.until ?? Number.NEGATIVE_INFINITY))
      this.#packed.push({ readAt: now, until });
  }

  async #writeDueUntil(until: number) {
    const { store, steps } = this.#deps;
    await steps.run(() => store.rollUps.writeDueUntil(until));
    this.#progress.dueUntil = until;
    // The clock of the packer may have been ahead.
    const read = this.#packed.filter(({ readAt }) => readAt + 2 * MOST_CLOCK_DIFFERENCE_MS <= until);
    this.#packed.splice(0, read.length);
    const rolledUntil = read.at(-1)?.until ?? null;
    if (rolledUntil === null || rolledUntil <= (this.#progress.rolledUntil ?? 0)) return;
    await steps.run(() => store.rollUps.writeRolledUntil(rolledUntil));
    this.#progress.rolledUntil = rolledUntil;
  }

  async #writeFilled(filling: number, until: number) {
    const { store, steps } = this.#deps;
    await steps.run(() => store.rollUps.writeFilled(filling, until));
    this.#progress.filling = filling;
    this.#progress.filledUntil = until;
  }
}

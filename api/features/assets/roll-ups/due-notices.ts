import { uuidText } from '../../../../schema/ids.ts';
import { LATE_MARGIN_MS } from '../../../../schema/rules.ts';
import type { PackedHour } from '../../../history/packing/index.ts';
import type { RolledTree } from './rolled-tree.ts';
import type { RollUpStore } from './store.ts';

/** Length of a partition of notices, in ms. */
export const BUCKET_MS = 600_000;

/** Epoch ms from which a bucket is read. The margin is more than twice the tolerated clock difference. */
export const readingOf = (bucket: number): number => bucket + BUCKET_MS + LATE_MARGIN_MS;

export const dueBucketOf = (ts: number): number => Math.floor(ts / BUCKET_MS) * BUCKET_MS;

/**
 * Notes packed hours of devices that an asset holds, before the packer stores its progress. So each packed hour is either noticed, or packed
 * again.
 */
export class DueNotices {
  #deps;

  constructor(deps: {
    tree: Pick<RolledTree, 'assetsAt'>;
    /** reads the newest edits of the tree */
    refresh: () => Promise<void>;
    store: Pick<RollUpStore, 'writeDue'>;
    clock: { now: () => number | Promise<number> };
    /** repeats a request until it succeeds */
    run: <T>(request: () => Promise<T>) => Promise<T>;
  }) {
    this.#deps = deps;
  }

  note = async (packed: PackedHour[]): Promise<void> => {
    const { tree, refresh, run } = this.#deps;
    // An edit that this process does not see after the commit of the statistics is newer than them. Then the edit makes the hour due. The
    // first read may have begun before the commit, because concurrent reads are shared.
    await run(refresh);
    await run(refresh);
    const groups: Map<number, PackedHour[]> = new Map();
    for (const hour of packed) {
      if (isEmpty(tree.assetsAt(uuidText(hour.device), hour.hour))) continue;
      const hours = groups.get(hour.group) ?? [];
      groups.set(hour.group, hours);
      hours.push(hour);
    }
    await Promise.all(Array.from(groups, ([group, hours]) => this.#write(group, hours)));
  };

  async #write(group: number, hours: PackedHour[]) {
    const { store, clock, run } = this.#deps;
    for (;;) {
      const bucket = dueBucketOf(await clock.now());
      await run(() => store.writeDue(group, bucket, hours));
      // A notice that was committed later may have been missed, because the bucket may have been read. So it is written again.
      if ((await clock.now()) < bucket + BUCKET_MS + LATE_MARGIN_MS / 2) return;
    }
  }
}

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _ of items) return false;
  return true;
}

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { bucketOf } from '../../../../schema/rules.ts';
import { Rounds, type Steps, withTimeLimit } from '../../../background/index.ts';
import type { DevicePlace } from '../../../store/devices/device-pages.ts';
import type { Store } from '../../../store/index.ts';
import type { AssetTree } from './asset-tree.ts';
import type { Change } from './change.ts';
import { type Level, levelBelow } from './levels.ts';
import type { AssetLog } from './log.ts';

/** A device as the registry knows it. */
export type SiteDevice = { id: string; name: string | null; site: string };

type DevicePage = Awaited<ReturnType<Store['fleet']['devicePage']>>;

type Found = { id: string; level: Level };

/** In devices. Further ones wait for the sweep. */
const MAX_WAITING = 50_000;

/** In devices of one read of the registry. */
const PAGE = 1000;

/** A device may change its site as often as it wants. With so many assets in the tree, sites create no further ones. */
const MAX_ASSETS = 200_000;

/** The device has never been placed, or by another site. */
function isMisplaced(tree: AssetTree, { id, site }: SiteDevice): boolean {
  const placed = tree.device(id)?.site;
  return placed !== null && placed !== site;
}

/** Creates the assets of a site, as far as they are missing. */
class SitePlan {
  readonly changes: Change[] = [];
  #tree;
  /** created by this plan, by the path of the site */
  #created: Map<string, Found> = new Map();

  /** assets that it may still create */
  #room;

  constructor(tree: AssetTree, maxAssets: number) {
    this.#tree = tree;
    this.#room = maxAssets - tree.size.assets;
  }

  /** @returns the asset. Null: there is none. The last level takes everything below it. */
  assetOf(site: string): Found | null {
    const names = site
      .split('/')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    return names.reduce<Found | null>((parent, name, index) => {
      const path = names.slice(0, index + 1).join('/');
      const known = this.#created.get(path) ?? this.#find(path, parent?.id ?? null, name);
      const level = parent === null ? 'site' : levelBelow(parent.level);
      if (known || level === null || this.#room <= 0) return known ?? parent;
      return this.#create({ path, name, level, parent: parent?.id ?? null });
    }, null);
  }

  /** An asset of a site keeps its devices after an operator renames or moves it. */
  #find(path: string, parent: string | null, name: string): Found | null {
    return this.#tree.bySite(path) ?? this.#tree.asset(this.#tree.childByName(parent, name) ?? '');
  }

  #create({
    path,
    name,
    level,
    parent,
  }: {
    path: string;
    name: string;
    level: Level;
    parent: string | null;
  }) {
    const id = randomUUID();
    this.#room--;
    this.changes.push({ do: 'create', asset: id, name, level, parent, site: path });
    this.#created.set(path, { id, level });
    return { id, level };
  }
}

/** Changes that place the devices under their sites. `hour`: the present one, in epoch ms. */
export function planSites(
  tree: AssetTree,
  devices: SiteDevice[],
  hour: number,
  maxAssets: number = MAX_ASSETS,
): Change[] {
  const plan = new SitePlan(tree, maxAssets);
  for (const device of devices) {
    const asset = isMisplaced(tree, device) ? plan.assetOf(device.site)?.id : undefined;
    if (asset === undefined) continue;
    const { id, name, site } = device;
    const since = tree.device(id)?.places.isEmpty === false ? hour : 0;
    plan.changes.push({ do: 'place', device: id, name, asset, since, by: 'site', site });
  }
  return plan.changes;
}

/**
 * Places devices under the assets of their site, and creates these assets. The text of a site may be a path, such as
 * `Plant 1/Hall 2/Line 3`. Devices that an operator has placed stay where they are.
 */
export class SiteAssets {
  #log;
  #fleet;
  #clock;
  #logger;
  #steps;
  #batchMs;
  #rounds;
  #waiting: Map<string, SiteDevice> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #firstSweep: Promise<void> = Promise.resolve();

  constructor(deps: {
    log: AssetLog;
    fleet: Pick<Store['fleet'], 'devicePage'>;
    /** epoch ms */
    clock: () => number;
    logger: Logger;
    steps: Steps;
    /** one edit places all devices that register within this time */
    batchMs: number;
    sweepMs: number;
  }) {
    this.#log = deps.log;
    this.#fleet = deps.fleet;
    this.#clock = deps.clock;
    this.#logger = deps.logger;
    this.#steps = deps.steps;
    this.#batchMs = deps.batchMs;
    this.#rounds = new Rounds({
      steps: deps.steps,
      pauseMs: deps.sweepMs,
      work: () => this.sweep(),
      logger: deps.logger,
      failed: 'devices could not be placed by their sites',
    });
  }

  start() {
    this.#firstSweep = this.sweep().catch((error) => this.#warn(error));
    this.#rounds.start();
  }

  async stop() {
    clearTimeout(this.#timer);
    await this.#rounds.stop();
    await withTimeLimit(this.#firstSweep);
  }

  /** Returns at once. */
  note({ id, name, site }: { id: string; name: string | null; site: string | null }) {
    if (site === null || this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(id, { id, name, site });
    this.#timer ??= setTimeout(() => void this.placeWaiting(), this.#batchMs).unref();
  }

  async placeWaiting() {
    this.#timer = undefined;
    const devices = [...this.#waiting.values()];
    this.#waiting.clear();
    await this.#place(devices).catch((error) => this.#warn(error));
  }

  /** Places all devices of the registry. */
  async sweep() {
    let after: DevicePlace | null = null;
    do {
      const { rows, next }: DevicePage = await this.#readPage(after);
      await this.#place(rows.flatMap(({ id, name, site }) => (site === null ? [] : [{ id, name, site }])));
      after = next;
    } while (after !== null && !this.#steps.stopped);
  }

  #readPage = (after: DevicePlace | null): Promise<DevicePage> =>
    this.#steps.run(() => this.#fleet.devicePage({ accept: null, after, limit: PAGE }));

  async #place(devices: SiteDevice[]) {
    const misplaced = devices.filter((device) => isMisplaced(this.#log.tree, device));
    if (misplaced.length === 0) return;
    await this.#log.edit('site', (tree) => planSites(tree, misplaced, bucketOf(this.#clock())));
  }

  #warn(error: unknown) {
    if (!this.#steps.stopped)
      this.#logger.warn(
        { reason: String(error) },
        'devices wait for the next sweep to be placed by their sites',
      );
  }
}

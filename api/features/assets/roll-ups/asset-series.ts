import { mapInOrder } from '../../../../common/concurrency.ts';
import { groupOf, uuidBytes, uuidText } from '../../../../schema/ids.ts';
import { dayOf, HOUR_MS } from '../../../../schema/rules.ts';
import type { Point } from '../../../history/reading/bins.ts';
import type { Range, Sensor } from '../../../history/reading/hours.ts';
import { Bins, type Reading, uniformGrid, widthFor } from '../../../history/reading/index.ts';
import type { Store } from '../../../store/index.ts';
import type { Placement } from '../tree/index.ts';
import { heldSpans, placementsBelow } from './below.ts';
import type { PendingChanges, Span } from './pending-changes.ts';
import type { RolledTree } from './rolled-tree.ts';
import { endOfDay, type RollUpProgress, type RollUpStore, yearsBetween } from './store.ts';

/** With this number of devices or more, an answer is read from roll-ups. */
const MANY_DEVICES = 100;

const READS_AT_ONCE = 6;

/** In ms. */
const PROGRESS_CACHE_MS = 5000;

/** The width of an answer without bins, in ms. */
const NO_WIDTH = 1000;

export interface AssetShape {
  points: Point[];
  /** of a bin, in ms */
  width: number;
  source: 'roll-ups' | 'statistics' | 'samples';
  /** epoch ms: samples from this time on may be missing; null: none is missing */
  completeUntil: number | null;
}

interface SeriesOptions {
  type: string;
  /** limit of bins */
  points: number;
  /** ms by which the clock of the bins is ahead of UTC */
  shift: number;
  signal: AbortSignal;
}

/** Reads the signal of all sensors of a type below an asset. A few devices are read sensor by sensor, more from roll-ups. */
export class AssetSeries {
  #deps;
  #known: { progress: Promise<RollUpProgress>; at: number } | null = null;

  constructor(deps: {
    tree: RolledTree;
    pending: PendingChanges;
    store: Pick<Store, 'groups'> & { rollUps: RollUpStore };
    reading: Pick<Reading, 'bins'>;
    /** default: 100 */
    manyDevices?: number;
  }) {
    this.#deps = deps;
  }

  /** Forgets the edits that are in the roll-ups. */
  async forgetRolled(): Promise<void> {
    this.#deps.pending.forget((await this.#progress()).version);
  }

  /** @param range within retention @throws the reason with which `signal` was aborted */
  read(asset: string, range: Range, options: SeriesOptions): Promise<AssetShape> {
    const { tree, manyDevices = MANY_DEVICES } = this.#deps;
    if (range.from >= range.to)
      return Promise.resolve({ points: [], width: NO_WIDTH, source: 'samples', completeUntil: null });
    const devices = placementsBelow(tree, asset, range, manyDevices);
    return devices === null
      ? this.#readRollUps(asset, range, options)
      : this.#readSensors(devices, range, options);
  }

  async #readSensors(
    devices: Map<string, Placement[]>,
    range: Range,
    { type, points, shift, signal }: SeriesOptions,
  ): Promise<AssetShape> {
    const width = widthFor(range, points, shift);
    const grid = uniformGrid(range, width, shift);
    const bins = new Bins(range, grid);
    let taken = 0;
    const sorted = [...devices].sort(([a], [b]) => (a < b ? -1 : 1));
    // Added in the order of their ids, so that a repeated query gives exactly the same sums.
    for await (const sensors of mapInOrder(READS_AT_ONCE, sorted, (device) =>
      this.#sensorsOf(device, type),
    )) {
      const read = mapInOrder(READS_AT_ONCE, sensors, async ({ key, span }) => {
        signal.throwIfAborted();
        const part = new Bins(range, grid);
        const options = { grid, bins: part, newest: Number.POSITIVE_INFINITY, signal };
        return { part, taken: await this.#deps.reading.bins(key, span, options) };
      });
      for await (const sensor of read) {
        bins.addBins(sensor.part);
        taken += sensor.taken;
      }
    }
    return {
      points: bins.points(),
      width,
      source: taken > 0 ? 'statistics' : 'samples',
      completeUntil: null,
    };
  }

  async #sensorsOf(
    [device, placements]: [string, Placement[]],
    type: string,
  ): Promise<Array<{ key: Sensor; span: Span }>> {
    const { store, tree } = this.#deps;
    const bytes = uuidBytes(device);
    const group = groupOf(bytes, store.groups);
    const sensors = await store.rollUps.sensors({ group, bytes });
    return sensors
      .filter((sensor) => sensor.type === type)
      .flatMap(({ sensor }) =>
        heldSpans(tree, uuidText(sensor), placements).map((span) => ({
          key: { group, device: bytes, sensor },
          span,
        })),
      );
  }

  /** A roll-up is a whole hour. So parts of hours at both ends of the range are left out, and bins begin at full hours. */
  async #readRollUps(
    asset: string,
    range: Range,
    { type, points, shift, signal }: SeriesOptions,
  ): Promise<AssetShape> {
    const hours = {
      from: Math.ceil(range.from / HOUR_MS) * HOUR_MS,
      to: Math.floor(range.to / HOUR_MS) * HOUR_MS,
    };
    // Progress is read first, so that the roll-ups have at least the hours of the progress.
    const completeUntil = await this.#completeUntil(asset, hours);
    const wholeShift = Math.floor(shift / HOUR_MS) * HOUR_MS;
    if (hours.from >= hours.to) return { points: [], width: HOUR_MS, source: 'roll-ups', completeUntil };
    const width = Math.max(HOUR_MS, widthFor(hours, points, wholeShift));
    const bins = new Bins(hours, uniformGrid(hours, width, wholeShift));
    const years = mapInOrder(READS_AT_ONCE, yearsBetween(dayOf(hours.from), endOfDay(hours.to)), (year) =>
      this.#deps.store.rollUps.days(asset, type, year.from, year.to),
    );
    for await (const stored of years) {
      signal.throwIfAborted();
      for (const day of stored.values())
        for (const [hour, rollUp] of day.hours)
          if (hour >= hours.from && hour < hours.to) bins.addHour(hour, rollUp);
    }
    return { points: bins.points(), width, source: 'roll-ups', completeUntil };
  }

  async #completeUntil(asset: string, { to }: Range): Promise<number | null> {
    const progress = await this.#progress();
    const edited = this.#deps.pending.firstHour(asset, progress) ?? Number.POSITIVE_INFINITY;
    const until = Math.min(progress.rolledUntil ?? 0, edited);
    return until >= to ? null : Math.max(until, 0);
  }

  #progress(): Promise<RollUpProgress> {
    const now = performance.now();
    if (this.#known && now - this.#known.at < PROGRESS_CACHE_MS) return this.#known.progress;
    const progress = this.#deps.store.rollUps.progress();
    const entry = { progress, at: now };
    this.#known = entry;
    progress.catch(() => {
      if (this.#known === entry) this.#known = null;
    });
    return progress;
  }
}

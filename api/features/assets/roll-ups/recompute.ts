import { mapInOrder } from '../../../../common/concurrency.ts';
import { groupOf, type SensorBytes, uuidBytes, uuidText } from '../../../../schema/ids.ts';
import { dayOf, HOUR_MS } from '../../../../schema/rules.ts';
import type { Steps } from '../../../background/index.ts';
import type { TimedHour } from '../../../store/history/reads.ts';
import type { Store } from '../../../store/index.ts';
import type { DueAsset } from './due-hours.ts';
import { isSameRollUp, type RollUp, RollUpSum, type StoredDay } from './roll-up.ts';
import type { RolledTree } from './rolled-tree.ts';
import { endOfDay, type RollUpStore } from './store.ts';

/** Enough to hide the round trips. */
const READS_AT_ONCE = 4;

/** By type, then by hour in epoch ms. */
type Sums = Map<string, Map<number, RollUpSum>>;

/**
 * Computes the roll-ups of an asset from the statistics of the sensors that it holds itself, and from the roll-ups of its children. Everything
 * is read from the tables, so a repetition gives the same result. Parts are added in the order of their ids, so the sums are equal to the
 * last bit.
 */
export class Recompute {
  #deps;
  /** of assets, as this process has read and written them since `forgetTypes` */
  #types: Map<string, Promise<Set<string>>> = new Map();

  constructor(deps: {
    tree: RolledTree;
    store: Pick<Store, 'packed' | 'groups'> & { rollUps: RollUpStore };
    steps: Pick<Steps, 'run'>;
    clock: { now: () => number | Promise<number> };
    onRolled: (hours: number) => void;
  }) {
    this.#deps = deps;
  }

  /** Another process may add types while this process has no lease. */
  forgetTypes() {
    this.#types.clear();
  }

  /** @param due hours of one UTC year */
  async run({ asset, hours }: DueAsset): Promise<void> {
    const now = await this.#deps.clock.now();
    const range = { from: hours[0] as number, to: (hours.at(-1) as number) + HOUR_MS };
    const sums: Sums = new Map();
    await this.#addMembers(asset, hours, range, sums);
    await this.#addChildren(asset, hours, range, sums);
    for (const type of new Set([...(await this.#typesOf(asset)), ...sums.keys()]))
      await this.#write(asset, type, hours, sums.get(type) ?? new Map(), now);
  }

  async #addMembers(asset: string, hours: number[], range: Range, sums: Sums) {
    const { tree } = this.#deps;
    const devices = new Set<string>();
    for (const { device } of tree.membersBetween(asset, range.from, range.to)) devices.add(device);
    const read = mapInOrder(READS_AT_ONCE, [...devices].sort(), (device) =>
      this.#readDevice(asset, device, hours),
    );
    for await (const sensors of read) for (const { type, rows } of sensors) addTo(sums, type, rows);
  }

  async #readDevice(asset: string, device: string, hours: number[]) {
    const { tree, store, steps } = this.#deps;
    const bytes = uuidBytes(device);
    const key = { group: groupOf(bytes, store.groups), bytes };
    const sensors = await steps.run(() => store.rollUps.sensors(key));
    const read: Array<{ type: string; rows: TimedHour[] }> = [];
    for (const { sensor, type } of sensors) {
      const id = uuidText(sensor);
      const held = hours.filter((hour) => tree.assetAt(device, id, hour) === asset);
      if (held.length > 0) read.push({ type, rows: await this.#readSensor(bytes, sensor, held) });
    }
    return read;
  }

  async #readSensor(device: Buffer, sensor: SensorBytes, hours: number[]): Promise<TimedHour[]> {
    const { store, steps } = this.#deps;
    const [from, to] = [hours[0] as number, (hours.at(-1) as number) + HOUR_MS];
    const rows = await steps.run(() => store.packed.readTimed({ device, sensor }, from, to));
    const wanted = new Set(hours);
    return rows.filter(({ hour }) => wanted.has(hour));
  }

  async #addChildren(asset: string, hours: number[], range: Range, sums: Sums) {
    const { tree } = this.#deps;
    const children = new Set<string>();
    for (const child of tree.childrenBetween(asset, range.from, range.to)) children.add(child.asset);
    const read = mapInOrder(READS_AT_ONCE, [...children].sort(), async (child) => {
      const held = hours.filter((hour) => tree.parentAt(child, hour) === asset);
      const found: Array<{ type: string; rows: Array<RollUp & { hour: number }> }> = [];
      if (held.length === 0) return found;
      for (const type of [...(await this.#typesOf(child))].sort()) {
        const stored = hoursOf(await this.#read(child, type, range));
        const rows = held.flatMap((hour) => {
          const rollUp = stored.get(hour);
          return rollUp ? { ...rollUp, hour } : [];
        });
        found.push({ type, rows });
      }
      return found;
    });
    for await (const types of read) for (const { type, rows } of types) addTo(sums, type, rows);
  }

  async #write(
    asset: string,
    type: string,
    hours: number[],
    sums: Map<number, RollUpSum>,
    now: number,
  ): Promise<void> {
    const { store, steps, onRolled } = this.#deps;
    const types = await this.#typesOf(asset);
    const range = { from: hours[0] as number, to: (hours.at(-1) as number) + HOUR_MS };
    const stored: Map<number, StoredDay> = types.has(type) ? await this.#read(asset, type, range) : new Map();
    const all = hoursOf(stored);
    const changedDays = new Set<number>();
    let changed = 0;
    for (const hour of hours) {
      const rollUp = sums.get(hour)?.value ?? null;
      if (isSameRollUp(rollUp, all.get(hour) ?? null)) continue;
      if (rollUp) all.set(hour, rollUp);
      else all.delete(hour);
      changedDays.add(dayOf(hour));
      changed++;
    }
    if (changed === 0) return;
    const days: Map<number, { stamp: number; hours: Map<number, RollUp> }> = new Map();
    // The clock of the process that wrote the old cell may have been ahead.
    for (const day of changedDays)
      days.set(day, { stamp: Math.max(now * 1000, (stored.get(day)?.stamp ?? 0) + 1), hours: new Map() });
    for (const [hour, rollUp] of all) days.get(dayOf(hour))?.hours.set(hour, rollUp);
    if (!types.has(type)) {
      await steps.run(() => store.rollUps.writeType(asset, type));
      types.add(type);
    }
    await steps.run(() => store.rollUps.writeDays(asset, type, days));
    onRolled(changed);
  }

  #read(asset: string, type: string, { from, to }: Range): Promise<Map<number, StoredDay>> {
    const { store, steps } = this.#deps;
    return steps.run(() => store.rollUps.days(asset, type, dayOf(from), endOfDay(to)));
  }

  /** Assets of one depth are computed at the same time. They share one set, or a type that one of them adds would be missing in another's. */
  #typesOf(asset: string): Promise<Set<string>> {
    const { store, steps } = this.#deps;
    const known = this.#types.get(asset);
    if (known !== undefined) return known;
    const read = steps.run(() => store.rollUps.types(asset)).then((types) => new Set(types));
    read.catch(() => this.#types.delete(asset));
    this.#types.set(asset, read);
    return read;
  }
}

type Range = { from: number; to: number };

const hoursOf = (days: Map<number, StoredDay>): Map<number, RollUp> =>
  new Map([...days.values()].flatMap(({ hours }) => [...hours]));

function addTo(sums: Sums, type: string, rows: Array<RollUp & { hour: number }>) {
  const hours = sums.get(type) ?? new Map<number, RollUpSum>();
  sums.set(type, hours);
  for (const row of rows) {
    const sum = hours.get(row.hour) ?? new RollUpSum();
    hours.set(row.hour, sum);
    sum.add(row);
  }
}

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DAY_MS } from '../../../schema/rules.ts';
import type { DevicePlace } from '../../store/devices/device-pages.ts';
import type { Store } from '../../store/index.ts';
import type { Gremlin } from './gremlin.ts';
import type { GraphTables, Item } from './tables.ts';
import { vertexOf } from './vertices.ts';

const BEGIN = readScript('begin.groovy');
const APPLY = readScript('apply.groovy');

/** Items in one transaction. Its rows are one logged batch, which Cassandra refuses above 50 KiB by default. */
const BATCH = 25;

/** In ms. A row is committed some time after the clock was read for it. */
const MARGIN_MS = 10 * 60_000;

/** In ms. An alarm may open this long after its start, and late samples may change it. */
const ALARMS_MS = 2 * DAY_MS;

const DEVICES_PER_PAGE = 1000;

/** How far a mirror has come: the last edit of the tree, and epoch ms of the begin of the last whole reading. 0: nothing was read. */
export type Position = { version: number; registered: number; alarms: number };

/** Copies what the tables have into the graph. A mirror that was killed goes on where its last transaction ended. */
export class Mirror {
  readonly #gremlin;
  readonly #tables;
  readonly #fleet;
  readonly #groups;
  readonly #historyMs;
  readonly #clock;
  readonly #owner = randomUUID();

  constructor(deps: {
    gremlin: Pick<Gremlin, 'submit'>;
    tables: GraphTables;
    store: Pick<Store, 'fleet' | 'groups'>;
    historyDays: number;
    clock: () => number;
  }) {
    this.#gremlin = deps.gremlin;
    this.#tables = deps.tables;
    this.#fleet = deps.store.fleet;
    this.#groups = deps.store.groups;
    this.#historyMs = deps.historyDays * DAY_MS;
    this.#clock = deps.clock;
  }

  /** Takes the graph over: another mirror that still runs then fails. @throws `failed` */
  async begin(): Promise<Position> {
    const [position] = await this.#gremlin.submit<Position>(BEGIN, { owner: this.#owner });
    return position as Position;
  }

  /** Copies what is new since `position`. @returns the new position @throws `failed`, `unavailable` */
  async catchUp(position: Position): Promise<Position> {
    return {
      version: await this.#copyEdits(position.version),
      registered: await this.#copyRegistry(position.registered),
      alarms: await this.#copyAlarms(position.alarms),
    };
  }

  async #copyEdits(after: number): Promise<number> {
    let version = after;
    let items: Item[] = [];
    for await (const edit of this.#tables.edits(after)) {
      items.push(...edit.items);
      ({ version } = edit);
      if (items.length < BATCH) continue;
      await this.#apply(items, { version });
      items = [];
    }
    if (items.length > 0) await this.#apply(items, { version });
    return version;
  }

  async #copyRegistry(since: number): Promise<number> {
    const registered = this.#clock();
    const isNew = (row: { registeredAt: number | null }) => (row.registeredAt ?? 0) >= since - MARGIN_MS;
    let after: DevicePlace | null = null;
    do {
      const page = await this.#fleet.devicePage({ accept: null, after, limit: DEVICES_PER_PAGE });
      await this.#apply(
        page.rows.filter(isNew).map(({ id, name }) => ({ do: 'register', device: vertexOf(id), name })),
      );
      after = page.next;
    } while (after);
    for (let group = 0; group < this.#groups; group++) {
      for await (const rows of this.#fleet.latestOfGroup(group)) {
        const items = rows.filter(isNew).map(({ deviceId, deviceName, id, name }) => ({
          do: 'register',
          device: vertexOf(deviceId),
          sensor: vertexOf(deviceId, id),
          name: deviceName,
          sensor_name: name,
        }));
        await this.#apply(items);
      }
    }
    await this.#apply([], { registered });
    return registered;
  }

  async #copyAlarms(since: number): Promise<number> {
    const now = this.#clock();
    const from = since === 0 ? now - this.#historyMs : since - ALARMS_MS;
    for await (const alarms of this.#tables.alarms(from, now, since - MARGIN_MS)) await this.#apply(alarms);
    await this.#apply([], { alarms: now });
    return now;
  }

  async #apply(items: Item[], position: Partial<Position> = {}) {
    if (items.length === 0 && Object.keys(position).length === 0) return;
    let index = 0;
    do {
      const some = items.slice(index, index + BATCH);
      index += BATCH;
      const isLast = index >= items.length;
      await this.#gremlin.submit(APPLY, {
        owner: this.#owner,
        items: some,
        position: isLast ? position : {},
      });
    } while (index < items.length);
  }
}

function readScript(name: string) {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

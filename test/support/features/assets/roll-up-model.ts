import fc from 'fast-check';
import type { Change } from '../../../../api/features/assets/tree/change.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { differences, storedRollUps, trueRollUps } from './roll-up-truth.ts';
import { createWorld, FIRST_HOUR, Killed, type World } from './roll-up-world.ts';

const MINUTE_MS = 60_000;

/** They lie on both sides of the new year. */
const HOURS = Array.from({ length: 4 }, (_, index) => FIRST_HOUR + index * HOUR_MS);

const DEVICES = {
  'device-0': { a: 'temperature', b: 'humidity' },
  'device-1': { a: 'temperature', b: 'temperature' },
  'device-2': { a: 'humidity' },
};

const id = (index: number) => `00000000-0000-4000-8000-00000000000${index}`;

/** An enterprise, two sites, and two machines. Each level is only below levels above it. */
const LEVELS = ['enterprise', 'site', 'site', 'machine', 'machine'] as const;
const RANKS = [0, 1, 1, 2, 2];

const hour = fc.nat({ max: HOURS.length - 1 });
const asset = fc.nat({ max: LEVELS.length - 1 });
const sensor = fc.nat({ max: 4 });
const device = fc.nat({ max: 2 });
/** 0: always; else an hour */
const since = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: hour.map((number) => number + 1) },
);
/** `weight`: of null, to 1 */
const orNull = <T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const kill = orNull(4, fc.record({ after: fc.integer({ min: 1, max: 6 }), unsent: fc.boolean() }));

const action = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('sample' as const),
      sensor,
      hour,
      minute: fc.nat({ max: 3 }),
      value: fc.oneof(
        fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
        fc.integer({ min: -3, max: 3 }),
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pack' as const), hour, process: fc.nat({ max: 1 }), kill }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('place' as const),
      device,
      sensor: orNull(2, fc.nat({ max: 1 })),
      asset: fc.option(asset, { freq: 5 }),
      since,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('move' as const), asset, parent: fc.option(asset), since }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('roll' as const),
      process: fc.nat({ max: 1 }),
      minutes: fc.nat({ max: 30 }),
      kill,
    }),
  },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Two assets of one depth, of which one has the other as a child in another hour, get their first types at the same time. */
const CHILD_OF_ANOTHER_HOUR: Action[] = [
  { do: 'sample', sensor: 2, hour: 0, minute: 0, value: 0 },
  { do: 'place', device: 0, sensor: null, asset: null, since: 1 },
  { do: 'sample', sensor: 4, hour: 1, minute: 0, value: 0 },
  { do: 'move', asset: 3, parent: 0, since: 2 },
  { do: 'place', device: 2, sensor: null, asset: 3, since: 1 },
  { do: 'roll', process: 0, minutes: 0, kill: null },
];

/** Runs random histories. @returns how the roll-ups of the smallest history differ from brute force; empty: they are equal in all */
export async function checkRollUps(runs: number): Promise<string[]> {
  const property = fc.asyncProperty(
    fc.array(action, { minLength: 8, maxLength: 24, size: 'max' }),
    async (actions) => (await run(actions)).length === 0,
  );
  // The smallest history matters only if the code is wrong.
  const result = await fc.check(property, {
    numRuns: runs,
    examples: [[CHILD_OF_ANOTHER_HOUR]],
  });
  if (!result.failed) return [];
  const [actions = []] = result.counterexample ?? [];
  return [`seed ${result.seed}: ${fc.stringify(actions)}`, ...(await run(actions))];
}

async function run(actions: Action[]): Promise<string[]> {
  const world = await createWorld(DEVICES);
  world.clock.now = FIRST_HOUR + (HOURS.length + 2) * HOUR_MS;
  const history = new History(world);
  history.begin();
  for (const next of actions) await history.act(next);
  await history.end();
  return differences(await storedRollUps(world, HOURS), trueRollUps(world, HOURS));
}

class History {
  #world;
  #processes;
  /** hours of devices with samples that were not packed and reported, as `packed_until` and marks of late hours keep them */
  #unpacked: Set<string> = new Set();

  constructor(world: World) {
    this.#world = world;
    this.#processes = [world.createProcess(), world.createProcess()];
  }

  /** A tree in which every device has a place, so that most actions change something. */
  begin() {
    const parents = [null, 0, 0, 1, 2];
    this.#world.edit(
      LEVELS.map((level, index) => {
        const parent = parents[index] ?? null;
        const asset = id(index);
        return {
          do: 'create',
          asset,
          name: String(index),
          level,
          parent: parent === null ? null : id(parent),
        };
      }),
    );
    for (const [index, place] of [3, 1, 4].entries())
      this.#world.edit(this.#changesOf({ do: 'place', device: index, sensor: null, asset: place, since: 0 }));
  }

  async act(action: Action) {
    if (action.do === 'sample') this.#sample(action);
    else if (action.do === 'pack') await this.#pack(action);
    else if (action.do === 'roll') await this.#roll(action);
    else this.#world.edit(this.#changesOf(action));
  }

  /** Nothing is killed any more. */
  async end() {
    for (const index of HOURS.keys()) await this.#pack({ hour: index, process: 0, kill: null }, true);
    await this.#roll({ process: 1, minutes: 30, kill: null });
  }

  #sample({ sensor: index, hour: number, minute, value }: Extract<Action, { do: 'sample' }>) {
    const found = this.#world.sensors[index];
    if (!found) return;
    found.samples.set(Number(HOURS[number]) + minute * MINUTE_MS, value === 0 ? 0 : value);
    this.#unpacked.add(`${found.device.name} ${number}`);
  }

  /** Packs an hour of all devices, also of those that were packed before, or only what must be packed. */
  async #pack(
    { hour: number, process, kill: killed }: Omit<Extract<Action, { do: 'pack' }>, 'do'>,
    onlyDue = false,
  ) {
    for (const packed of new Set(this.#world.sensors.map((each) => each.device))) {
      if (onlyDue && !this.#unpacked.has(`${packed.name} ${number}`)) continue;
      const done = await this.#survives(process, killed, (alive) =>
        alive.pack(packed, Number(HOURS[number])),
      );
      if (!done) return;
      this.#unpacked.delete(`${packed.name} ${number}`);
    }
  }

  async #roll({ process, minutes, kill: killed }: Omit<Extract<Action, { do: 'roll' }>, 'do'>) {
    this.#world.clock.now += minutes * MINUTE_MS;
    await this.#survives(process, killed, (alive) => alive.roll());
  }

  /** @returns false: the process was killed, and another one starts */
  async #survives(
    index: number,
    killed: { after: number; unsent: boolean } | null,
    work: (process: ReturnType<World['createProcess']>) => Promise<void>,
  ): Promise<boolean> {
    const process = this.#processes[index] as ReturnType<World['createProcess']>;
    if (killed) Object.assign(process.life, { writes: killed.after, unsent: killed.unsent });
    try {
      await work(process);
      process.life.writes = Number.POSITIVE_INFINITY;
      return true;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      this.#processes[index] = this.#world.createProcess();
      return false;
    }
  }

  #changesOf(action: Extract<Action, { do: 'place' | 'move' }>): Change[] {
    const from = action.since === 0 ? 0 : Number(HOURS[action.since - 1]);
    if (action.do === 'move') {
      const { parent } = action;
      // The checks of edits refuse a parent that is not above.
      if (parent !== null && Number(RANKS[parent]) >= Number(RANKS[action.asset])) return [];
      return [
        { do: 'move', asset: id(action.asset), parent: parent === null ? null : id(parent), since: from },
      ];
    }
    const name = Object.keys(DEVICES)[action.device];
    const sensors = this.#world.sensors.filter((each) => each.device.name === name);
    const [first] = sensors;
    const single = action.sensor === null ? undefined : sensors[action.sensor];
    if (!first) return [];
    return [
      {
        do: 'place',
        device: first.device.id,
        name: first.device.name,
        ...(single && { sensor: single.sensor.id, sensor_name: single.sensor.name }),
        asset: action.asset === null ? null : id(action.asset),
        since: from,
        by: 'hand',
      },
    ];
  }
}

import { createRandom, type Random } from '../../simulator/random.ts';

export const NODES = ['node 1', 'node 2', 'node 3'];
/** The first is broker and ingest in one. The others share the messages of Mosquitto. */
export const PROCESSES = ['embedded', 'shared-1', 'shared-2'] as const;
export type Process = (typeof PROCESSES)[number];
/** The network between the first and the second. */
export const LINKS = [
  'devices and embedded',
  'devices and Mosquitto',
  'shared-1 and Mosquitto',
  'shared-2 and Mosquitto',
] as const;

type Kind = 'kill' | 'pause' | 'clock' | 'cut' | 'restart' | 'outage';

/** Durations in ms. */
export type Fault = {
  kind: Kind;
  target: string;
  /** pause before the fault */
  after: number;
  lasts: number;
  /** of a cut */
  how?: 'refuse' | 'reset' | 'silence';
  /** step of a clock */
  by?: number;
};

/** The faults of a series follow each other, and the series run at the same time. So two nodes never fail together. */
export type Plan = {
  /** Mosquitto is killed, and forgets messages. Otherwise it restarts after a clean stop, and keeps them. */
  brokerForgets: boolean;
  /** `INGEST_JOURNAL` of each process */
  journals: Record<Process, string>;
  series: Record<string, Fault[]>;
};

const AFTER_MS = { least: 500, most: 2500 };

/** A process that is paused for more than 20 s loses its journal to another one. */
const LASTS_MS: Record<Kind, { least: number; most: number }> = {
  kill: { least: 200, most: 4000 },
  pause: { least: 500, most: 26_000 },
  clock: { least: 1000, most: 8000 },
  cut: { least: 500, most: 6000 },
  restart: { least: 500, most: 4000 },
  outage: { least: 10_000, most: 12_000 },
};

/** A process whose clock differs by more than a minute waits. So steps on both sides of that limit are drawn. */
const MOST_STEP_MS = 90_000;
/** A node that is paused for longer than this is down for the others. */
const LONGEST_NODE_PAUSE_MS = 8000;

const HOW = ['refuse', 'reset', 'silence'] as const;

/**
 * Plans the faults of a drill. The seed and the number of kills determine everything.
 * @param kills each is a kill -9 of a process, a node of the database, Mosquitto or Kafka
 */
export function planFaults({ seed, kills }: { seed: number; kills: number }): Plan {
  const brokerForgets = createRandom(seed, 'broker').uniform() < 0.5;
  const journals = createRandom(seed, 'journals');
  const journal = () => String(journals.shuffled(['always', 'always', 'busy', 'never'])[0]);
  const ofNodes = Math.max(1, Math.round(kills * 0.15));
  const ofBrokers = Math.round(kills * 0.25);
  const all = (kind: Kind, targets: readonly string[]) => targets.map((target) => ({ kind, target }));
  return {
    brokerForgets,
    journals: { embedded: journal(), 'shared-1': journal(), 'shared-2': journal() },
    series: {
      database: draw(createRandom(seed, 'database'), {
        kills: ofNodes,
        victims: NODES,
        others: [...all('pause', NODES), ...all('outage', ['the database'])],
      }),
      processes: draw(createRandom(seed, 'processes'), {
        kills: kills - ofNodes - ofBrokers,
        victims: PROCESSES,
        others: [...all('pause', PROCESSES), ...all('clock', PROCESSES)],
      }),
      brokers: draw(createRandom(seed, 'brokers'), {
        kills: ofBrokers,
        victims: brokerForgets ? ['Mosquitto', 'Kafka'] : ['Kafka'],
        others: [
          ...all('cut', LINKS),
          ...all('pause', ['Mosquitto']),
          ...(brokerForgets ? [] : all('restart', ['Mosquitto'])),
        ],
      }),
    },
  };
}

/** At least one fault of two is a kill, and the victims and the other faults take turns in a random order. */
function draw(
  random: Random,
  {
    kills,
    victims,
    others,
  }: { kills: number; victims: readonly string[]; others: Array<Pick<Fault, 'kind' | 'target'>> },
): Fault[] {
  const killed = inTurn(random, victims, kills).map((target) => ({ kind: 'kill' as const, target }));
  const faults = [...killed, ...inTurn(random, others, Math.ceil(kills / 2))];
  return random.shuffled(faults).map((fault) => withTimes(random, fault));
}

function inTurn<T>(random: Random, items: readonly T[], count: number): T[] {
  const rounds = Array.from({ length: Math.ceil(count / items.length) }, () => random.shuffled(items));
  return rounds.flat().slice(0, count);
}

function withTimes(random: Random, { kind, target }: Pick<Fault, 'kind' | 'target'>): Fault {
  const { least, most } = LASTS_MS[kind];
  // Short times are more frequent than long ones.
  const share = random.uniform() ** 2;
  const longest = kind === 'pause' && NODES.includes(target) ? LONGEST_NODE_PAUSE_MS : most;
  return {
    kind,
    target,
    after: Math.round(random.between(AFTER_MS.least, AFTER_MS.most)),
    lasts: Math.round(least + (longest - least) * share),
    ...(kind === 'cut' && { how: random.shuffled(HOW)[0] }),
    ...(kind === 'clock' && { by: Math.round(random.between(-MOST_STEP_MS, MOST_STEP_MS)) }),
  };
}

export const titleOf = ({ kind, target, how, by = 0 }: Fault): string =>
  ({
    kill: `kill -9 of ${target}`,
    pause: `${target} is paused`,
    clock: `the clock of ${target} is set by ${(by / 1000).toFixed(1)} s`,
    cut: `network cut between ${target} (${how})`,
    restart: `${target} restarts after a clean stop`,
    outage: `${target} is down`,
  })[kind];

import { durationText } from '../../common/durations.ts';
import { type CommandLine, type Flag, parseFlags } from '../../common/flags.ts';
import { namedSettings } from '../../common/settings/index.ts';
import { GRAPH_SETTINGS } from '../../schema/graph.ts';
import { KAFKA_SETTINGS } from '../../schema/kafka/index.ts';
import { readFlags as readSimulatorFlags, SIMULATOR_FLAGS } from '../../simulator/flags.ts';

/** The flags of the simulator that users may set. `npm run dev` sets broker and duration, because it starts and stops all processes. */
const { broker: _broker, duration: _duration, ...FOR_SIMULATOR } = SIMULATOR_FLAGS;

const SIMULATOR = 'Flags of the simulator (npm run simulator -- --help):';

const OWN_FLAGS = {
  duration: { type: 'duration', help: 'stop everything after this time', min: 1 },
  'no-simulator': { type: 'switch', help: 'start no simulated devices' },
  'no-manual': { type: 'switch', help: 'do not build the manual, which the API serves at /docs/' },
  kafka: {
    type: 'switch',
    help: 'start a local Kafka at the port of STREAM_KAFKA, by default 9092, and stream out to it',
  },
  graph: {
    type: 'switch',
    help: 'start a local JanusGraph at the port of GRAPH_URL, by default 8182, for npm run graph',
  },
  fresh: { type: 'switch', help: "begin without data: empties DATA_DIR, never a cluster's" },
} satisfies Record<string, Flag>;

const FLAGS = {
  ...OWN_FLAGS,
  ...inGroup(FOR_SIMULATOR),
  devices: { ...FOR_SIMULATOR.devices, help: 'simulated devices; 0 starts none', min: 0, group: SIMULATOR },
  seed: { ...FOR_SIMULATOR.seed, help: 'the same seed gives the same fleet', fallback: 1, group: SIMULATOR },
} satisfies Record<string, Flag>;

function inGroup<F extends Record<string, Flag>>(flags: F): F {
  const grouped = Object.entries(flags).map(([name, flag]) => [name, { ...flag, group: SIMULATOR }]);
  return Object.fromEntries(grouped);
}

const COMMAND = 'npm run dev --';

const LINE: CommandLine<typeof FLAGS> = {
  command: COMMAND,
  help: 'Starts a local database, the API with broker and dashboard, and a simulator, until Ctrl-C.',
  examples: [
    'npm run dev',
    `${COMMAND} --devices 100 --interval 500ms --batch 5s`,
    `${COMMAND} --profile factory --faults tsbs --duration 10m`,
    `${COMMAND} --no-simulator --fresh`,
    `${COMMAND} --kafka`,
    `${COMMAND} --graph`,
  ],
  flags: FLAGS,
  settings: [
    'HTTP_PORT',
    'MQTT_PORT',
    'CQL_LOCAL_PORT',
    'DATA_DIR',
    ...namedSettings(KAFKA_SETTINGS, ['STREAM_KAFKA']),
    ...namedSettings(GRAPH_SETTINGS, ['GRAPH_URL']),
    'CQL_CONTACT_POINTS',
    'MQTT_URL',
  ],
};

export interface DevFlags {
  duration: number | undefined;
  fresh: boolean;
  kafka: boolean;
  graph: boolean;
  manual: boolean;
  /** null: the simulator does not run */
  simulator: string[] | null;
}

/** @throws `usage`, `help` */
export function readFlags(argv: string[]): DevFlags {
  const {
    duration,
    'no-simulator': alone,
    'no-manual': withoutManual,
    kafka,
    graph,
    fresh,
    ...flags
  } = parseFlags(LINE, argv);
  const simulator = alone || flags.devices === 0 ? null : wordsOf(flags);
  // Wrong combinations end here, before a database starts.
  if (simulator) readSimulatorFlags(simulator);
  return {
    duration,
    fresh: Boolean(fresh),
    kafka: Boolean(kafka),
    graph: Boolean(graph),
    manual: !withoutManual,
    simulator,
  };
}

/** Only values that differ from the defaults of the simulator. */
const wordsOf = (values: Record<string, number | string | boolean | undefined>): string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    const { type, fallback } = FOR_SIMULATOR[name as keyof typeof FOR_SIMULATOR] as Flag;
    if (value === undefined || value === fallback) return [];
    return [`--${name}`, type === 'duration' ? durationText(Number(value)) : String(value)];
  });

/** @param options `duration`: ms */
export const simulatorArguments = (
  simulator: string[],
  { broker, duration }: { broker: string; duration?: number | undefined },
): string[] => [
  '--broker',
  broker,
  ...simulator,
  ...(duration === undefined ? [] : ['--duration', `${duration}ms`]),
];

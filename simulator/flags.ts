import { basename, extname } from 'node:path';
import { type CommandLine, type Flag, parseFlags, usageError } from '../common/flags.ts';
import { isName } from '../schema/ids.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../schema/rules.ts';
import { type FaultRates, parseFaults } from './faults/rates.ts';
import { deviceName } from './fleet/devices.ts';
import { sampleIntervalMs, samplesPerSensor } from './fleet/pacer.ts';
import { ENCODERS } from './payloads/index.ts';
import { PROFILES, type Profile } from './profiles/index.ts';

/** With more devices, they share connections. */
const MOST_OWN_CONNECTIONS = 1000;

/** One connection for each `devices` devices, and at least `leastConnections`. */
const SHARED = { devices: 1000, leastConnections: 16 };

export const SIMULATOR_FLAGS = {
  broker: { type: 'text', help: 'mqtt://host:port; default from MQTT_URL, or MQTT_HOST and MQTT_PORT' },
  credentials: {
    type: 'text',
    help: "file of the devices' own accounts and secrets, as npm run credentials -- issue … --file writes it",
  },
  profile: { type: 'text', help: 'collar (1 to 4 sensors) or factory (machines of 50)', fallback: 'collar' },
  devices: { type: 'integer', help: 'simulated devices', fallback: 25, min: 1 },
  sensors: { type: 'integer', help: 'sensors of each device; default as the profile has it', min: 1 },
  connections: {
    type: 'integer',
    help: 'that the devices share as behind gateways; default one each, above 1,000 devices one for 1,000',
    min: 1,
  },
  interval: { type: 'duration', help: 'between two measurements', fallback: 1000, min: 1 },
  batch: { type: 'duration', help: 'between two messages of a device', fallback: 10_000, min: 1 },
  rate: {
    type: 'number',
    help: 'messages a second in all, whatever is acknowledged; each carries batch/interval samples a sensor',
  },
  duration: { type: 'duration', help: 'how long to go on; default until stopped' },
  seed: { type: 'integer', help: 'makes names, values and faults repeatable; default random', min: 0 },
  faults: {
    type: 'text',
    help: 'shares of what goes wrong: late=0.05,poison=0.001 ..., or tsbs; episodes=3 for alarms',
  },
  format: { type: 'text', help: 'senml or json', fallback: 'senml' },
  buffer: {
    type: 'integer',
    help: 'most unsent batches kept per device; 256 MiB in all',
    fallback: 360,
    min: 1,
  },
  ledger: { type: 'text', help: 'file that notes each sample sent and acknowledged, for npm run compare' },
  report: { type: 'text', help: 'file for the figures at the end, as JSON' },
  replay: { type: 'text', help: 'CSV file to publish instead, as one device' },
  speed: { type: 'number', help: 'of the replay: 60 makes an hour a minute', fallback: 1 },
  device: {
    type: 'text',
    help: "name of the replay's device, default the file's; or of simulated ones, before their number",
  },
  rows: { type: 'integer', help: 'rows of the file in one message', fallback: 60, min: 1 },
} satisfies Record<string, Flag>;

const COMMAND = 'npm run simulator --';

const LINE: CommandLine<typeof SIMULATOR_FLAGS> = {
  command: COMMAND,
  help: 'Publishes the measurements of simulated devices, or of a CSV file, to a broker.',
  examples: [
    `${COMMAND} --devices 100 --interval 500ms --batch 5s`,
    `${COMMAND} --broker mqtt://broker.example:1883 --rate 2000 --duration 1m`,
    `${COMMAND} --replay measurements.csv --speed 60`,
  ],
  flags: SIMULATOR_FLAGS,
  settings: [
    'MQTT_URL',
    'MQTT_HOST',
    'MQTT_PORT',
    'MQTT_USERNAME',
    'MQTT_PASSWORD',
    'MQTT_TLS_CA',
    'DATA_DIR',
  ],
};

/** @param argv without node and script @throws `usage`: the message lists every problem */
export function readFlags(argv: string[]): Flags {
  const flags = parseFlags(LINE, argv);
  const faults = flags.faults === undefined ? undefined : parseFaults(flags.faults);
  const read = {
    ...flags,
    faults,
    connections: flags.connections ?? connectionsFor(flags),
  } as Flags;
  const problems = problemsOf(read);
  if (problems.length > 0) throw usageError(COMMAND, problems);
  return read;
}

const connectionsFor = ({ devices, credentials }: { devices: number; credentials?: string | undefined }) =>
  devices <= MOST_OWN_CONNECTIONS || credentials !== undefined
    ? devices
    : Math.max(SHARED.leastConnections, Math.ceil(devices / SHARED.devices));

/** durations are in ms */
export interface Flags {
  broker?: string;
  /** path of a file */
  credentials?: string;
  profile: string;
  devices: number;
  sensors?: number;
  connections: number;
  interval: number;
  batch: number;
  /** messages a second */
  rate?: number;
  duration?: number;
  seed?: number;
  faults?: FaultRates;
  format: 'senml' | 'json';
  buffer: number;
  ledger?: string;
  report?: string;
  replay?: string;
  speed: number;
  device?: string;
  rows: number;
}

/** Flags may contradict each other. @returns a sentence for each problem */
function problemsOf(flags: Flags): string[] {
  const problems = [];
  if (flags.broker !== undefined && !isBrokerUrl(flags.broker)) {
    problems.push('--broker is mqtt://host:port or mqtts://host:port');
  }
  if (!Object.hasOwn(PROFILES, flags.profile)) {
    problems.push(`--profile is ${Object.keys(PROFILES).join(' or ')}`);
  } else if (mostSamples(flags) > MAX_SAMPLES_PER_MESSAGE) {
    problems.push(
      `--batch, --interval and --sensors make more than ${MAX_SAMPLES_PER_MESSAGE} samples a message`,
    );
  }
  if (!Object.hasOwn(ENCODERS, flags.format)) problems.push('--format is senml or json');
  if (!(flags.speed > 0)) problems.push('--speed is above 0');
  if (flags.batch < flags.interval) problems.push('--batch is at least --interval');
  if (flags.rate !== undefined) problems.push(...problemsOfRate(flags, flags.rate));
  if (flags.credentials !== undefined && flags.connections < flags.devices) {
    problems.push(
      '--connections is --devices where --credentials are: each device has an account of its own',
    );
  }
  const { device, replay } = flags;
  const name = device === undefined && replay === undefined ? null : longestName(flags);
  if (name !== null && (!isName(name) || /[/+#]/.test(name))) {
    const rule = '--device is 1 to 128 bytes, the number included, without / + # and control characters';
    problems.push(device === undefined ? `${rule}; the name of the file is no such name` : rule);
  }
  return problems;
}

const longestName = ({ device, devices, replay }: Flags) =>
  replay === undefined ? deviceName(String(device), devices) : replayedDevice({ device, replay });

/** Default: the name of the file. */
export const replayedDevice = ({ device, replay }: { device?: string | undefined; replay: string }): string =>
  device ?? basename(replay, extname(replay));

function problemsOfRate({ devices, replay, ...flags }: Flags, rate: number) {
  if (!(rate > 0)) return ['--rate is above 0'];
  if (replay !== undefined)
    return ['--rate is for simulated devices; a replay is as fast as it is acknowledged'];
  const samples = samplesPerSensor(flags);
  if (sampleIntervalMs({ devices, perSecond: rate, samples }) >= 1) return [];
  const needed = Math.ceil((rate * samples) / 1000);
  return [
    `--rate ${rate} with ${samples} samples a sensor and message needs ${needed} --devices: a sensor has one sample a ms at most`,
  ];
}

/** The largest possible number of samples in one message. */
function mostSamples({ profile, sensors, faults, ...flags }: Flags): number {
  const { most } = (PROFILES[profile] as Profile).sensors;
  // A batch with the fault `disorder` leaves samples over. They are sent with the next batch, which may then hold twice as many.
  const share = faults && faults.disorder > 0 ? 2 : 1;
  return samplesPerSensor(flags) * (sensors ?? most) * share;
}

const isBrokerUrl = (text: string) => /^mqtts?:\/\/[^\s/]+\/?$/.test(text) && URL.canParse(text);

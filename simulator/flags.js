import { MillraceError } from '../common/errors.js';
import { parseFlags } from '../common/flags.js';
import { isName } from '../schema/ids.js';
import { MAX_SAMPLES_PER_MESSAGE } from '../schema/rules.js';
import { ENCODERS } from './payloads/index.js';

/** @satisfies {Record<string, import('../common/flags.js').Flag>} */
const FLAGS = {
  broker: { type: 'text', help: 'mqtt://host:port; default from MQTT_URL, or MQTT_HOST and MQTT_PORT' },
  devices: { type: 'integer', help: 'simulated devices', fallback: 25, min: 1 },
  sensors: { type: 'integer', help: 'sensors of each device; default 1 to 4', min: 1 },
  interval: { type: 'duration', help: 'between two measurements', fallback: 1000, min: 1 },
  batch: { type: 'duration', help: 'between two messages of a device', fallback: 10_000, min: 1 },
  duration: { type: 'duration', help: 'how long to go on; default until stopped' },
  seed: { type: 'integer', help: 'makes names and values repeatable; default random', min: 0 },
  format: { type: 'text', help: 'senml or json', fallback: 'senml' },
  buffer: { type: 'integer', help: 'most unsent batches kept per device', fallback: 360, min: 1 },
  replay: { type: 'text', help: 'CSV file to publish instead, as one device' },
  speed: { type: 'number', help: 'of the replay: 60 makes an hour a minute', fallback: 1 },
  device: { type: 'text', help: "name of the replay's device; default the file's" },
  rows: { type: 'integer', help: 'rows of the file in one message', fallback: 60, min: 1 },
};

const COMMAND = 'npm run simulator --';

/**
 * @param {string[]} argv without node and script
 * @throws {MillraceError} `usage`
 */
export function readFlags(argv) {
  const flags = parseFlags(COMMAND, FLAGS, argv);
  const problems = [];
  if (flags.broker !== undefined && !isBrokerUrl(flags.broker)) {
    problems.push('--broker is mqtt://host:port or mqtts://host:port');
  }
  if (!Object.hasOwn(ENCODERS, flags.format)) problems.push('--format is senml or json');
  if (!(flags.speed > 0)) problems.push('--speed is above 0');
  if (flags.batch < flags.interval) problems.push('--batch is at least --interval');
  if (Math.round(flags.batch / flags.interval) * (flags.sensors ?? 4) > MAX_SAMPLES_PER_MESSAGE) {
    problems.push(
      `--batch, --interval and --sensors make more than ${MAX_SAMPLES_PER_MESSAGE} samples a message`,
    );
  }
  if (flags.device !== undefined && (!isName(flags.device) || /[/+#]/.test(flags.device))) {
    problems.push('--device is 1 to 128 bytes without / + # and control characters');
  }
  if (problems.length > 0) throw new MillraceError('usage', problems.join('\n'));
  return /** @type {Flags} */ (flags);
}

/** @param {string} text */
const isBrokerUrl = (text) => /^mqtts?:\/\/[^\s/]+\/?$/.test(text) && URL.canParse(text);

/**
 * @typedef {object} Flags durations in ms
 * @property {string} [broker]
 * @property {number} devices
 * @property {number} [sensors]
 * @property {number} interval
 * @property {number} batch
 * @property {number} [duration]
 * @property {number} [seed]
 * @property {'senml' | 'json'} format
 * @property {number} buffer
 * @property {string} [replay]
 * @property {number} speed
 * @property {string} [device]
 * @property {number} rows
 */

import { isName } from '../schema/ids.js';
import { MAX_SAMPLES_PER_MESSAGE } from '../schema/rules.js';
import { deviceName } from './fleet/herd.js';
import { sampleIntervalMs, samplesPerSensor } from './fleet/open-schedule.js';
import { ENCODERS } from './payloads/index.js';
import { PROFILES } from './profiles/index.js';

/** @import { Flags } from './flags.js' */
/** @import { Profile } from './profiles/index.js' */

/**
 * What is right by itself and wrong together, or unknown.
 *
 * @param {Flags} flags
 * @returns {string[]} a sentence for each
 */
export function problemsOf(flags) {
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
  if (flags.device !== undefined && (!isName(longestName(flags)) || /[/+#]/.test(flags.device))) {
    problems.push('--device is 1 to 128 bytes, the number included, without / + # and control characters');
  }
  return problems;
}

/** @param {Flags} flags */
const longestName = ({ device, devices, replay }) =>
  replay === undefined ? deviceName(String(device), devices) : String(device);

/** @param {Flags} flags @param {number} rate messages a second */
function problemsOfRate({ devices, replay, ...flags }, rate) {
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

/** @param {Flags} flags @returns {number} in one message */
function mostSamples({ profile, sensors, faults, ...flags }) {
  const { most } = /** @type {Profile} */ (PROFILES[profile]).sensors;
  // What a disorderly batch leaves over goes out with the next.
  const share = faults && faults.disorder > 0 ? 2 : 1;
  return samplesPerSensor(flags) * (sensors ?? most) * share;
}

/** @param {string} text */
const isBrokerUrl = (text) => /^mqtts?:\/\/[^\s/]+\/?$/.test(text) && URL.canParse(text);

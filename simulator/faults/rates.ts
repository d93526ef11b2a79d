import { MillraceError } from '../../common/errors.ts';

/** Shares from 0 to 1; only `episodes` is a number. */
export interface FaultRates {
  /** samples that are left out */
  missing: number;
  /** batches that are left out */
  gap: number;
  /** samples that are 0 instead of what was measured */
  zero: number;
  /** batches that are sent after one to three newer ones of their device */
  late: number;
  /** batches whose samples are shuffled; half of the samples wait for the next batch of the device */
  disorder: number;
  /** messages that are sent twice */
  duplicate: number;
  /** devices whose clock is wrong by up to four minutes, which the API accepts by default */
  skew: number;
  /** number of episodes of each sensor, in which its value exceeds its normal range */
  episodes: number;
  /** messages with one unusable measurement, or messages that are followed by a completely unusable message */
  poison: number;
}

const NONE: FaultRates = {
  missing: 0,
  gap: 0,
  zero: 0,
  late: 0,
  disorder: 0,
  duplicate: 0,
  skew: 0,
  poison: 0,
  episodes: 0,
};

const MAX_EPISODES = 10_000;

/** `tsbs`: the trucks in the IoT use case of the Time Series Benchmark Suite. */
export const PRESETS: Record<string, FaultRates> = {
  tsbs: { ...NONE, missing: 0.1, gap: 0.01, zero: 0.1, late: 0.05, disorder: 0.3 },
};

/**
 * @param text rates such as `late=0.05,poison=0.001`, a preset, or a preset with changes: `tsbs,poison=0.01`
 * @throws `usage`: the message lists every problem
 */
export function parseFaults(text: string): FaultRates {
  const rates = { ...NONE };
  const problems = [];
  for (const part of text.split(',')) {
    const [name = '', value] = part.split('=');
    const rate = Number(value);
    if (value === undefined && Object.hasOwn(PRESETS, name)) Object.assign(rates, PRESETS[name]);
    else if (!Object.hasOwn(NONE, name)) problems.push(`--faults does not know "${name}"`);
    else if (name === 'episodes') {
      if (value && Number.isInteger(rate) && rate >= 0 && rate <= MAX_EPISODES) rates.episodes = rate;
      else problems.push(`--faults episodes is a whole number from 0 to ${MAX_EPISODES}`);
    } else if (!value || !(rate >= 0 && rate <= 1)) problems.push(`--faults ${name} is from 0 to 1`);
    else rates[name as keyof FaultRates] = rate;
  }
  if (problems.length > 0) {
    const known = [...Object.keys(PRESETS), ...Object.keys(NONE).map((name) => `${name}=`)].join(' ');
    throw new MillraceError('usage', [...problems, `There are: ${known}`].join('\n'));
  }
  return rates;
}

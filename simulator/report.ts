/** @import { Latency, Period, Snapshot, Totals } from './meter.js' */

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** @param {number} value */
export const shown = (value) => (Math.abs(value) < 100 ? tenths : whole).format(value);

/**
 * @param {string} subject connected devices, such as `25/25 devices`
 * @param {Snapshot} now
 */
export function statusText(subject, { perSecond, acknowledged, waiting, dropped, latency }) {
  const parts = [
    subject,
    `${shown(perSecond)} samples/s`,
    `${whole.format(acknowledged)} acknowledged`,
    `${whole.format(waiting)} waiting`,
    `${whole.format(dropped)} dropped`,
  ];
  const { p50, p99 } = latency;
  if (p50 !== null && p99 !== null) parts.push(`ack p50 ${whole.format(p50)} p99 ${whole.format(p99)} ms`);
  return parts.join(' · ');
}

/** @param {Totals} end */
export function summaryText({ seconds, made, acknowledged, dropped }) {
  const left = made.samples - acknowledged.samples - dropped.samples;
  return (
    `${whole.format(made.samples)} samples made, ${whole.format(acknowledged.samples)} acknowledged, ` +
    `${whole.format(dropped.samples)} dropped, ${whole.format(left)} left unacknowledged ` +
    `in ${tenths.format(seconds)} s: ${shown(acknowledged.samples / seconds)} samples/s`
  );
}

/** @param {Period} period */
export const periodText = ({ seconds, messages, samples, latency }) =>
  `${shown(messages / seconds)} messages/s, ${shown(samples / seconds)} samples/s acknowledged: ${figures(latency)}`;

/**
 * @param {Latency} latency
 * @param {string} from start of each latency, such as `its sending`
 */
export const latencyText = (latency, from) =>
  `${whole.format(latency.count)} messages acknowledged: ${figures(latency)}, each from ${from}`;

/** @param {Latency} latency */
const figures = ({ p50, p90, p99, p999, max, mean }) =>
  Object.entries({ p50, p90, p99, 'p99.9': p999, max, mean })
    .map(([name, ms]) => `${name} ${ms === null ? '-' : shown(ms)}`)
    .join(' ')
    .concat(' ms');

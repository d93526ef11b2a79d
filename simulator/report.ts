import type { Latency, Period, Snapshot, Totals } from './meter.ts';

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

export const shown = (value: number) => (Math.abs(value) < 100 ? tenths : whole).format(value);

/** @param subject connected devices, such as `25/25 devices` */
export function statusText(
  subject: string,
  { perSecond, acknowledged, waiting, dropped, latency }: Snapshot,
) {
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

export function summaryText({ seconds, made, acknowledged, dropped }: Totals) {
  const left = made.samples - acknowledged.samples - dropped.samples;
  return (
    `The devices measured ${whole.format(made.samples)} samples: ${whole.format(acknowledged.samples)} acknowledged, ` +
    `${whole.format(dropped.samples)} dropped, ${whole.format(left)} left unacknowledged ` +
    `in ${tenths.format(seconds)} s: ${shown(acknowledged.samples / seconds)} samples/s`
  );
}

export const periodText = ({ seconds, messages, samples, latency }: Period) =>
  `${shown(messages / seconds)} messages/s, ${shown(samples / seconds)} samples/s acknowledged: ${figures(latency)}`;

/** @param from start of each latency, such as `its sending` */
export const latencyText = (latency: Latency, from: string) =>
  `${whole.format(latency.count)} messages acknowledged: ${figures(latency)}, each from ${from}`;

const figures = ({ p50, p90, p99, p999, max, mean }: Latency) =>
  Object.entries({ p50, p90, p99, 'p99.9': p999, max, mean })
    .map(([name, ms]) => `${name} ${ms === null ? '-' : shown(ms)}`)
    .join(' ')
    .concat(' ms');

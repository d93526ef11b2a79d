const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** @param {number} value */
export const shown = (value) => (Math.abs(value) < 100 ? tenths : whole).format(value);

/**
 * @param {string} subject what runs, such as `25/25 devices`
 * @param {import('./meter.js').Snapshot} now
 */
export function statusText(subject, { perSecond, acknowledged, waiting, dropped, p50, p99 }) {
  const parts = [
    subject,
    `${shown(perSecond)} samples/s`,
    `${whole.format(acknowledged)} acknowledged`,
    `${whole.format(waiting)} waiting`,
    `${whole.format(dropped)} dropped`,
  ];
  if (p50 !== null && p99 !== null) parts.push(`ack p50 ${whole.format(p50)} p99 ${whole.format(p99)} ms`);
  return parts.join(' · ');
}

/** @param {import('./meter.js').Snapshot} end */
export function summaryText({ made, acknowledged, dropped, seconds }) {
  const lost = made - acknowledged - dropped;
  return (
    `${whole.format(made)} samples made, ${whole.format(acknowledged)} acknowledged, ` +
    `${whole.format(dropped)} dropped, ${whole.format(lost)} left unacknowledged ` +
    `in ${tenths.format(seconds)} s: ${shown(acknowledged / seconds)} samples/s`
  );
}

import { formatTime } from '../../common/times.js';
import { KINDS } from './findings.js';

/** @import { Progress, Result } from './compare.js' */
/** @import { Kind } from './findings.js' */

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** @param {Progress} progress */
export const progressText = ({ messages, devices, acknowledged, stored, problems }) =>
  devices === 0
    ? `Reading the ledger: ${whole.format(messages)} messages`
    : `Compared ${whole.format(devices)} devices: ${whole.format(acknowledged)} samples acknowledged, ` +
      `${whole.format(stored)} stored, ${whole.format(problems)} problems`;

/** @param {Result} result @returns {string[]} for a person, the worst last */
export function reportLines({ agree, messages, devices, acknowledged, stored, range, found }) {
  const lines = [
    `${whole.format(messages)} messages of ${whole.format(devices)} devices: ` +
      `${whole.format(acknowledged)} samples acknowledged, ${whole.format(stored)} stored`,
  ];
  if (Number.isFinite(range.from))
    lines.push(`From ${formatTime(range.from)} to before ${formatTime(range.to)}`);
  if (agree)
    lines.push('They agree: nothing is missing, unknown or different, and every latest value is right.');
  for (const [kind, { count, first }] of Object.entries(found)) {
    if (count === 0) continue;
    lines.push(`${whole.format(count)} ${kind}: ${KINDS[/** @type {Kind} */ (kind)]}`);
    for (const { device, sensor, ts, message } of first) {
      lines.push(`  ${device}/${sensor}${ts === null ? '' : ` ${formatTime(ts)}`}: ${message}`);
    }
    if (count > first.length) lines.push(`  and ${whole.format(count - first.length)} more`);
  }
  return lines;
}

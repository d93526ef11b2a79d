import { formatTime } from '../../common/times.js';

/** @import { Progress, Result } from './compare.js' */

/** Maximum number of findings of a kind that are listed. Further findings are only counted. */
const NAMED = 10;

/**
 * The kinds of differences with their meaning.
 *
 * @satisfies {Record<string, string>}
 */
const KINDS = {
  missing: 'acknowledged, and not stored',
  differing: 'stored with a value that was not sent, or that an acknowledged one should have replaced',
  unknown: 'stored, and never sent by this ledger: another simulator may use the same names (--device)',
  disorder: 'sensors whose records are not in the order of their messages',
  latest: 'sensors whose latest value is not the newest of what is stored',
};

/** @typedef {keyof typeof KINDS} Kind */

/** @typedef {{ device: string, sensor: string, ts: number | null, message: string }} Finding `ts` in epoch ms */

/** Counts the differences, and keeps the first differences of each kind. */
export class Findings {
  /** @type {Record<Kind, { count: number, first: Finding[] }>} */
  found = { missing: none(), differing: none(), unknown: none(), disorder: none(), latest: none() };

  /** Counts a finding. @param {Kind} kind @param {Finding} finding */
  add(kind, finding) {
    const { first } = this.found[kind];
    this.found[kind].count += 1;
    if (first.length < NAMED) first.push(finding);
  }

  /** @returns {number} number of findings of all kinds */
  total() {
    return Object.values(this.found).reduce((sum, { count }) => sum + count, 0);
  }
}

/** @returns {{ count: number, first: Finding[] }} */
const none = () => ({ count: 0, first: [] });

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** @param {Progress} progress */
export const progressText = ({ messages, devices, acknowledged, stored, problems }) =>
  devices === 0
    ? `Reading the ledger: ${whole.format(messages)} messages`
    : `Compared ${whole.format(devices)} devices: ${whole.format(acknowledged)} samples acknowledged, ` +
      `${whole.format(stored)} stored, ${whole.format(problems)} problems`;

/** The additional sentence when ledger and store agree, by the store that was compared. */
export const ALSO = { database: 'every latest value is right', kafka: 'every record is in its place' };

/** @param {Result} result @param {string} [also] @returns {string[]} lines for a person, with the worst finding last */
export function reportLines(
  { agree, messages, devices, acknowledged, stored, range, found },
  also = ALSO.database,
) {
  const lines = [
    `${whole.format(messages)} messages of ${whole.format(devices)} devices: ` +
      `${whole.format(acknowledged)} samples acknowledged, ${whole.format(stored)} stored`,
  ];
  if (Number.isFinite(range.from))
    lines.push(`From ${formatTime(range.from)} to before ${formatTime(range.to)}`);
  if (agree) lines.push(`They agree: nothing is missing, unknown or different, and ${also}.`);
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

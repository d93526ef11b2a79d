import { formatTime } from '../../common/times.ts';
import type { Progress, Result } from './compare.ts';

/** Findings of a kind that are listed. Further findings are only counted. */
const NAMED = 10;

const KINDS = {
  missing: 'acknowledged, and not stored',
  differing: 'stored with a value that was not sent, or that an acknowledged one should have replaced',
  unknown: 'stored, and never sent by this ledger: another simulator may use the same names (--device)',
  disorder: 'sensors whose records are not in the order of their messages',
  latest: 'sensors whose latest value is not the newest of what is stored',
} satisfies Record<string, string>;

export type Kind = keyof typeof KINDS;

/** `ts` in epoch ms */
type Finding = { device: string; sensor: string; ts: number | null; message: string };

/** Counts all differences, and keeps the first differences of each kind. */
export class Findings {
  found: Record<Kind, { count: number; first: Finding[] }> = {
    missing: none(),
    differing: none(),
    unknown: none(),
    disorder: none(),
    latest: none(),
  };

  add(kind: Kind, finding: Finding) {
    const { first } = this.found[kind];
    this.found[kind].count += 1;
    if (first.length < NAMED) first.push(finding);
  }

  total(): number {
    return Object.values(this.found).reduce((sum, { count }) => sum + count, 0);
  }
}

const none = (): { count: number; first: Finding[] } => ({ count: 0, first: [] });

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export const progressText = ({ messages, devices, acknowledged, stored, problems }: Progress) =>
  devices === 0
    ? `Reading the ledger: ${whole.format(messages)} messages`
    : `Compared ${whole.format(devices)} devices: ${whole.format(acknowledged)} samples acknowledged, ` +
      `${whole.format(stored)} stored, ${whole.format(problems)} problems`;

/** Printed when ledger and store agree, by the store that was compared. */
export const ALSO = { database: 'every latest value is right', kafka: 'every record is in its place' };

export function reportLines(
  { agree, messages, devices, acknowledged, stored, range, found }: Result,
  also: string = ALSO.database,
): string[] {
  const lines = [
    `${whole.format(messages)} messages of ${whole.format(devices)} devices: ` +
      `${whole.format(acknowledged)} samples acknowledged, ${whole.format(stored)} stored`,
  ];
  if (Number.isFinite(range.from))
    lines.push(`From ${formatTime(range.from)} to before ${formatTime(range.to)}`);
  if (agree) lines.push(`They agree: nothing is missing, unknown or different, and ${also}.`);
  for (const [kind, { count, first }] of Object.entries(found)) {
    if (count === 0) continue;
    lines.push(`${whole.format(count)} ${kind}: ${KINDS[kind as Kind]}`);
    for (const { device, sensor, ts, message } of first) {
      lines.push(`  ${device}/${sensor}${ts === null ? '' : ` ${formatTime(ts)}`}: ${message}`);
    }
    if (count > first.length) lines.push(`  and ${whole.format(count - first.length)} more`);
  }
  return lines;
}

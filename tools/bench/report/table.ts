import { MAX_STEAL } from '../measure/rounds.ts';

export type Table = { head: string[]; rows: string[][] };

/** The first column is left-aligned. All other columns hold figures and are right-aligned. */
export function textTable(head: string[], rows: string[][]) {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: string[]) =>
    widths
      .map((width, column) => row[column]?.[column === 0 ? 'padEnd' : 'padStart'](width) ?? '')
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

/** Three significant digits, such as `1.28`, `12.8`, `128`, `1280`. */
export function figure(number: number): string {
  if (!Number.isFinite(number)) return '-';
  if (number === 0) return '0';
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number))));
  return number.toFixed(decimals);
}

export const percent = (part: number): string => `${(part * 100).toFixed(1)} %`;

/** The maximum over the runs that the table shows, such as `0.2 %`, `0.4 %, 1 repeated`, `17.0 %, 2 repeated, not quieter`. */
export function stealOf(rounds: Array<{ steal: number; repeats: number }>): string {
  const most = Math.max(...rounds.map(({ steal }) => steal));
  const repeats = rounds.reduce((sum, round) => sum + round.repeats, 0);
  return [
    percent(most),
    ...(repeats > 0 ? [`${repeats} repeated`] : []),
    ...(most > MAX_STEAL ? ['not quieter'] : []),
  ].join(', ');
}

/** The maximum over the runs that the table shows. */
export const othersOf = (rounds: Array<{ others: number }>): string =>
  percent(Math.max(...rounds.map(({ others }) => others)));

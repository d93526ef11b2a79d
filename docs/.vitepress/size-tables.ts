import { bytesText, countText, type Fleet, partitionsOf, tablesOf } from '../../schema/sizes.ts';
import { CONSTANTS } from '../../tools/sizing/formula.ts';

/** The first column is left-aligned. All other columns hold figures and are right-aligned. */
export function markdownTable(head: string[], rows: string[][]): string {
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map((_, column) => (column ? '---:' : '---'))), ...rows.map(row)].join('\n');
}

const FLEETS = { '1 thousand': 1e3, '1 million': 1e6, '1 billion': 1e9 };

/** Ten sensors for each device, a message each minute, and the default retention. */
const DEFAULTS = { sensorsPerDevice: 10, batchMs: 60_000, batchDays: 30, historyDays: 365 };

const LOADS = { 'at 1 Hz': 1000, 'a sample a minute': 60_000 };

const fleet = (sensors: number, intervalMs: number): Fleet => ({ ...DEFAULTS, sensors, intervalMs });

const each = (figure: (sensors: number) => string) => Object.values(FLEETS).map(figure);

/** @returns rows and bytes of all tables, in Markdown */
export function tablesTable(): string {
  const lines = Object.entries(LOADS).flatMap(([load, intervalMs]) =>
    (['message', 'history'] as const).map((table) => line(table, `, ${load}`, intervalMs)),
  );
  const others = ['history_stat', 'sensor', 'latest', 'device', 'indexes'] as const;
  return markdownTable(
    ['rows, bytes', ...Object.keys(FLEETS)],
    [...lines, ...others.map((table) => line(table, '', 1000))],
  );
}

const line = (table: keyof ReturnType<typeof tablesOf>, load: string, intervalMs: number) => [
  `${table === 'indexes' ? 'the three indexes' : `\`${table}\``}${load}`,
  ...each((sensors) => {
    const { rows, bytes } = tablesOf(fleet(sensors, intervalMs))[table];
    return `${countText(rows)}, ${bytesText(bytes)}`;
  }),
];

/** @returns sizes of one partition of each table, in Markdown */
export const partitionsTable = (): string =>
  markdownTable(
    ['a partition', 'rows', 'bytes'],
    Object.entries(LOADS).flatMap(([load, intervalMs]) => {
      const { message, history, history_stat } = partitionsOf(fleet(1e6, intervalMs));
      const row = (what: string, { rows, bytes }: { rows: number; bytes: number }) => [
        what,
        rows.toLocaleString('en'),
        bytesText(bytes),
      ];
      return [
        row(`\`message\`: an hour of a device, ${load}`, message),
        row(`\`history\`: a day of a sensor, ${load}`, history),
        ...(intervalMs === 1000 ? [row('`history_stat`: a year of a sensor', history_stat)] : []),
      ];
    }),
  );

/** @returns the constants of `npm run size` with their sources, in Markdown */
export const constantsTable = (): string =>
  [
    '| constant | values | source |',
    '| --- | --- | --- |',
    ...Object.values(CONSTANTS).map(({ label, values, source }) => {
      const cell = Object.entries(values).map(([name, value]) => `${name} ${value}`);
      return `| ${label} | ${cell.join(', ')} | ${source} |`;
    }),
  ].join('\n');

import { partitionsOf, tablesOf } from '../../../schema/sizes.js';
import { markdownTable } from '../../../tools/bench/report/table.js';
import { bytesText, countText } from '../../../tools/sizing/formula.js';

/** @import { Fleet } from '../../../schema/sizes.js' */

const FLEETS = { '1 thousand': 1e3, '1 million': 1e6, '1 billion': 1e9 };

/** Ten sensors for each device, a message each minute, and the default retention. */
const DEFAULTS = { sensorsPerDevice: 10, batchMs: 60_000, batchDays: 30, historyDays: 365 };

const LOADS = { 'at 1 Hz': 1000, 'a sample a minute': 60_000 };

/** @param {number} sensors @param {number} intervalMs @returns {Fleet} */
const fleet = (sensors, intervalMs) => ({ ...DEFAULTS, sensors, intervalMs });

/** @param {(sensors: number) => string} figure */
const each = (figure) => Object.values(FLEETS).map(figure);

/** @returns {string} rows and bytes of all tables, in Markdown */
export function tablesTable() {
  const lines = Object.entries(LOADS).flatMap(([load, intervalMs]) =>
    /** @type {const} */ (['message', 'history']).map((table) => line(table, `, ${load}`, intervalMs)),
  );
  const others = /** @type {const} */ (['history_stat', 'sensor', 'latest', 'device', 'indexes']);
  return markdownTable(
    ['rows, bytes', ...Object.keys(FLEETS)],
    [...lines, ...others.map((table) => line(table, '', 1000))],
  );
}

/** @param {keyof ReturnType<typeof tablesOf>} table @param {string} load @param {number} intervalMs */
const line = (table, load, intervalMs) => [
  `${table === 'indexes' ? 'the three indexes' : `\`${table}\``}${load}`,
  ...each((sensors) => {
    const { rows, bytes } = tablesOf(fleet(sensors, intervalMs))[table];
    return `${countText(rows)}, ${bytesText(bytes)}`;
  }),
];

/** @returns {string} sizes of one partition of each table, in Markdown */
export const partitionsTable = () =>
  markdownTable(
    ['a partition', 'rows', 'bytes'],
    Object.entries(LOADS).flatMap(([load, intervalMs]) => {
      const { message, history, history_stat } = partitionsOf(fleet(1e6, intervalMs));
      const row = (
        /** @type {string} */ what,
        /** @type {{ rows: number, bytes: number }} */ { rows, bytes },
      ) => [what, rows.toLocaleString('en'), bytesText(bytes)];
      return [
        row(`\`message\`: an hour of a device, ${load}`, message),
        row(`\`history\`: a day of a sensor, ${load}`, history),
        ...(intervalMs === 1000 ? [row('`history_stat`: a year of a sensor', history_stat)] : []),
      ];
    }),
  );

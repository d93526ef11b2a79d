import { betweenMarks, markdownTable } from '../bench/report/table.js';
import { costOf, missesOf } from './costs.js';
import { curvePicture } from './curve.js';
import { installationOf } from './installation.js';
import { limitsOf } from './limits.js';
import { bytesText, countText, installationsTable, limitsTable, settingLines } from './report.js';
import { NODES, RULES } from './rules.js';
import { compressionOf } from './storage.js';

/** @import { Figures } from '../bench/documents.js' */
/** @import { Parts } from './installation.js' */
/** @import { Fleet } from './traffic.js' */

/** @typedef {{ fleet: Fleet, parts: Parts }} Plan */

const WAYS = /** @type {const} */ (['packed', 'rows']);
const PROCESSES = /** @type {const} */ (['ingest', 'database', 'broker']);

/** The picture's range of sensors, and points of a curve. */
const SENSORS = /** @type {[number, number]} */ ([1e3, 1e9]);
const NODES_SHOWN = /** @type {[number, number]} */ ([1, 1e6]);
const POINTS = 120;

/** @param {Plan} plan @param {Figures} figures @returns {Record<string, string>} what the page shows between its marks, in Markdown */
export function partsOfPage({ fleet, parts }, figures) {
  const of = (/** @type {'packed' | 'rows'} */ way) => installationOf(fleet, parts, way, figures);
  const limits = (/** @type {'packed' | 'rows'} */ way) => limitsOf(fleet, parts, way, figures);
  const table = (/** @type {{ head: string[], rows: string[][] }} */ { head, rows }) =>
    markdownTable(head, rows);
  return {
    example: table(installationsTable({ packed: of('packed'), rows: of('rows') })),
    settings: `\`\`\`sh\n${settingLines(fleet).join('\n')}\n\`\`\``,
    limits: table(limitsTable(limits('packed'), limits('rows'))),
    costs: costsTable(figures),
    compression: compressionTable(figures),
    rules: rulesTable(),
    nodes: nodesTable(),
  };
}

/** @param {Plan} plan @param {Figures} figures @returns {string} SVG: nodes against sensors */
export function picture({ fleet, parts }, figures) {
  const [least, most] = SENSORS;
  const points = (/** @type {'packed' | 'rows'} */ way) =>
    Array.from({ length: POINTS + 1 }, (_, at) => {
      const sensors = least * (most / least) ** (at / POINTS);
      return { x: sensors, y: installationOf({ ...fleet, sensors }, parts, way, figures).nodes.count };
    });
  return curvePicture({
    title:
      'Database nodes (i8g.2xlarge) by sensors at 1 Hz, a message a minute, 30 days of batches, a year of history',
    x: SENSORS,
    y: NODES_SHOWN,
    curves: [
      { name: 'packed', points: points('packed') },
      { name: 'rows', points: points('rows') },
    ],
    marks: limitsOf(fleet, parts, 'packed', figures)
      .filter(({ at }) => at >= least && at <= most)
      .map(({ at, name, kind }) => ({ x: at, label: `${name} (packed)`, isHard: kind === 'hard' })),
  });
}

/** @param {Figures} figures */
function costsTable({ throughput }) {
  const shapes = Object.keys(throughput);
  return markdownTable(
    ['CPU µs', 'a message', 'a sensor in it', 'a sample', ...shapes.map((shape) => `misses ${shape} by`)],
    WAYS.flatMap((way) =>
      PROCESSES.map((process) => {
        const { message, series, sample } = costOf(throughput, way, process);
        const misses = missesOf(throughput, way, process);
        return [
          `${way}, ${process}`,
          ...[message, series, sample].map((number) => number.toPrecision(3)),
          ...shapes.map((shape) => `${Math.round(Number(misses[shape]) * 100)} %`),
        ];
      }),
    ),
  );
}

/** @param {Figures} figures */
const compressionTable = ({ disk }) =>
  markdownTable(
    ['on disk / calculated', 'batches', 'history', 'statistics', 'rows'],
    /** @type {const} */ (['decimals', 'full']).map((signal) => {
      const { batches, history, statistics, rows } = compressionOf(disk, signal);
      return [signal, ...[batches, history, statistics, rows].map((share) => share.toPrecision(2))];
    }),
  );

const rulesTable = () =>
  markdownTable(
    ['rule', 'value', 'source'],
    Object.values(RULES).map(({ value, unit, label, source }) => [
      label,
      unit === 'bytes' ? bytesText(value) : `${countText(value)} ${unit}`,
      source,
    ]),
  );

const nodesTable = () =>
  markdownTable(
    ['type', 'vCPUs', 'disk'],
    Object.entries(NODES).map(([type, { vcpus, diskBytes }]) => [type, String(vcpus), bytesText(diskBytes)]),
  );

/**
 * @param {string} document
 * @param {Record<string, string>} parts by name
 * @returns {string} the document with each part between its marks
 * @throws {RangeError} when a mark is not there
 */
export function fillMarks(document, parts) {
  return Object.entries(parts).reduce(
    (page, [name, text]) =>
      betweenMarks(page, { begin: `<!-- size: ${name} -->`, end: `<!-- /size: ${name} -->` }, text),
    document,
  );
}

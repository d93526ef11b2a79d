import { readdirSync } from 'node:fs';

/**
 * What may import what, types in comments included. `npm run lint` checks it.
 */

/** Folders at the top, and what each may import besides itself: in all tables only what stands above it. */
const TOP = {
  // What every command needs: errors, flags, durations, settings.
  'common/': [],
  // Tables, identifiers, topics, the packed form.
  'schema/': ['common/'],
  // Takes measurements, stores them, serves them.
  'api/': ['common/', 'schema/'],
  // Knows MQTT and payloads, never CQL. Its `verify/` compares ledgers with the database.
  'simulator/': ['common/', 'schema/', 'api/store/', 'api/history/reading/', 'api/stream-out/'],
  // Starts processes, and imports no part of them but their settings and records.
  'infra/': ['common/', 'schema/', 'api/store/', 'api/observability/', 'simulator/flags.js'],
  // The benchmark measures the parts; sizing calculates with constants and prints as the benchmark does.
  'tools/': ['common/', 'schema/', 'api/', 'simulator/', 'infra/'],
  // The dashboard: runs in the browser, and imports itself alone.
  'web/': [],
};

/** Rooms of `api/`, and what each may import besides itself and the folders that `api/` may import. */
const API = {
  // CQL, sessions, retries, query rules: the only room that knows the database.
  'api/store/': [],
  // Metrics, logs, health, heartbeat, process stats: every other room reports here.
  'api/observability/': ['api/store/'],
  // Credentials, permissions, tokens, sessions, TLS, limits of connections.
  'api/access/': ['api/store/', 'api/observability/'],
  // Packing and reading: the two sides of one rule.
  'api/history/': ['api/store/', 'api/observability/'],
  // Samples of many sensors as files.
  'api/export/': ['api/store/', 'api/history/'],
  // From a message to its commit: admission, decoding, mappings, registry, handlers, dead letters.
  'api/ingest/': ['api/store/', 'api/observability/'],
  // Files of old measurements, read into ingest.
  'api/import/': ['api/ingest/'],
  // From the commit to Kafka, the same records for readers of changes, and finished days as Parquet files.
  'api/stream-out/': ['api/store/', 'api/observability/', 'api/history/', 'api/export/', 'api/ingest/'],
  // Rules, the episodes that they find in committed samples, and their delivery.
  'api/alarms/': ['api/store/', 'api/observability/', 'api/history/', 'api/ingest/'],
  // Publishes what was committed to readers.
  'api/live/': ['api/observability/', 'api/access/', 'api/ingest/'],
  // Both brokers: where messages come from, and where their acknowledgements go.
  'api/mqtt/': ['api/store/', 'api/observability/', 'api/access/', 'api/ingest/', 'api/live/'],
  // Routes, streams and exports: a client's way to every other room.
  'api/http/': [
    'api/store/',
    'api/observability/',
    'api/access/',
    'api/history/',
    'api/export/',
    'api/alarms/',
    'api/ingest/',
    'api/import/',
    'api/live/',
    'api/stream-out/',
  ],
  // The store of a process, its clock and its gauges.
  'api/database.js': ['api/store/', 'api/observability/'],
  // The composition root.
  'api/system.js': [
    'api/store/',
    'api/observability/',
    'api/access/',
    'api/history/',
    'api/alarms/',
    'api/ingest/',
    'api/stream-out/',
    'api/live/',
    'api/mqtt/',
    'api/http/',
    'api/database.js',
  ],
  // migrate, roles, drain, credentials, alarms, dead letters: each calls a room.
  'api/commands/': [
    'api/store/',
    'api/observability/',
    'api/access/',
    'api/history/',
    'api/export/',
    'api/alarms/',
    'api/ingest/',
    'api/import/',
    'api/stream-out/',
    'api/live/',
    'api/mqtt/',
    'api/database.js',
    'api/system.js',
  ],
  // The process.
  'api/index.js': ['api/observability/', 'api/commands/', 'api/system.js'],
};

/** Rooms of `tools/`, and what each may import besides itself and the folders that `tools/` may import. */
const TOOLS = {
  // Payloads, their rates, accounts, histograms.
  'tools/bench/load/': [],
  // Child processes, and how they are asked.
  'tools/bench/process/': ['tools/bench/load/'],
  // Ingest with one part of it changed.
  'tools/bench/variants/': ['tools/bench/load/', 'tools/bench/process/'],
  // The processes and the database that are measured.
  'tools/bench/environment/': ['tools/bench/load/', 'tools/bench/process/', 'tools/bench/variants/'],
  // The process that publishes.
  'tools/bench/publisher/': ['tools/bench/load/', 'tools/bench/process/', 'tools/bench/environment/'],
  // Rates, rounds, memory, CPU.
  'tools/bench/measure/': ['tools/bench/load/', 'tools/bench/environment/', 'tools/bench/publisher/'],
  // Fills a database with months.
  'tools/bench/loader/': ['tools/bench/load/', 'tools/bench/variants/'],
  // The dashboard in a browser.
  'tools/bench/dashboard/': ['tools/bench/measure/'],
  // Reads while ingest writes.
  'tools/bench/reading/': [
    'tools/bench/load/',
    'tools/bench/process/',
    'tools/bench/loader/',
    'tools/bench/measure/',
    'tools/bench/environment/',
  ],
  // Figures as tables.
  'tools/bench/report/': ['tools/bench/load/', 'tools/bench/measure/'],
  // Other databases.
  'tools/bench/peers/': [
    'tools/bench/load/',
    'tools/bench/process/',
    'tools/bench/loader/',
    'tools/bench/measure/',
    'tools/bench/publisher/',
    'tools/bench/reading/',
    'tools/bench/report/',
    'tools/bench/environment/',
  ],
};

/** What every room of `web/` may import. */
const BASE = ['web/shared', 'web/api/', 'web/state/', 'web/kit/'];

/** Rooms of `web/`, and what each may import besides itself. A view imports no other view. */
const WEB = {
  // Loose files that every room may use: formats, routes, names of states, units.
  'web/shared': [],
  // Requests to the API.
  'web/api/': [],
  // What the views show, and hooks that read it.
  'web/state/': ['web/shared', 'web/api/'],
  // Parts of several views: dialog, pager, notice, figure, value, choice, header.
  'web/kit/': ['web/shared', 'web/api/', 'web/state/'],
  'web/chart/': BASE,
  // The fleet as a wall of cells.
  'web/wall/': BASE,
  ...Object.fromEntries(
    readdirSync(new URL('web/views', import.meta.url)).map((view) => [
      `web/views/${view}/`,
      [...BASE, 'web/chart/', 'web/wall/'],
    ]),
  ),
};

/** Loose files of `web/` that every room may use. */
const SHARED = ['format', 'routes', 'states', 'units'];

/** @param {string} room @returns {string} the regular expression of its files */
function pathOf(room) {
  if (room.endsWith('/shared')) return `^web/(${SHARED.join('|')})[.]ts$`;
  return `^${room.replaceAll('.', '[.]')}`;
}

/** @param {string} room @param {string[]} allowed @param {string} [within] the rule is about files below this folder alone */
const arrowsFrom = (room, allowed, within = '') => ({
  name: `arrows of ${room}`,
  severity: 'error',
  from: { path: pathOf(room) },
  to: {
    dependencyTypesNot: ['core'],
    path: `^${within || '[^/]+/'}`,
    pathNot: [room, ...allowed].map(pathOf),
  },
});

/**
 * @param {Record<string, string[]>} table
 * @param {string} within
 * @throws {Error} when a room may import a room below it: then the table would allow a cycle
 */
const arrowsIn = (table, within) =>
  Object.entries(table).map(([room, allowed], row, rows) => {
    const above = rows.slice(0, row).map(([each]) => each);
    const wrong = allowed.find((path) => !above.some((each) => path.startsWith(each)));
    if (wrong) throw new Error(`${wrong} is not above ${room} in its table of .dependency-cruiser.js`);
    return arrowsFrom(room, allowed, within);
  });

/**
 * A room is entered by its `index.js`, or by that of a folder in it: a command that reads mappings loads no database driver. Types may come
 * from any file, because a door that hands on every type would be longer than its room. A type import is a `dynamic-import` here.
 *
 * @param {string} room
 */
const doorsFor = (room) => ({
  name: `doors for ${room}`,
  severity: 'error',
  from: { path: pathOf(room) },
  to: {
    dependencyTypesNot: ['dynamic-import'],
    path: '^api/[^/]+/',
    // Each command is a process of its own. `npm start -- --drain` starts one of them.
    pathNot: [pathOf(room), '^api/commands/', '^api/[^/]+/index[.]js$', '^api/[^/]+/[^/]+/index[.]js$'],
  },
});

export default {
  forbidden: [
    ...arrowsIn(TOP, ''),
    ...arrowsIn(API, 'api/'),
    ...arrowsIn(TOOLS, 'tools/'),
    ...arrowsIn(WEB, 'web/'),
    ...Object.keys(API).map(doorsFor),
    {
      name: 'no cycles',
      comment:
        'Files that import each other are one file, or a third is missing. A cycle of types alone is none.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['dynamic-import'] } },
    },
    {
      name: 'imports exist',
      comment: 'No file has this name.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, path: '^[.]' },
    },
  ],
  options: {
    // Packages whose `exports` are not followed: they are excluded by their names.
    exclude: { path: 'node_modules|^(@platformatic|csv-parse)/' },
    moduleSystems: ['es6'],
    // Types that comments import are read as `import()`.
    babelConfig: { fileName: '.ci/imports.js' },
  },
};

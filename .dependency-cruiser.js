/**
 * What may import what, types in comments included. `npm run lint` checks it. The arrows that were
 * there before these rules are in `.ci/known-imports.json`. That list only gets shorter.
 */

/** Folders at the top, and what each may import besides itself: in all tables only what stands above it. */
const TOP = {
  // What every command needs: errors, flags, durations, settings.
  'common/': [],
  // Tables, identifiers, the packed form.
  'schema/': ['common/'],
  // Takes measurements, stores them, serves them.
  'api/': ['common/', 'schema/'],
  // Knows MQTT and payloads, never CQL.
  'simulator/': ['common/', 'schema/'],
  // Compares ledgers with the database.
  'compare/': ['common/', 'schema/', 'simulator/ledger/', 'api/store/', 'api/reading/'],
  // Starts processes, and imports no part of them but their settings and records.
  'infra/': ['common/', 'schema/', 'api/store/', 'api/heartbeat.js'],
  // Measures the parts.
  'bench/': ['common/', 'schema/', 'api/', 'simulator/', 'infra/'],
  // Calculates with the code of other folders, and starts no process.
  'sizing/': ['common/', 'schema/', 'api/', 'simulator/', 'bench/'],
  // The dashboard: runs in the browser, and imports itself alone.
  'web/': [],
};

/** Rooms of `api/`, and what each may import besides itself and the folders that `api/` may import. */
const API = {
  // CQL, sessions, retries of the driver: the only room that knows the database.
  'api/store/': [],
  // Certificates that the process serves or trusts.
  'api/tls/': [],
  // Loose files that every room may use: logger, metrics, clock, retry, health. They become `observability/` and `store/`.
  'api/shared': ['api/store/', 'api/tls/'],
  // Accounts of devices and people, and what they may do.
  'api/credentials/': ['api/store/', 'api/tls/', 'api/shared'],
  // From a message to its acknowledgement: brokers, decoding, registry, writes.
  'api/ingest/': ['api/store/', 'api/tls/', 'api/shared', 'api/credentials/'],
  // Writes history in its packed form.
  'api/packing/': ['api/store/', 'api/shared'],
  // Reads history in both forms.
  'api/reading/': ['api/store/', 'api/shared'],
  // Publishes what was committed to readers.
  'api/live/': ['api/shared', 'api/ingest/'],
  // Routes, streams and exports: a client's way to every other room.
  'api/http/': [
    'api/store/',
    'api/tls/',
    'api/shared',
    'api/credentials/',
    'api/ingest/',
    'api/reading/',
    'api/live/',
  ],
  // Loose files that start and compose the process. Only commands import them.
  'api/process': [
    'api/store/',
    'api/tls/',
    'api/shared',
    'api/credentials/',
    'api/ingest/',
    'api/packing/',
    'api/reading/',
    'api/live/',
    'api/http/',
  ],
  // A command: replays dead letters through ingest.
  'api/dead-letters/': ['api/store/', 'api/shared', 'api/ingest/', 'api/process'],
};

/** Rooms of `bench/`, and what each may import besides itself and the folders that `bench/` may import. */
const BENCH = {
  // Payloads and their rates.
  'bench/load/': [],
  // Latencies, rates and rounds.
  'bench/measure/': ['bench/load/'],
  // The processes and the database that are measured.
  'bench/stand/': ['bench/load/', 'bench/measure/'],
  // The context of a part of the benchmark.
  'bench/shared': ['bench/stand/'],
  // Variants of ingest.
  'bench/contenders/': ['bench/load/', 'bench/measure/', 'bench/stand/'],
  // The least code that could do the same.
  'bench/leanest/': ['bench/load/', 'bench/measure/', 'bench/stand/'],
  // The process that publishes.
  'bench/publisher/': ['bench/load/', 'bench/measure/', 'bench/stand/'],
  // Fills a database with months.
  'bench/loader/': ['bench/load/', 'bench/contenders/'],
  // The dashboard in a browser.
  'bench/dashboard/': ['bench/measure/'],
  // Reads while ingest writes.
  'bench/reading/': ['bench/shared', 'bench/load/', 'bench/loader/', 'bench/measure/', 'bench/stand/'],
  // Figures as tables and charts.
  'bench/report/': ['bench/shared', 'bench/measure/'],
  // Other databases.
  'bench/peers/': [
    'bench/shared',
    'bench/load/',
    'bench/loader/',
    'bench/measure/',
    'bench/publisher/',
    'bench/reading/',
    'bench/report/',
    'bench/stand/',
  ],
};

/** Rooms of `web/`, and what each may import besides itself. */
const WEB = {
  'web/format/': [],
  // Loose files that every room may use: formats, routes, themes.
  'web/shared': ['web/format/'],
  // Requests to the API.
  'web/api/': [],
  // What the views show, and hooks that read it.
  'web/state/': ['web/shared', 'web/format/', 'web/api/'],
  'web/chart/': ['web/shared', 'web/format/', 'web/api/', 'web/state/'],
  'web/components/': ['web/shared', 'web/format/', 'web/api/', 'web/state/', 'web/chart/'],
  // The fleet as a wall of cells.
  'web/wall/': ['web/shared', 'web/format/', 'web/api/', 'web/state/', 'web/components/'],
  // Dead letters.
  'web/letters/': ['web/shared', 'web/format/', 'web/api/', 'web/state/', 'web/components/'],
  // What ingest does, drawn.
  'web/pipeline/': ['web/shared', 'web/format/', 'web/api/', 'web/state/', 'web/chart/', 'web/components/'],
  // The page that documents the API.
  'web/docs/': ['web/shared', 'web/format/', 'web/api/', 'web/state/', 'web/components/'],
};

/** Loose files that belong to the shared part of their folder. */
const SHARED = {
  'api/': [
    'broker-options',
    'connection-bounds',
    'heartbeat',
    'latency-counts',
    'log-restraint',
    'logger',
    'metrics',
    'occurrences',
    'patience',
    'pending-connections',
    'periods',
    'readiness',
    'secret',
    'trusted-clock',
    'vital-signs',
    'vitals',
  ],
  'bench/': ['context'],
  'web/': ['format', 'routes', 'theme'],
};

/** @param {string} room @returns {string} the regular expression of its files */
function pathOf(room) {
  const [, folder = '', part = ''] = /^([^/]+[/])(shared|process)$/.exec(room) ?? [];
  if (!part) return `^${room.replaceAll('.', '[.]')}`;
  const shared = `(${SHARED[/** @type {keyof SHARED} */ (folder)].join('|')})[.]js$`;
  return part === 'shared' ? `^${folder}${shared}` : `^${folder}(?!${shared})[^/]+$`;
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

export default {
  forbidden: [
    ...arrowsIn(TOP, ''),
    ...arrowsIn(API, 'api/'),
    ...arrowsIn(BENCH, 'bench/'),
    ...arrowsIn(WEB, 'web/'),
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
    exclude: { path: 'node_modules' },
    moduleSystems: ['es6'],
    // Types that comments import are read as `import()`.
    babelConfig: { fileName: '.ci/imports.js' },
  },
};

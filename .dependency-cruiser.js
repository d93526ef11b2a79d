import { readdirSync } from 'node:fs';

/**
 * The rules of imports: which file may import which other file. They include imports of types in comments. `npm run lint` checks them.
 */

/** The top-level folders, and what each folder may import besides itself. In all tables, an entry may import only entries above it. */
const TOP = {
  // Modules that every command needs: errors, flags, durations, settings.
  'common/': [],
  // Tables, identifiers, topics, the packed form.
  'schema/': ['common/'],
  // Receives, stores and serves measurements.
  'api/': ['common/', 'schema/'],
  // Knows MQTT and payloads, never CQL. Its `verify/` compares ledgers with the database.
  'simulator/': ['common/', 'schema/', 'api/store/', 'api/history/reading/'],
  // Starts the processes of the other folders, and imports only their settings and the records that they store.
  'infra/': [
    'common/',
    'schema/',
    'api/store/',
    'api/observability/',
    'simulator/flags.ts',
    'simulator/fleet/plant.ts',
  ],
  // Benchmarks of the other folders, and the sizing calculator, which uses constants of the schema and the printing of the benchmarks.
  'tools/': ['common/', 'schema/', 'api/', 'simulator/', 'infra/'],
  // The dashboard: it runs in the browser and imports no other folder.
  'web/': [],
};

/** The rooms of the core that a feature may import. */
const CORE = [
  'api/store/',
  'api/observability/',
  'api/access/',
  'api/background/',
  'api/history/',
  'api/ingest/',
  'api/live/',
  'api/mqtt/',
  'api/http/',
  'api/feature.ts',
  'api/database.ts',
];

/** @param {string} path @returns names of the folders */
const foldersIn = (path) =>
  readdirSync(new URL(path, import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/** Rooms that several features use, and no part of the core. Each may import the core, and rooms above it. */
const SHARED_ROOMS = [
  'api/features/shared/blocks/',
  'api/features/shared/columns/',
  'api/features/shared/corrections/',
  'api/features/shared/files/',
  'api/features/shared/selection/',
];

const features = foldersIn('api/features').filter((name) => name !== 'shared');
const webFeatures = foldersIn('web/features').filter((name) => name !== 'shared');

/** What a feature may import of other features. A feature that another one needs stands above it. @type {Record<string, string[]>} */
const OTHER_FEATURES = {};

/** The modules (here: rooms) of `api/`, and what each may import besides itself and the folders that `api/` may import. */
const API = {
  // CQL, sessions, retries, query rules: the only room that knows the database.
  'api/store/': [],
  // Metrics, logs, health, heartbeat, process stats: every other room reports here.
  'api/observability/': ['api/store/'],
  // Opens the database of a process, with the check of its clock and the gauges.
  'api/database.ts': ['api/store/', 'api/observability/'],
  // Accounts, permissions, tokens, sessions, TLS, limits of connections.
  'api/access/': ['api/store/', 'api/observability/'],
  // Steps, leases and rounds of work behind ingest.
  'api/background/': ['api/store/'],
  // Packs committed samples, and reads packed and unpacked samples.
  'api/history/': ['api/store/', 'api/observability/', 'api/background/'],
  // Processes a message until its commit: admission, decoding, registry, handlers, dead letters.
  'api/ingest/': ['api/store/', 'api/observability/'],
  // Publishes committed samples to readers.
  'api/live/': ['api/observability/', 'api/access/', 'api/ingest/'],
  // The embedded broker and the client of an external broker: both receive messages and acknowledge them.
  'api/mqtt/': ['api/store/', 'api/observability/', 'api/access/', 'api/ingest/', 'api/live/'],
  // HTTP routes, streams and exports: clients reach all other rooms through them.
  'api/http/': [
    'api/store/',
    'api/observability/',
    'api/access/',
    'api/history/',
    'api/ingest/',
    'api/live/',
  ],
  // The type of a feature, and what the core hands to it.
  'api/feature.ts': [
    'api/store/',
    'api/observability/',
    'api/access/',
    'api/history/',
    'api/ingest/',
    'api/live/',
    'api/mqtt/',
    'api/http/',
  ],
  // Encodes samples and rows as Parquet or Arrow; answers of HTTP that are files.
  ...Object.fromEntries(
    SHARED_ROOMS.map((room, index) => [room, [...CORE, ...SHARED_ROOMS.slice(0, index)]]),
  ),
  // Each feature imports the core and the shared rooms, and no other feature.
  ...Object.fromEntries(
    features.map((feature) => [
      `api/features/${feature}/`,
      [...CORE, ...SHARED_ROOMS, ...(OTHER_FEATURES[feature] ?? [])],
    ]),
  ),
  // Finds names that two features use.
  'api/feature-conflicts.ts': ['api/http/', 'api/feature.ts'],
  // Creates, starts and stops the features of a process.
  'api/running-features.ts': [
    'api/http/',
    'api/access/',
    'api/history/',
    'api/ingest/',
    'api/observability/',
    'api/background/',
    'api/feature.ts',
  ],
  // Retires a device in all rooms.
  'api/retire.ts': ['api/ingest/', 'api/live/', 'api/running-features.ts'],
  // The list of features.
  'api/features/index.ts': [
    'api/ingest/',
    'api/store/',
    'api/http/',
    'api/feature.ts',
    'api/feature-conflicts.ts',
    ...features.map((feature) => `api/features/${feature}/`),
  ],
  // A command of a feature is a process of its own, which runs with all features.
  ...Object.fromEntries(
    features.map((feature) => [
      `api/features/${feature}/command`,
      [
        ...CORE,
        ...SHARED_ROOMS,
        `api/features/${feature}/`,
        'api/features/index.ts',
        ...(OTHER_FEATURES[feature] ?? []),
      ],
    ]),
  ),
  // The composition root: creates the parts of a process.
  'api/parts.ts': [
    'api/store/',
    'api/observability/',
    'api/access/',
    'api/history/',
    'api/ingest/',
    'api/live/',
    'api/mqtt/',
    'api/http/',
    'api/feature.ts',
    'api/features/index.ts',
    'api/running-features.ts',
    'api/retire.ts',
  ],
  // Opens the database, then creates, starts and stops the parts.
  'api/system.ts': [
    'api/observability/',
    'api/features/index.ts',
    'api/database.ts',
    'api/running-features.ts',
    'api/parts.ts',
  ],
  // The command migrate. Commands of features are in the folders of the features.
  'api/commands/': ['api/store/'],
  // The entry point of the process.
  'api/index.ts': ['api/observability/', 'api/features/index.ts', 'api/system.ts'],
};

/** The modules (here: rooms) of `tools/`, and what each may import besides itself and the folders that `tools/` may import. */
const TOOLS = {
  // Payloads, their rates, accounts, histograms.
  'tools/bench/load/': [],
  // Child processes, and the requests to them.
  'tools/bench/process/': ['tools/bench/load/'],
  // Variants of ingest: each changes one part.
  'tools/bench/variants/': ['tools/bench/load/', 'tools/bench/process/'],
  // The processes and the database that are measured.
  'tools/bench/environment/': ['tools/bench/load/', 'tools/bench/process/', 'tools/bench/variants/'],
  // The process that publishes the measured messages.
  'tools/bench/publisher/': ['tools/bench/load/', 'tools/bench/process/', 'tools/bench/environment/'],
  // Measures rates, memory and CPU, round by round.
  'tools/bench/measure/': ['tools/bench/load/', 'tools/bench/environment/', 'tools/bench/publisher/'],
  // Fills a database with samples of several months.
  'tools/bench/loader/': ['tools/bench/load/', 'tools/bench/variants/'],
  // Prints the results as tables.
  'tools/bench/report/': ['tools/bench/load/', 'tools/bench/measure/'],
  // Compares Millrace with other databases.
  'tools/bench/peers/': [
    'tools/bench/load/',
    'tools/bench/process/',
    'tools/bench/loader/',
    'tools/bench/measure/',
    'tools/bench/publisher/',
    'tools/bench/report/',
    'tools/bench/environment/',
  ],
};

/** What every room of `web/` may import. */
const BASE = ['web/shared', 'web/api/', 'web/state/', 'web/feature.ts', 'web/kit/'];

/**
 * The modules (here: rooms) of `web/`, and what each may import besides itself. A view imports no other view, and a feature no other
 * feature. Only the list of features knows the features.
 */
const WEB = {
  // Single files that every room may use: formats, routes, names of states, units.
  'web/shared': [],
  // Requests to the API.
  'web/api/': [],
  // The state that the views show, and hooks that read it.
  'web/state/': ['web/shared', 'web/api/'],
  // The type of a feature, and the slots of the core.
  'web/feature.ts': ['web/shared', 'web/api/', 'web/state/'],
  // Components that several views use: pager, notice, figure, value, choice, header, slots.
  'web/kit/': ['web/shared', 'web/api/', 'web/state/', 'web/feature.ts'],
  'web/chart/': BASE,
  ...Object.fromEntries(
    foldersIn('web/views').map((view) => [`web/views/${view}/`, [...BASE, 'web/chart/']]),
  ),
  // Parts that several features use, and no part of the core: dialogs, forms, texts to copy, limits.
  'web/features/shared/': [...BASE, 'web/chart/'],
  ...Object.fromEntries(
    webFeatures.map((feature) => [
      `web/features/${feature}/`,
      [...BASE, 'web/chart/', 'web/features/shared/'],
    ]),
  ),
  // The list of features.
  'web/features/index.ts': [
    'web/feature.ts',
    ...webFeatures.map((feature) => `web/features/${feature}/index.ts`),
  ],
  // The entry point: it joins the core and the list of features.
  'web/app.tsx': [
    ...BASE,
    ...foldersIn('web/views').map((view) => `web/views/${view}/`),
    'web/features/index.ts',
  ],
};

/** Single files of `web/` that every room may use. */
const SHARED = ['format', 'routes', 'states', 'units'];

/** @param {string} room @returns {string} a regular expression that matches the files of the room */
function pathOf(room) {
  if (room.endsWith('/shared')) return `^web/(${SHARED.join('|')})[.]ts$`;
  return `^${room.replaceAll('.', '[.]')}`;
}

/**
 * @param {string} room @param {string[]} allowed
 * @param {{ within: string, inner: string[] }} options `within`: the rule covers only files below this folder; `inner`: rooms in this room
 */
const arrowsFrom = (room, allowed, { within, inner }) => ({
  name: `arrows of ${room}`,
  severity: 'error',
  from: { path: pathOf(room), pathNot: inner.map(pathOf) },
  to: {
    dependencyTypesNot: ['core'],
    path: `^${within || '[^/]+/'}`,
    pathNot: [room, ...allowed].map(pathOf),
  },
});

/**
 * @param {Record<string, string[]>} table
 * @param {string} within
 * @throws {Error} when the table lets a room import a room below it, because the table would then allow a cycle
 */
const arrowsIn = (table, within) =>
  Object.entries(table).map(([room, allowed], row, rows) => {
    const above = rows.slice(0, row).map(([each]) => each);
    const wrong = allowed.find((path) => !above.some((each) => path.startsWith(each)));
    if (wrong) throw new Error(`${wrong} is not above ${room} in its table of .dependency-cruiser.js`);
    const inner = rows.map(([each]) => each).filter((each) => each !== room && each.startsWith(room));
    return arrowsFrom(room, allowed, { within, inner });
  });

/**
 * Returns the rule that other rooms may import only the index of this room, or of a folder in it. Separate folders matter: a command
 * that only reads mappings loads no database driver. Types may come from any file, because re-exports of all types would be longer than
 * the code of the room. An import of a type counts as `dynamic-import`: see .ci/imports.js.
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
    pathNot: [
      pathOf(room.replace(/command$/, '')),
      '^api/[^/]+/index[.][jt]s$',
      '^api/[^/]+/[^/]+/index[.][jt]s$',
      '^api/features/shared/[^/]+/index[.]ts$',
    ],
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
    // dependency-cruiser does not follow the `exports` of these packages, so they are excluded by name.
    exclude: { path: 'node_modules|^(@platformatic|csv-parse)/' },
    moduleSystems: ['es6'],
    // This configuration turns each type that a comment imports into an `import()`.
    babelConfig: { fileName: '.ci/imports.js' },
  },
};

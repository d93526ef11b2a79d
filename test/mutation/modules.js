/**
 * The modules behind the promise that nothing is lost, and the integration tests for mistakes that no unit test noticed. This is
 * the only list of their folders.
 *
 * @typedef {object} Module
 * @property {string} name
 * @property {string[]} sources files, or folders with all their files
 * @property {string[]} integration test files, nearest first
 */

const integration = (/** @type {string[]} */ ...names) =>
  names.map((name) => `test/integration/${name}.test.js`);
const thorough = (/** @type {string[]} */ ...names) => names.map((name) => `test/thorough/${name}.test.js`);
const ingest = (/** @type {string[]} */ ...names) => names.map((name) => `api/ingest/${name}.js`);

/** @type {Module[]} */
export const MODULES = [
  {
    name: 'packed form',
    sources: ['schema/packed'],
    integration: [...integration('packing', 'http/series'), ...thorough('history/whole')],
  },
  {
    name: 'rules',
    sources: ['schema/rules.js'],
    integration: [...integration('packing', 'packing-late', 'http/series'), ...thorough('history/whole')],
  },
  { name: 'sizes', sources: ['schema/sizes.js'], integration: integration('refused-by-size') },
  {
    name: 'message to acknowledgement',
    sources: [
      'api/mqtt/acknowledgements.js',
      'api/ingest/handlers/measurements.js',
      'api/store/measurements/writes.js',
      'api/store/measurements/hours.js',
      'api/store/latest/writes.js',
      ...ingest('pipeline', 'sample-writer', 'late-samples', 'dead-letter-box', 'submission'),
    ],
    integration: [
      ...integration('merging', 'poison', 'refused-by-size', 'packing-late', 'presence', 'replay'),
      ...integration('http/submission', 'hostile-payloads', 'unknown-devices'),
      ...thorough('puback'),
    ],
  },
  {
    name: 'packing',
    sources: ['api/history/packing'],
    integration: [
      ...integration('packing', 'packing-late', 'packing-processes'),
      ...thorough('history/whole'),
    ],
  },
  {
    name: 'reading',
    sources: ['api/history/reading'],
    integration: integration('http/series', 'http/paging-measurements', 'http/paging-history', 'http/export'),
  },
  {
    name: 'backpressure',
    sources: ['api/ingest/admission', 'api/store/sending', 'api/mqtt/embedded/reading', 'common/queue.js'],
    integration: [...integration('merging'), ...thorough('long/window')],
  },
  {
    name: 'formats',
    sources: ['api/ingest/decode'],
    integration: integration('hostile-payloads', 'merging', 'http/submission'),
  },
  {
    name: 'Sparkplug',
    sources: ['api/ingest/sparkplug'],
    integration: integration('sparkplug', 'sparkplug-restart', 'sparkplug-external', 'births-order'),
  },
  {
    name: 'cursor',
    sources: ['api/http/cursor.js'],
    integration: integration('http/cursors', 'http/paging-latest', 'http/paging-devices'),
  },
  {
    name: 'HTTP access',
    sources: ['api/access/http'],
    integration: integration('http/access', 'http/access-sessions', 'http/access-limits', 'tls'),
  },
  {
    name: 'credentials',
    sources: ['api/access/credentials', 'api/commands/credentials'],
    integration: integration(
      'device-permissions',
      'credentials-at-once',
      'http/credentials',
      'credentials-command',
      'credentials-mosquitto',
    ),
  },
  { name: 'compare', sources: ['simulator/verify'], integration: integration('compare') },
  {
    name: 'faults of the simulator',
    sources: ['simulator/faults'],
    integration: integration('simulator-fleet', 'long/simulator-replay'),
  },
];

/**
 * Unit tests that take seconds and are about something else, with the sources about which they are asked all the same.
 *
 * @type {Record<string, string[]>}
 */
export const FAR_TESTS = {
  'test/unit/alarms/backtest.test.js': [],
  'test/unit/alarms/episodes.test.js': [],
  'test/unit/alarms/life.test.js': [],
  'test/unit/tools/sizing/simulation.test.js': ['schema/rules.js', 'schema/sizes.js'],
  'test/unit/tools/sizing/properties.test.js': ['schema/rules.js', 'schema/sizes.js'],
  'test/unit/schema/packed/hour/sizes.test.js': [],
  'test/unit/tools/bench/loader.test.js': [],
  'test/unit/tools/bench/report.test.js': [],
};

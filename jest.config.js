/** Options of all test projects. Node.js runs the ES modules directly, with their types removed. */
const common = {
  testEnvironment: 'node',
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.ts' },
  extensionsToTreatAsEsm: ['.ts'],
};

/** CI machines are slow, so their tests get a longer timeout. It costs no time in tests that pass: they wait for conditions. */
const isCi = Boolean(process.env['CI']);

/** @param {string} folder */
const testsIn = (folder) => [`<rootDir>/test/${folder}/**/*.test.{js,ts}`];

/** Options of projects in which a hook checks each HTTP answer against the API contract. */
const watched = {
  ...common,
  setupFilesAfterEnv: ['<rootDir>/test/support/seed.ts', '<rootDir>/test/support/contract/hook.ts'],
};

/** A jest runner in which the test files of a process share loaded modules. */
const RUNNER = '<rootDir>/test/support/unit-runner/index.ts';

/** Options of projects that need a database: all test files of a run share one local database. */
const withDatabase = {
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

/**
 * The test projects:
 *
 * - `unit` starts no process
 * - `infra` checks the files that deploy the system, and needs further tools
 * - `cluster` starts three database nodes, and makes nodes and processes fail
 * - `datacenters` starts two data centers of three nodes each, and cuts the link between them
 * - `contract` tests the public interfaces against their documents, and needs further tools
 * - `integration` runs the real processes
 * - `browser` tests the dashboard, view by view
 * - `thorough` tests hangs, interruptions and many repetitions; each file takes minutes
 *
 * The last four projects share one local database, which starts only if one of them runs.
 */
export default {
  // Each worker starts a process tree to test. Two workers keep two cores busy and leave enough CPU time for the database.
  maxWorkers: 2,
  // Each test file leaves some memory and one async hook behind in its worker: after 180 files an `await` took ten times as long. So jest
  // replaces a worker that uses more memory than this.
  workerIdleMemoryLimit: '300MB',
  testTimeout: isCi ? 300_000 : 120_000,
  testSequencer: '<rootDir>/test/support/sequencer.ts',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: testsIn('unit'),
      runner: RUNNER,
    },
    { ...common, displayName: 'infra', testMatch: testsIn('infra') },
    { ...watched, displayName: 'cluster', testMatch: testsIn('cluster') },
    { ...watched, displayName: 'datacenters', testMatch: testsIn('datacenters') },
    { ...watched, ...withDatabase, displayName: 'contract', testMatch: testsIn('contract') },
    {
      ...watched,
      ...withDatabase,
      displayName: 'integration',
      testMatch: testsIn('integration'),
      // Each API that a test starts leaves some memory behind in the test process, so the process is replaced after 20 files.
      runner: [RUNNER, { filesPerProcess: 20 }],
    },
    { ...watched, ...withDatabase, displayName: 'browser', testMatch: testsIn('browser') },
    { ...watched, ...withDatabase, displayName: 'thorough', testMatch: testsIn('thorough') },
  ],
};

/** What all kinds of tests share. ES modules run as they are: no transform. */
const common = { testEnvironment: 'node', transform: {} };

/** A slow machine gets the time that it needs: a test that waits for a condition costs nothing when the condition comes. */
const isCi = Boolean(process.env['CI']);

/** @param {string} folder */
const testsIn = (folder) => [`<rootDir>/test/${folder}/**/*.test.js`];

/** Answers of HTTP are held to the contract. */
const watched = {
  ...common,
  setupFilesAfterEnv: ['<rootDir>/test/support/seed.js', '<rootDir>/test/support/contract/hook.js'],
};

/** A runner whose test files share the modules of a process. */
const RUNNER = '<rootDir>/test/support/unit-runner/index.js';

/** One local database for all files of a run. */
const withDatabase = {
  globalSetup: '<rootDir>/test/support/global-setup.js',
  globalTeardown: '<rootDir>/test/support/global-teardown.js',
};

/**
 * Unit tests start nothing. Those of `infra` check what deploys the system, and need tools of their own; so do those of
 * `contract`, which try the interfaces by their documents; those of `cluster` start three nodes, and break everything. Those of `browser` try the
 * dashboard, view by view. Those of
 * `thorough` take minutes each: whatever hangs, breaks off, or is repeated many times. All others run against the real parts and share one local database, which is started when one of them is to be run.
 */
export default {
  // Each worker has a process tree of its own under test; two keep two cores busy without starving the database.
  maxWorkers: 2,
  // Each test file leaves some memory and one async hook behind in its worker: after 180 files an `await` took ten times as long. So
  // a worker is replaced now and then.
  workerIdleMemoryLimit: '300MB',
  testTimeout: isCi ? 300_000 : 120_000,
  testSequencer: '<rootDir>/test/support/sequencer.js',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: testsIn('unit'),
      runner: RUNNER,
    },
    { ...common, displayName: 'infra', testMatch: testsIn('infra') },
    { ...watched, displayName: 'cluster', testMatch: testsIn('cluster') },
    { ...watched, ...withDatabase, displayName: 'contract', testMatch: testsIn('contract') },
    {
      ...watched,
      ...withDatabase,
      displayName: 'integration',
      testMatch: testsIn('integration'),
      // Each system that ran in a process leaves some memory behind.
      runner: [RUNNER, { filesPerProcess: 20 }],
    },
    { ...watched, ...withDatabase, displayName: 'browser', testMatch: testsIn('browser') },
    { ...watched, ...withDatabase, displayName: 'thorough', testMatch: testsIn('thorough') },
  ],
};

import { expect, test } from '@jest/globals';
import { runTests } from '../../mutation/runner/child.ts';

// Each run of the tests starts a process with these options.
const options = { directory: process.cwd(), env: { TMPDIR: '/tmp' } };

test('Mutation test runner: a test imports a component of the dashboard: the test runs and passes', async () => {
  const { end, error } = await runTests(['test/unit/web/components/sign-in.test.ts'], options);
  expect({ end, error }).toMatchObject({ end: 'passed' });
});

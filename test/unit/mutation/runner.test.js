import { expect, test } from '@jest/globals';
import { runTests } from '../../mutation/runner/child.js';

// Each run starts a process.
const options = { directory: process.cwd(), env: { TMPDIR: '/tmp' } };

test('Mutation runner: a test that imports a component of the dashboard: it runs', async () => {
  const { end, error } = await runTests(['test/unit/web/dead-letters/codes.test.js'], options);
  expect({ end, error }).toMatchObject({ end: 'passed' });
});

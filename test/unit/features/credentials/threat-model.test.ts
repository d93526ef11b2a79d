import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { PERIODS_MS } from '../../../../api/features/credentials/index.ts';

test('Threat model page: revoked credential: the recheck period is shorter than the time on the page', () => {
  const page = readFileSync('docs/explanation/threat-model.md', 'utf8');
  const [, seconds] = /longer than (\d+) s after the credential was revoked/.exec(page) ?? [];
  expect(PERIODS_MS.recheck).toBeLessThan(1000 * Number(seconds));
});

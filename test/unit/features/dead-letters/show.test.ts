import { expect, test } from '@jest/globals';
import { payloadLines } from '../../../../api/features/dead-letters/command/show.ts';

test.each([
  ['objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ['arrays', '['.repeat(32_000) + ']'.repeat(32_000)],
])('Dead letter page: payload of deeply nested %s: shown unchanged', (_, text) => {
  const payload = Buffer.from(text);
  const content = { payload, size: payload.length, sha256: Buffer.alloc(32), refused: [] };
  const lines = payloadLines(content as never);
  expect(lines.join('\n')).toBe(text);
});

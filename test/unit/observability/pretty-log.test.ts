import { stripVTControlCharacters } from 'node:util';
import { expect, test } from '@jest/globals';
import { createLogger } from '../../../api/observability/logger.ts';
import { prettyDestination } from '../../../api/observability/pretty-log.ts';

async function listen({
  format = 'auto',
  isTTY = true,
  secrets = [],
}: {
  format?: 'auto' | 'json';
  isTTY?: boolean;
  secrets?: string[];
} = {}) {
  const lines: string[] = [];
  const destination = await prettyDestination(format, { isTTY, write: (text) => lines.push(text) });
  return { lines, logger: destination && createLogger('info', { destination, secrets }) };
}

test('Log on a terminal: an error: logged with the lines of its stack', async () => {
  const { lines, logger } = await listen();
  logger?.error({ err: new Error('broke') }, 'failed');
  expect(stripVTControlCharacters(lines.join(''))).toMatch(/ERROR: failed *\n.*Error: broke\n +at /s);
});

test('Log on a terminal: text of a device: cannot move the cursor or begin a line, and secrets stay hidden', async () => {
  const { lines, logger } = await listen({ secrets: ['hush'] });
  logger?.warn({ account: 'a\u001b[2J\u009b1A\nINFO: ready', reason: 'hush' }, 'wrong\r\u202epassword');
  const text = stripVTControlCharacters(lines.join(''));
  expect(text).toContain('WARN: wrong??password');
  expect(text).toContain('"account":"a?[2J?1A?INFO: ready"');
  expect(text).toContain('[secret]');
  expect(text).not.toContain('hush');
  expect(lines.join('')).not.toContain('\u001b[2J');
});

import { expect, test } from '@jest/globals';
import { readArguments } from '../../../../api/features/dead-letters/command/arguments.ts';

const NOW = Date.UTC(2026, 10, 22);
const HOUR = 3_600_000;

test.each([
  ['', 'replay [ID…]'],
  ['bury', "unknown command 'bury'"],
  ['list abc', 'unexpected word "abc"'],
  ['list --paint red', "unknown flag '--paint'"],
  ['list --from yesterday', '--from is ISO 8601, or a duration such as 2h'],
  ['list --from 1h --to 2h', '--from is before --to'],
  ['replay --from 1h --to 1h', '--from is before --to'],
  ['show', 'show takes the id of one dead letter'],
  ['replay', 'replay takes ids of dead letters, or a range'],
  ['replay abc --from 1h', 'replay takes ids of dead letters, or a range'],
])('Arguments of npm run dead-letters: %j: refused, the message names the problem', (line, message) => {
  const read = () => readArguments(line.split(' ').filter(Boolean), NOW);
  expect(read).toThrow(expect.objectContaining({ code: 'usage', message: expect.stringContaining(message) }));
});

test('Arguments of npm run dead-letters: --from 2h --to 1h: a time range relative to now, in epoch ms', () => {
  const { command, range } = readArguments(['list', '--from', '2h', '--to', '1h'], NOW);
  expect({ command, range }).toEqual({ command: 'list', range: { from: NOW - 2 * HOUR, to: NOW - HOUR } });
});

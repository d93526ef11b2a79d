import { expect, test } from '@jest/globals';
import { readArguments } from '../../../../../api/features/credentials/command/arguments.ts';

function refusalOf(...argv: string[]): { code: string; message: string } {
  try {
    readArguments(argv);
  } catch (error) {
    return error as never;
  }
  throw new Error('the arguments were accepted');
}

const NONE = { accounts: [], devices: [], out: '', file: undefined };
test.each([
  ['issue pump', { command: 'issue', accounts: ['pump'] }],
  ['issue a b c', { command: 'issue', accounts: ['a', 'b', 'c'] }],
  ['issue a --devices b', { command: 'issue', accounts: ['a'], devices: ['b'] }],
  ['issue a --devices b,c --file f', { command: 'issue', accounts: ['a'], devices: ['b', 'c'], file: 'f' }],
  ['list', { command: 'list' }],
  ['rotate a b --file f', { command: 'rotate', accounts: ['a', 'b'], file: 'f' }],
  ['revoke a b', { command: 'revoke', accounts: ['a', 'b'] }],
  ['mosquitto --out d', { command: 'mosquitto', out: 'd' }],
])('Arguments of npm run credentials: %s: accepted', (line, expected) => {
  expect(readArguments(line.split(' '))).toEqual({ ...NONE, ...expected });
});

test.each([
  ['', 'name one of the commands'],
  ['withdraw pump', 'unknown command'],
  ['issue', 'issue takes one account or more'],
  ['rotate', 'rotate takes one account or more'],
  ['revoke', 'revoke takes one account or more'],
  ['list pump', 'unexpected word'],
  ['mosquitto', 'mosquitto takes --out DIR'],
  ['mosquitto pump --out d', 'unexpected word'],
  ['issue a --out d', '--out'],
  ['rotate a --devices b', '--devices'],
  ['revoke a --file f', '--file'],
  ['list --file f', '--file'],
  ['issue a --devices', '--devices'],
])('Arguments of npm run credentials: %j: refused, the error contains %p', (line, words) => {
  const { code, message } = refusalOf(...line.split(' ').filter(Boolean));
  expect({ code, message }).toEqual({ code: 'usage', message: expect.stringContaining(words) });
});

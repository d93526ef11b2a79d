import { describe, expect, test } from '@jest/globals';
import { readArguments } from '../../../../../api/features/credentials/command/arguments.ts';
import { settingsText } from '../../../../../common/flags.ts';
import { DATABASE_SETTINGS } from '../../../../../common/settings/index.ts';

function refusalOf(...argv: string[]): { code: string; message: string } {
  try {
    readArguments(argv);
  } catch (error) {
    return error as never;
  }
  throw new Error('the arguments were accepted');
}

describe('Credentials arguments: accepted', () => {
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
});

describe('Credentials arguments: refused', () => {
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
});

describe('Credentials arguments: --help', () => {
  test('Arguments of npm run credentials: --help without a command: all commands and their arguments are listed', () => {
    const { code, message } = refusalOf('--help');
    expect(code).toBe('help');
    expect(message).toBe(`Usage: npm run credentials -- COMMAND [flags]

Keeps the credentials of devices, at the database itself. Each command answers --help.

Flags:
  --help                   print this text and do nothing else

Commands:
  issue ACCOUNT… [flags]   makes a secret for each account, which is the name or the UUID of a device
  list [flags]             lists all accounts that have a credential
  rotate ACCOUNT… [flags]  makes a new secret for each account and ends the old one
  revoke ACCOUNT… [flags]  takes its credential from each account
  mosquitto [flags]        writes the password file and the access file of a Mosquitto into the directory --out

${settingsText([...DATABASE_SETTINGS, 'MQTT_AUTH', 'MQTT_USERNAME']).join('\n')}
Examples:
  npm run credentials -- issue pump-7
  npm run credentials -- list`);
  });

  test.each([
    [
      'issue',
      'makes a secret for each account',
      ['--devices <text>  further devices', '--file <text>     file that'],
    ],
    ['list', 'lists all accounts', []],
    ['rotate', 'makes a new secret', ['--file <text>  file that']],
    ['revoke', 'takes its credential', []],
    ['mosquitto', 'writes the password file', ['--out <text>  directory for passwords']],
  ])('npm run credentials: %s --help: purpose, flags, example printed', (command, purpose, flags) => {
    const { message } = refusalOf(command, '--help');
    expect(message).toContain(`\n\n${purpose}`);
    for (const flag of flags) expect(message).toContain(`\n  ${flag}`);
    expect(message).toMatch(new RegExp(`\\nExamples:\\n  npm run credentials -- ${command}`));
  });
});

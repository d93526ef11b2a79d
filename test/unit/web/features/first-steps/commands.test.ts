import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { curlCommand } from '../../../../../web/features/first-steps/first-steps.tsx';
import { publishCommand, quote } from '../../../../../web/features/shared/publish-command.ts';

/** @returns the arguments that a shell passes to the command */
const argumentsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
    .split('\n')
    .slice(0, -1);

const MQTT = { embedded: true, host: '127.0.0.1', port: 31883, tls: false, credentials: false };

describe('Command: curl', () => {
  test('First steps, curl command: API without tokens: the command posts a value to the host of the page', () => {
    const command = curlCommand({ origin: 'http://localhost:8081', needsToken: false });
    expect(argumentsOf(command)).toEqual([
      'curl',
      'http://localhost:8081/api/v1/measurements?device=my-desk',
      '-H',
      'Content-Type: application/json',
      '-d',
      '{"sensor_id":"temperature","value":21.5}',
    ]);
  });

  test('First steps, curl command: API with tokens: the command has a placeholder for the token', () => {
    const command = curlCommand({ origin: 'https://iot.example', needsToken: true });
    expect(argumentsOf(command)).toContain('Authorization: Bearer TOKEN');
  });
});

describe('Command: mosquitto_pub', () => {
  test('First steps, mosquitto_pub command: broker without credentials: the command holds host, port and topic', () => {
    expect(argumentsOf(publishCommand(MQTT, { hostname: 'ignored' }))).toEqual([
      ...['mosquitto_pub', '-h', '127.0.0.1', '-p', '31883', '-q', '1'],
      ...['-t', 'iot/v1/my-desk/measurements'],
      ...['-m', '{"sensor_id":"temperature","value":21.5}'],
    ]);
  });

  test.each([
    ['iot.example', 'iot.example'],
    ['[::1]', '::1'],
  ])(
    'First steps, mosquitto_pub command: broker listens on all addresses, page opened at %s: the command holds that host',
    (hostname, expected) => {
      const [, , host] = argumentsOf(publishCommand({ ...MQTT, host: null }, { hostname }));
      expect(host).toBe(expected);
    },
  );

  test('First steps, mosquitto_pub command: TLS and credentials: the command holds CA certificate, account and secret', () => {
    const command = publishCommand(
      { ...MQTT, tls: true, credentials: true },
      { hostname: 'x', device: "my 'desk'", account: "my 'desk'", secret: 's$cr"t' },
    );
    const given = argumentsOf(command);
    expect(given.slice(5, 11)).toEqual(['--cafile', 'ca.pem', '-u', "my 'desk'", '-P', 's$cr"t']);
    expect(given).toContain("iot/v1/my 'desk'/measurements");
  });
});

test.each(['plain', '', 'two words', "it's", '$(rm)', '`x`', 'a"b', '-x;y', 'ä'])(
  'Shell quoting of the text %j: the shell passes one argument, equal to the text',
  (text) => expect(argumentsOf(quote(text))).toEqual([text]),
);

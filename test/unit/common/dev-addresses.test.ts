import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findDevAddresses, readCommandSettings, writeDevAddresses } from '../../../common/dev-addresses.ts';
import { defineSettings, readSettings } from '../../../common/settings/index.ts';
import { text } from '../../../common/settings/value-types.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dev-addresses-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const PORTS = { HTTP_PORT: '8081', MQTT_PORT: '1884', CQL_LOCAL_PORT: '9043', CQL_KEYSPACE: 'farm' };
const path = () => join(folder, 'millrace-dev.json');
const envFile = () => join(folder, '.env');

/** Writes the address file as `npm run dev` does, with the own pid. */
const write = (settings: Record<string, string> = PORTS) =>
  writeDevAddresses(readSettings({ ...settings, DATA_DIR: folder }, { envFile: envFile() }));

function read(target: 'database' | 'broker' | 'api', environment: Record<string, string> = {}) {
  const lines: string[] = [];
  const { cql, mqtt, http } = readCommandSettings(target, {
    environment: { DATA_DIR: folder, ...environment },
    envFile: envFile(),
    print: (text) => lines.push(text),
  });
  return { cql: [cql.localPort, cql.keyspace], mqtt: mqtt.port, http: http.port, lines };
}

const DEFAULTS = { cql: [9042, 'iot'], mqtt: 1883, http: 8080, lines: [] };

test.each([
  ['database', { cql: [9043, 'farm'] }, 'CQL 127.0.0.1:9043, keyspace farm'],
  ['broker', { mqtt: 1884 }, 'mqtt://127.0.0.1:1884'],
  ['api', { http: 8081 }, 'http://127.0.0.1:8081/'],
] as const)(
  'Address file of npm run dev: command of the %s: only its addresses come from the file, and one printed line names them',
  (target, found, named) => {
    write();
    const line = `Using the installation of npm run dev (process ${process.pid}): ${named}`;
    expect(read(target)).toEqual({ ...DEFAULTS, ...found, lines: [line] });
  },
);

test.each([
  [{ CQL_CONTACT_POINTS: '127.0.0.1:9999' }, DEFAULTS],
  [{ CQL_LOCAL_PORT: '9999' }, { ...DEFAULTS, cql: [9999, 'iot'] }],
])('Address file of npm run dev: environment has %p: the file is ignored', (environment, expected) => {
  write();
  expect(read('database', environment)).toEqual(expected);
  expect(read('api', { API_URL: 'http://127.0.0.1:9999' })).toEqual(DEFAULTS);
});

test('Address file of npm run dev: passwords and tokens are set: the file contains none of them', () => {
  write({ ...PORTS, API_TOKEN: 'a-token', MQTT_USERNAME: 'somebody', MQTT_PASSWORD: 'a-password' });
  expect(JSON.parse(readFileSync(path(), 'utf8'))).toEqual({
    pid: process.pid,
    start: expect.any(String),
    settings: PORTS,
  });
});

test('Address file of npm run dev: the process that wrote the file has ended: the file is ignored', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  write();
  const file = JSON.parse(readFileSync(path(), 'utf8'));
  writeFileSync(path(), JSON.stringify({ ...file, pid: child.pid }));
  expect(findDevAddresses(folder)).toBeNull();
  expect(read('database')).toEqual(DEFAULTS);
});

test.each([
  ['nothing', ''],
  ['half a file', '{"pid":'],
  ['no object', 'null'],
  ['a list', '[1]'],
  ['no settings', `{"pid":${process.pid},"start":"1"}`],
  ['a pid that is a text', '{"pid":"1","start":"1","settings":{}}'],
  ['a pid of no process', '{"pid":0,"start":"","settings":{}}'],
  ['no start time', '{"pid":999999999,"start":"","settings":{"CQL_LOCAL_PORT":"9043"}}'],
])('Address file of npm run dev: the file holds %s: the file is ignored', (_, text) => {
  writeFileSync(path(), text);
  expect(findDevAddresses(folder)).toBeNull();
  expect(read('database')).toEqual(DEFAULTS);
});

test('Address file of npm run dev: it has the setting of a feature: only a command that wants it takes it', () => {
  writeDevAddresses(readSettings({ ...PORTS, DATA_DIR: folder }, { envFile: envFile() }), {
    A_SERVER: '127.0.0.1:1',
  });
  const group = defineSettings({
    title: 'A',
    shape: { A_SERVER: text().optional() },
    arrange: (values) => values,
  });
  const options = { environment: { DATA_DIR: folder }, envFile: envFile(), print: () => {} };
  const serverOf = (further: string[]) =>
    readCommandSettings('database', { ...options, further }).of(group).A_SERVER;
  expect(serverOf(['A_SERVER'])).toBe('127.0.0.1:1');
  expect(serverOf([])).toBeUndefined();
});

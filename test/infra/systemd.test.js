import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ERRORS } from '../../common/errors.js';

const UNIT = 'infra/systemd/millrace.service';

/** What `systemd-analyze security` calls well guarded is below 2; `npm start` needs the network, and compiles as it runs. */
const MOST_EXPOSED = 2;

const text = readFileSync(UNIT, 'utf8');

/** @param {string} name @returns {string} */
const setting = (name) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';

const [, version] =
  /^systemd (\d+)/.exec(spawnSync('systemd-analyze', ['--version']).stdout?.toString() ?? '') ?? [];

test('it runs what npm start runs, where nothing but its own directory can be written', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(setting('ExecStart')).toBe(scripts.start.replace('exec ', '/usr/bin/env '));
  expect(setting('Environment')).toContain(`DATA_DIR=/var/lib/${setting('StateDirectory')}`);
  expect(setting('ProtectSystem')).toBe('strict');
  // V8 compiles as it runs.
  expect(setting('MemoryDenyWriteExecute')).toBe('');
});

test('what no restart mends is not restarted, and what passes is', () => {
  const { session_taken, schema_differs, bad_settings, database_away, broker_away } = ERRORS;
  const prevented = setting('RestartPreventExitStatus').split(' ').map(Number);
  expect(prevented).toEqual([session_taken, schema_differs, bad_settings].map(({ exit }) => exit));
  for (const { exit } of [database_away, broker_away]) expect(prevented).not.toContain(exit);
  expect([setting('Restart'), setting('StartLimitIntervalSec')]).toEqual(['on-failure', '0']);
});

test('the way of the log knows it by its name', () => {
  expect(readFileSync('infra/monitoring/alloy/config.alloy', 'utf8')).toContain(
    '_SYSTEMD_UNIT=millrace.service',
  );
});

// Where there is no systemd, nobody runs it either.
(version ? test : test.skip)('systemd takes it', () => {
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

// Without a running systemd since 250.
(Number(version) >= 250 ? test : test.skip)('systemd finds it guarded', () => {
  const output = execFileSync('systemd-analyze', ['security', '--offline=true', UNIT], { encoding: 'utf8' });
  const [, exposed] = /exposure level for millrace\.service: ([\d.]+)/.exec(output) ?? [];
  expect(Number(exposed)).toBeLessThan(MOST_EXPOSED);
});

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ERRORS } from '../../common/errors.ts';
import { commandOf } from '../support/scripts.ts';

const UNIT = 'infra/systemd/millrace.service';

/** `systemd-analyze security` rates from 0 (safe) to 10. The unit needs the network, and V8 compiles at run time. */
const MOST_EXPOSED = 2;

const text = readFileSync(UNIT, 'utf8');

const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';

const [, version] =
  /^systemd (\d+)/.exec(spawnSync('systemd-analyze', ['--version']).stdout?.toString() ?? '') ?? [];

test('systemd unit: command: the same as npm start; the file system is read-only except for DATA_DIR', () => {
  expect(setting('ExecStart')).toBe(`/usr/bin/env ${commandOf('start').join(' ')}`);
  expect(setting('Environment')).toContain(`DATA_DIR=/var/lib/${setting('StateDirectory')}`);
  expect(setting('ProtectSystem')).toBe('strict');
  // V8 compiles at run time.
  expect(setting('MemoryDenyWriteExecute')).toBe('');
});

test('systemd unit: restart: not after wrong settings, schema or session; unlimited restarts after any other error', () => {
  const { session_taken, schema_differs, bad_settings, database_away, broker_away } = ERRORS;
  const prevented = setting('RestartPreventExitStatus').split(' ').map(Number);
  expect(prevented).toEqual([session_taken, schema_differs, bad_settings].map(({ exit }) => exit));
  for (const { exit } of [database_away, broker_away]) expect(prevented).not.toContain(exit);
  expect([setting('Restart'), setting('StartLimitIntervalSec')]).toEqual(['on-failure', '0']);
});

test('systemd unit: log: the Alloy configuration collects the log by the unit name', () => {
  expect(readFileSync('infra/monitoring/alloy/config.alloy', 'utf8')).toContain(
    '_SYSTEMD_UNIT=millrace.service',
  );
});

// Without systemd the unit cannot run.
(version ? test : test.skip)('systemd unit: systemd-analyze verify: finds no problem', () => {
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

// systemd-analyze works without a running systemd since version 250.
(Number(version) >= 250 ? test : test.skip)('systemd unit: systemd-analyze security: score below 2', () => {
  const output = execFileSync('systemd-analyze', ['security', '--offline=true', UNIT], { encoding: 'utf8' });
  const [, exposed] = /exposure level for millrace\.service: ([\d.]+)/.exec(output) ?? [];
  expect(Number(exposed)).toBeLessThan(MOST_EXPOSED);
});

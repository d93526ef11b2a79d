import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { useDirectory } from '../../../support/directory.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { useTestSystem } from '../../../support/system/use.ts';

const system = useTestSystem();
const directory = useDirectory('alarms');

async function alarms(...args: string[]) {
  const settings = { API_URL: system.httpUrl };
  const { code, output } = await startCommand('api/features/alarms/command/index.ts', settings, args).ended;
  return { code, output };
}

function fileWith(text: string): string {
  const path = join(directory, 'alarms.yaml');
  writeFileSync(path, text);
  return path;
}

const WARM = `- name: too warm
  severity: critical
  scope: { device: freezer, sensor: temperature }
  condition: { kind: above, limit: -15, clear: -17 }
`;
const SILENT = `- name: silent
  severity: warning
  scope: { device: freezer }
  condition: { kind: absent, for_ms: 60000 }
`;

test('npm run alarms -- apply: file of rules: rules are added and changed, and removed only with --prune', async () => {
  expect(await alarms('list')).toEqual({ code: 0, output: '[]\n' });
  const added = await alarms('rules', 'apply', fileWith(WARM + SILENT));
  expect(added).toEqual({ code: 0, output: 'added    too warm\nadded    silent\n' });

  const changed = await alarms('apply', fileWith(WARM.replace('critical', 'info')));
  expect(changed).toEqual({ code: 0, output: 'changed  too warm\nkept     silent\n' });
  expect(await alarms('apply', fileWith(WARM.replace('critical', 'info')))).toEqual({
    code: 0,
    output: 'same     too warm\nkept     silent\n',
  });
  const pruned = await alarms('apply', fileWith(WARM), '--prune');
  expect(pruned).toEqual({ code: 0, output: 'changed  too warm\nremoved  silent\n' });
  expect(parse((await alarms('list')).output)).toEqual(parse(WARM));
});

/** @param now epoch ms @param values one a minute, the first ten minutes ago */
async function storeTemperatures(device: string, now: number, values: number[]) {
  const samples = values.map((value, minute) => ({
    sensor_id: 'temperature',
    ts: now - (10 - minute) * 60_000,
    value,
  }));
  const response = await system.post(`/measurements?device=${device}`, samples);
  expect(response.status).toBe(200);
}

test('npm run alarms -- test: a rule and stored samples: prints the alarms that the rule would have opened', async () => {
  const now = Date.now();
  await storeTemperatures('freezer', now, [-18, -10, -9, -18, -18]);
  const time = (minute: number) => new Date(now - (10 - minute) * 60_000).toISOString();
  expect(await alarms('test', fileWith(WARM), '--days', '1')).toEqual({
    code: 0,
    output: `too warm: 1 alarm of 1 sensor, in samples from ${time(0)} to ${time(4)}\n  ${time(1)}  ${time(3)}  freezer/temperature  -9\n`,
  });
});

test.each([
  ['a file that does not exist', () => 'nowhere.yaml', 'nowhere.yaml'],
  ['a rule without a condition', () => fileWith('- name: a\n  severity: info\n  scope: {}\n'), 'condition'],
  ['two rules of one name', () => fileWith(WARM + WARM), 'Two rules of the file have the same name.'],
])(
  'npm run alarms -- apply: %s: an error with the reason, and no rule is changed',
  async (_, file, words) => {
    const before = await alarms('list');
    const { code, output } = await alarms('apply', file());
    expect(code).toBe(1);
    expect(output).toContain(words);
    expect(await alarms('list')).toEqual(before);
  },
);

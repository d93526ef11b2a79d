import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { useDirectory } from '../../../support/directory.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { useTestSystem } from '../../../support/system/use.ts';
import { until } from '../../../support/until.ts';

const system = useTestSystem({ periods: { alarmRules: 200 } });
const directory = useDirectory('alarms');

const startAlarms = (...args: string[]) =>
  startCommand('api/features/alarms/command/index.ts', system.databaseSettings, args);

async function alarms(...args: string[]) {
  const { code, output } = await startAlarms(...args).ended;
  return { code, output };
}

/** @returns path of a file with this text */
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
  await until(async () => (await system.get('/alarm-rules')).items.length === 2);

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

test('npm run alarms -- apply --prune: two stored rules have one name, and the file has neither: both are removed', async () => {
  await alarms('apply', fileWith(WARM));
  for (const limit of [1, 2]) {
    const response = await system.fetch('/alarm-rules', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        name: 'twin',
        severity: 'info',
        scope: { device: 'freezer' },
        condition: { kind: 'above', limit },
      }),
    });
    expect(response.status).toBe(201);
  }
  expect(await alarms('apply', fileWith(WARM), '--prune')).toEqual({
    code: 0,
    output: 'same     too warm\nremoved  twin\nremoved  twin\n',
  });
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

test('npm run alarms -- test: several alarms: prints a limit with fewer alarms', async () => {
  await storeTemperatures('fridge', Date.now(), [-18, -10, -18, -9, -18]);
  const { code, output } = await alarms('test', fileWith(WARM.replace('freezer', 'fridge')), '--days', '1');
  expect(code).toBe(0);
  expect(output.trimEnd().split('\n').at(-1)).toBe('  fewer alarms: limit -9 gives 0 alarms');
});

test('npm run alarms -- test: the scope has more sensors than one test reads: the output has the number of tested sensors', async () => {
  const ts = Date.now() - 60_000;
  const samples = Array.from({ length: 51 }, (_, n) => ({ sensor_id: `probe-${n}`, ts, value: 1 }));
  const response = await system.post('/measurements?device=many', samples);
  expect(response.status).toBe(200);
  const rule = `- name: hot
  severity: info
  scope: { device: many }
  condition: { kind: above, limit: 5 }
`;
  const time = new Date(ts).toISOString();
  expect(await alarms('test', fileWith(rule), '--days', '2')).toEqual({
    code: 0,
    output: `hot: 0 alarms of 50 sensors, in samples from ${time} to ${time} (the scope has more sensors; only 50 were tested)\n`,
  });
});

test('npm run alarms -- test: Ctrl-C within 5,000 rules: the command stops early, gives the reason, and exits with code 1', async () => {
  const rules = Array.from({ length: 5000 }, (_, n) => WARM.replace('too warm', `rule ${n}`)).join('');
  const command = startAlarms('test', fileWith(rules), '--days', '1');
  await until(async () => command.output().includes('rule 0:'), { what: 'the first result' });
  command.signal('SIGINT');
  const { code, output } = await command.ended;
  expect(code).toBe(1);
  expect(output.trimEnd().split('\n').at(-1)).toContain('Stopped before the end.');
  expect(output).not.toContain('rule 4999:');
});

test('npm run alarms -- test: --days is longer than the stored history: every stored sample is read', async () => {
  const { code, output } = await alarms('test', fileWith(WARM), '--days', '1000000000');
  expect({ code, output: output.slice(0, 40) }).toEqual({
    code: 0,
    output: 'too warm: 1 alarm of 1 sensor, in sample',
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

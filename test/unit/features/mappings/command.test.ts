import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useDirectory } from '../../../support/directory.ts';

// Each run starts a process.
const directory = useDirectory('mappings');
const file = join(directory, 'mappings.yaml');
writeFileSync(
  file,
  `mappings:
  - use: zigbee2mqtt
  - name: farm
    topic: farm/{device}/up
    time: { pointer: /t, unit: s }
    values:
      - { pointer: /v, sensor: v, unit: W, numbers: text }
      - { pointer: /w, sensor: w }
  - { name: config, topic: 'farm/{device}/config', describes: { unit: V, type: voltage } }
`,
);

function run(words: string[], input?: string) {
  const options = {
    encoding: 'utf8' as const,
    input,
    env: { PATH: process.env['PATH'], LANG: 'C.UTF-8' },
  };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['api/features/mappings/command/index.ts', ...words],
    options,
  );
  return { code: status, lines: stdout.trimEnd().split('\n'), errors: stderr };
}

const testMessage = (topic: string, payload: string, input?: string) =>
  run(['test', file, '--topic', topic, '--payload', payload], input);

test('Command mappings test: a valid message: prints device, values, times and units, with exit code 0', () => {
  const seconds = Math.floor(Date.now() / 1000) - 60;
  expect(testMessage('farm/a/up', '-', `{"t":${seconds},"v":"1.5","w":true}`)).toEqual({
    code: 0,
    errors: '',
    lines: [
      'mapping  farm',
      'device   a',
      'sensor  value  time                      type',
      `v       1.5 W  ${new Date(seconds * 1000).toISOString()}`,
      `w       1      ${new Date(seconds * 1000).toISOString()}`,
    ],
  });
});

test.each([
  ['farm/a/config', '{}', 0, ['mapping  config', 'device   a', 'sensor   value, unit V, type voltage'], ''],
  [
    'zigbee2mqtt/bridge/state',
    'online',
    0,
    ['mapping  zigbee2mqtt/bridge', expect.stringMatching(/^skipped/)],
    '',
  ],
  [
    'farm/a/up',
    '{"x":1}',
    1,
    ['mapping  farm', 'device   a'],
    'none of the values that the mapping farm reads',
  ],
  ['farm/a/up', '{"v":', 1, ['mapping  farm'], 'JSON'],
  ['iot/v1/a/measurements', '{}', 1, [''], 'is a topic of Millrace'],
  ['barn/7/up', '{"a":1}', 1, [''], 'topic: barn/{device}/up'],
])('Command mappings test: topic %s, payload %s: exit code %i', (topic, payload, code, lines, error) => {
  const answer = testMessage(topic, payload);
  expect(answer).toMatchObject({ code, lines });
  expect(answer.errors).toContain(error);
});

test('Command mappings: wrong file, preset or option: exit code 78 or 2, and the reason is printed', () => {
  writeFileSync(join(directory, 'wrong.yaml'), 'mappings:\n  - use: nothing\n');
  const wrong = run(['list', join(directory, 'wrong.yaml')]);
  expect(wrong).toMatchObject({
    code: 78,
    errors: expect.stringContaining('wrong.yaml:2:5: mappings[0].use'),
  });
  expect(run(['show', 'nothing'])).toMatchObject({
    code: 2,
    errors: expect.stringContaining('neither a file nor'),
  });
  expect(run(['test', file])).toMatchObject({
    code: 2,
    errors: expect.stringContaining('test takes --topic'),
  });
});

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Replaces `aws ssm`: it answers as the documentation of the API describes, runs the commands for an instance itself, and reports
// their end on the third request.

const ID = '11111111-2222-3333-4444-555555555555';

const { FAKE_AWS = '', FAKE_STATUS, FAKE_DETAILS, FAKE_UNSEEN = '0' } = process.env;
const state = (name: string) => join(FAKE_AWS, name);
const read = (name: string) => JSON.parse(readFileSync(state(name), 'utf8'));

function fail(code: number, message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

const [, name = '', ...words] = process.argv.slice(2);
const given: Record<string, string> = {};
for (let i = 0; i < words.length; i += 2) given[words[i] ?? ''] = words[i + 1] ?? '';
if ((given['--command-id'] ?? ID) !== ID) fail(254, 'InvalidCommandId');

/** the members of each answer, by query */
const ANSWERS: Record<string, () => unknown> = {
  'send-command': () => {
    const parameters = JSON.parse(given['--parameters'] ?? '');
    writeFileSync(state('sent.json'), JSON.stringify({ ...given, '--parameters': parameters }));
    const { status, stdout, stderr } = spawnSync('sh', ['-c', parameters.commands.join('\n')], {
      encoding: 'utf8',
    });
    writeFileSync(state('ended.json'), JSON.stringify({ status, stdout, stderr }));
    writeFileSync(state('looks.json'), '0');
    return { 'Command.CommandId': ID };
  },
  'list-command-invocations': () => {
    const looks = read('looks.json') + 1;
    writeFileSync(state('looks.json'), String(looks));
    if (looks <= Number(FAKE_UNSEEN)) fail(255, 'Could not connect to the endpoint URL');
    const last = FAKE_STATUS ?? (read('ended.json').status === 0 ? 'Success' : 'Failed');
    const seen = looks - Number(FAKE_UNSEEN);
    return { 'CommandInvocations[0].Status': ['None', 'InProgress'][seen - 1] ?? last };
  },
  'get-command-invocation': () => {
    const { status, stdout, stderr } = read('ended.json');
    return {
      ResponseCode: FAKE_STATUS ? -1 : status,
      StatusDetails: FAKE_DETAILS ?? 'Failed',
      StandardOutputContent: stdout.slice(0, 24_000),
      StandardErrorContent: stderr.slice(0, 8_000),
    };
  },
  'cancel-command': () => {
    writeFileSync(state('cancelled'), '');
    return {};
  },
};
const answer = ANSWERS[name]?.() as Record<string, unknown>;
const query = given['--query'] ?? '';
if (query && !(query in answer)) fail(255, `Bad value for --query ${query}`);
if (query) process.stdout.write(`${answer[query]}\n`);

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Replaces `aws ssm`: it accepts the documented arguments of these commands, and answers as the documentation of the API describes.
// It runs the commands for an instance itself, and reports their end on the third request. For other services it prints the call.

/** The arguments of each command, and whether they are required. */
const ARGUMENTS = {
  'send-command': {
    '--instance-ids': true,
    '--document-name': true,
    '--timeout-seconds': false,
    '--parameters': false,
  },
  'list-command-invocations': { '--command-id': true },
  'get-command-invocation': { '--command-id': true, '--instance-id': true },
  'cancel-command': { '--command-id': true },
  'put-parameter': { '--name': true, '--type': false, '--value': true },
};
const SHARED = ['--query', '--output'];
const ID = '11111111-2222-3333-4444-555555555555';

const { FAKE_AWS = '', FAKE_STATUS, FAKE_DETAILS, FAKE_UNSEEN = '0' } = process.env;
const state = (name: string) => join(FAKE_AWS, name);
const read = (name: string) => JSON.parse(readFileSync(state(name), 'utf8'));

function fail(code: number, message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

const [service, name = '', ...words] = process.argv.slice(2);
if (service !== 'ssm') {
  process.stdout.write(`${service}-${name}\n`);
  process.exit(0);
}
const known = ARGUMENTS[name as keyof typeof ARGUMENTS];
if (!known) fail(252, `aws ${service} ${name} is not known`);
const given: Record<string, string> = {};
for (let i = 0; i < words.length; i += 2) given[words[i] ?? ''] = words[i + 1] ?? '';
for (const word of Object.keys(given))
  if (!(word in known) && !SHARED.includes(word)) fail(252, `Unknown options: ${word}`);
for (const [word, needed] of Object.entries(known))
  if (needed && !given[word]) fail(252, `the following arguments are required: ${word}`);
if ('--command-id' in known && given['--command-id'] !== ID) fail(254, 'InvalidCommandId');

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
  'put-parameter': () => {
    const file = given['--value']?.match(/^file:\/\/(.*)$/)?.[1] ?? fail(255, 'A secret is an argument');
    const value = readFileSync(file, 'utf8');
    writeFileSync(
      state('parameter.json'),
      JSON.stringify({ name: given['--name'], type: given['--type'], value }),
    );
    return {};
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

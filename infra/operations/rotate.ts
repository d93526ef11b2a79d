import { MillraceError } from '../../common/errors.ts';
import type { Given, Operation } from './flags.ts';
import { here, onNode, type Step } from './plan.ts';
import { deviceSecrets } from './rotate-devices.ts';
import { expectMachine } from './steps/service.ts';
import { command, quote } from './steps/shell.ts';
import { until } from './steps/wait.ts';

export const rotate = {
  help: "a new secret in an old one's place: of a role in the database, the broker, the API, or devices",
  examples: ["--secret token --nodes api-1,api-2 --file api.token --deliver './deliver.sh' --dry-run"],
  shared: ['nodes', 'reach', 'within'],
  flags: {
    secret: { type: 'text', help: 'serve, migrate, broker, token, cursor or devices' },
    file: { type: 'text', help: 'holds the secret here; of devices: new ones are added to it' },
    'migrate-file': { type: 'text', help: 'with serve: holds the password of the other role, which stays' },
    'serve-file': { type: 'text', help: 'with migrate: the same' },
    reload: { type: 'text', help: 'with broker: command that makes the broker read the new --file' },
    deliver: {
      type: 'text',
      help: "command that puts the file where the processes read it; 'true' where they read this very file",
    },
    restart: {
      type: 'text',
      help: 'command that restarts the application on a node',
      fallback: 'sudo systemctl restart millrace',
    },
    ready: {
      type: 'text',
      help: 'address on each node that answers when it serves',
      fallback: 'http://127.0.0.1:8080/readyz',
    },
    devices: { type: 'text', help: 'with devices: accounts, comma-separated' },
    broker: {
      type: 'text',
      help: 'with devices: directory of the files of a Mosquitto, if that is the broker',
    },
  },
  plan(given) {
    const secret = given.need('secret');
    if (!Object.hasOwn(PLANS, secret))
      throw new MillraceError('usage', `--secret is ${Object.keys(PLANS).join(', ')}`);
    return PLANS[secret as keyof typeof PLANS](given);
  },
} satisfies Operation;

/** The program that checks a secret gets the new secret before the processes that send it. */
const PLANS = {
  serve: (given) => [
    made(given),
    ...inDatabase(given, 'serve', given.need('migrate-file')),
    placed(given),
    ...handedOn(given),
  ],
  // No process needs a restart, because only `npm run migrate` uses this secret.
  migrate: (given) => [
    made(given),
    ...inDatabase(given, 'migrate', given.need('serve-file')),
    placed(given),
    ...(given['deliver'] ? [delivered(given)] : []),
  ],
  broker: (given) => [
    made(given),
    placed(given),
    here('makes the broker read it', given.need('reload')),
    ...handedOn(given),
  ],
  token: (given) => inFile(given),
  cursor: (given) => inFile(given),
  devices: deviceSecrets,
} satisfies Record<string, (given: Given) => Step[]>;

/** Only the API processes read the secret. */
const inFile = (given: Given): Step[] => [made(given), placed(given), ...handedOn(given)];

const fresh = (given: Given) => `${given.need('file')}.new`;

const made = (given: Given) =>
  here(
    'makes a new one, for its owner alone to read',
    `(umask 077 && openssl rand -hex 24 >${quote(fresh(given))})`,
  );

/** The existing file keeps its owner and permissions. If the command runs a second time, it fails instead of emptying the file. */
const replaced = (given: Given) => {
  const next = quote(fresh(given));
  return `test -s ${next} && cat ${next} >${quote(given.need('file'))} && rm ${next}`;
};

const delivered = (given: Given) => here('puts it where the processes read it', given.need('deliver'));

const placed = (given: Given) => here('puts it in the place of the old one', replaced(given));

/**
 * Open connections keep working. The database refuses a process that connects between the change and its restart. A process that starts
 * with a wrong password ends and stays down. Nodes accept the old password for some more seconds, so a step first checks the new password.
 */
function inDatabase(given: Given, duty: 'serve' | 'migrate', otherFile: string): Step[] {
  const other = duty === 'serve' ? 'migrate' : 'serve';
  const files = [`--${other}-password-file`, otherFile, `--${duty}-password-file`, fresh(given)];
  const asRole = command(`CQL_USERNAME=millrace_${duty}`, `CQL_PASSWORD_FILE=${fresh(given)}`);
  return [
    here(
      'sets it in the database, as CQL_USERNAME, which has to be a superuser',
      command('npm', 'run', '-s', 'roles', '--', ...files),
    ),
    here(
      'waits until the database takes it',
      until(`CQL_PASSWORD='' ${asRole} node infra/operations/steps/alter.ts`, {
        within: given.within,
        late: 'the database does not accept it: no process has it yet, and the old one no longer works.',
      }),
    ),
  ];
}

/**
 * The server refuses a process that starts with the old secret, and the process ends. So the plan requires a command that delivers the new
 * secret.
 */
function handedOn(given: Given): Step[] {
  expectMachine(given.reach, 'docs/how-to/operate-a-cluster.md has the commands, under New secrets.');
  return [delivered(given), ...restarted(given)];
}

/** Restarts one process after the other, while the other processes keep serving. */
const restarted = (given: Given): Step[] =>
  given.need('nodes').flatMap((node) => [
    onNode(node, 'restarts and reads it', given['restart']),
    onNode(
      node,
      'waits until it serves, or this goes no further',
      until(command('curl', '-fsS', '-o', '/dev/null', given['ready']), {
        within: given.within,
        late: 'it does not serve: look at its log. The processes on the nodes after this one keep running with what they have.',
      }),
    ),
  ]);

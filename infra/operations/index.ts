import { runCommand } from '../../common/command.ts';
import { MillraceError } from '../../common/errors.ts';
import { settingsText } from '../../common/flags.ts';
import { DATABASE_SETTINGS } from '../../common/settings/index.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { addNode } from './add-node.ts';
import { backup } from './backup.ts';
import { type Operation, readGiven } from './flags.ts';
import { printPlan } from './plan.ts';
import { removeNode } from './remove-node.ts';
import { restore } from './restore.ts';
import { rotate } from './rotate.ts';
import { runPlan } from './run.ts';
import { upgrade } from './upgrade.ts';

const COMMAND = 'npm run operations --';

const OPERATIONS = {
  backup,
  restore,
  upgrade,
  'add-node': addNode,
  'remove-node': removeNode,
  rotate,
} satisfies Record<string, Operation>;

const HELP = `Usage: ${COMMAND} OPERATION [flags]

Runs one of these operations on your own cluster. Each answers --help:

${Object.entries(OPERATIONS)
  .map(([name, { help }]) => `  ${name.padEnd(16)}${help}`)
  .join('\n')}

All of them take --dry-run, which prints the commands as a script and runs none.

${settingsText(DATABASE_SETTINGS).join('\n')}
Examples:
  ${COMMAND} backup --cluster prod --location s3:backups --dry-run
  ${COMMAND} upgrade --help`;

// npm run operations: operates a database cluster of your own, step by step, from a machine that can connect to the nodes.
await runCommand(async () => {
  const [name = '', ...argv] = process.argv.slice(2);
  if (name === '--help') throw new MillraceError('help', HELP);
  if (!Object.hasOwn(OPERATIONS, name))
    throw new MillraceError(
      'usage',
      `error: ${name ? `unknown operation '${name}'` : 'name an operation'}\n\n${HELP}`,
    );
  const operation = OPERATIONS[name as keyof typeof OPERATIONS];
  const given = readGiven(`${COMMAND} ${name}`, operation, argv, new Date());
  const steps = await operation.plan(given);
  const { reach, from } = given;
  const again = (operation.shared as string[]).includes('tag') ? `--tag ${given.tag} ` : '';
  if (given['dry-run']) process.stdout.write(printPlan(steps, { reach, from }));
  else await runPlan(steps, { reach, from, again, line: createStatusLine(process.stderr) });
});

import { runCommand } from '../../common/command.js';
import { MillraceError } from '../../common/errors.js';
import { settingsText } from '../../common/flags.js';
import { DATABASE_SETTINGS } from '../../common/settings/index.js';
import { createStatusLine } from '../../common/status-line.js';
import { addNode } from './add-node.js';
import { backup } from './backup.js';
import { readGiven } from './flags.js';
import { printPlan } from './plan.js';
import { removeNode } from './remove-node.js';
import { restore } from './restore.js';
import { rotate } from './rotate.js';
import { runPlan } from './run.js';
import { upgrade } from './upgrade.js';

/** @import { Operation } from './flags.js' */

const COMMAND = 'npm run operations --';

/** @satisfies {Record<string, Operation>} */
const OPERATIONS = {
  backup,
  restore,
  upgrade,
  'add-node': addNode,
  'remove-node': removeNode,
  rotate,
};

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
  const operation = OPERATIONS[/** @type {keyof typeof OPERATIONS} */ (name)];
  const given = readGiven(`${COMMAND} ${name}`, operation, argv, new Date());
  const steps = await operation.plan(given);
  const { reach, from } = given;
  const again = /** @type {string[]} */ (operation.shared).includes('tag') ? `--tag ${given.tag} ` : '';
  if (given['dry-run']) process.stdout.write(printPlan(steps, { reach, from }));
  else await runPlan(steps, { reach, from, again, line: createStatusLine(process.stderr) });
});

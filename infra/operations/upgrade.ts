import { here, onNode } from './plan.js';
import { packages } from './steps/apt.js';
import { sctool } from './steps/manager.js';
import { awaitOneSchema, expectAllUp, restarted } from './steps/nodes.js';
import { expectMachine, SERVICE } from './steps/service.js';
import { command } from './steps/shell.js';

/** @import { Given, Operation } from './flags.js' */
/** @import { Step } from './plan.js' */

/** Commands that print the version of the running database. `scylla --version` would print the installed version instead. */
const RUNNING = {
  scylla: 'curl -fsS http://localhost:10000/storage_service/scylla_release_version | tr -d "\\""',
  cassandra: 'nodetool version | sed -n "s/^ReleaseVersion: *//p"',
};

/** @satisfies {Operation} */
export const upgrade = {
  help: 'a new version, node by node, while the others serve',
  examples: ['--nodes a,b,c --to 2026.1.6 --dry-run'],
  shared: ['engine', 'cluster', 'nodes', 'reach', 'keyspace', 'stop', 'start', 'within'],
  flags: {
    to: { type: 'text', help: 'the version, such as 2026.1.6' },
    install: {
      type: 'text',
      help: 'command that installs it on a node that has been stopped; default: by apt, which fetches it before',
    },
    'rewrite-sstables': {
      type: 'switch',
      help: 'Cassandra: writes all files in the form of the new version afterwards; after a major one',
    },
  },
  plan(given) {
    const [nodes, to] = [given.need('nodes'), given.need('to')];
    const { engine, within, install } = given;
    expectMachine(
      given.reach,
      "in Kubernetes change the ScyllaCluster's version; in compose the image's, then `docker compose up -d` service by service.",
    );
    const way = install ? { fetch: [], install } : packages(engine, to);
    const oneSchema = awaitOneSchema(nodes[0], within);
    return [
      oneSchema,
      ...nodes.flatMap((node) =>
        way.fetch.map((script) => onNode(node, `fetches ${to}, and installs nothing yet`, script)),
      ),
      ...withoutManager(given, [...nodes.flatMap((node) => upgraded(node, given, way.install)), oneSchema]),
      ...(given['rewrite-sstables'] ? rewrite(given) : []),
    ];
  },
};

/** @param {string} node @param {Given} given @param {string} install @returns {Step[]} */
function upgraded(node, given, install) {
  const { engine, keyspace, to, within } = given;
  const nodes = given.need('nodes');
  const between = [onNode(node, `installs ${to}`, install)];
  return [
    expectAllUp(node, nodes.length),
    onNode(
      node,
      `takes the snapshot before-${to}, to go back to`,
      command('nodetool', 'snapshot', '-t', `before-${to}`, keyspace),
    ),
    ...restarted(node, nodes, { ...given.commands(SERVICE[engine]), within, between }),
    onNode(node, `it is ${to} that runs`, expectVersion(RUNNING[engine], to)),
  ];
}

/** @param {string} said command that prints the running version @param {string} to expected version */
const expectVersion = (said, to) => `said=$(${said})
case $said in
  ${to} | ${to}-*) echo "$said" ;;
  *) echo "It runs \\"$said\\", not ${to}: check the installed version before you go on." >&2; exit 1 ;;
esac`;

/**
 * Adds steps that suspend Manager before and resume it after the given steps, because repairs and backups are not supported while nodes
 * have different versions.
 *
 * @param {Given} given
 * @param {Step[]} steps
 * @returns {Step[]}
 */
function withoutManager({ engine, cluster }, steps) {
  if (engine !== 'scylla' || !cluster) return steps;
  const resume = sctool('resume', '-c', cluster, '--start-tasks');
  const ifItFails = `Manager begins no repair and no backup until the last step, or: ${resume}`;
  return [
    here(`Manager begins no repair and no backup until: ${resume}`, sctool('suspend', '-c', cluster)),
    ...[...steps, here('Manager goes on', resume)].map((step) => ({ ...step, ifItFails })),
  ];
}

/** @param {Given} given */
const rewrite = (given) =>
  given
    .need('nodes')
    .map((node) =>
      onNode(node, 'rewrites all its files', command('nodetool', 'upgradesstables', given.keyspace)),
    );

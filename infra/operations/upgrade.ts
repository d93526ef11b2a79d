import type { Given, Operation } from './flags.ts';
import { here, onNode, type Step } from './plan.ts';
import { packages } from './steps/apt.ts';
import { sctool } from './steps/manager.ts';
import { awaitOneSchema, expectAllUp, restarted } from './steps/nodes.ts';
import { expectMachine, SERVICE } from './steps/service.ts';
import { command } from './steps/shell.ts';

/** The version of the running database: `scylla --version` would print the installed version instead. */
const RUNNING = {
  scylla: 'curl -fsS http://localhost:10000/storage_service/scylla_release_version | tr -d "\\""',
  cassandra: 'nodetool version | sed -n "s/^ReleaseVersion: *//p"',
};

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
} satisfies Operation;

function upgraded(node: string, given: Given, install: string): Step[] {
  const { engine, keyspace, within } = given;
  const [nodes, to] = [given.need('nodes'), given.need('to')];
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

const expectVersion = (said: string, to: string) => `said=$(${said})
case $said in
  ${to} | ${to}-*) echo "$said" ;;
  *) echo "It runs \\"$said\\", not ${to}: check the installed version before you go on." >&2; exit 1 ;;
esac`;

/** Repairs and backups are not supported while nodes have different versions. */
function withoutManager({ engine, cluster }: Given, steps: Step[]): Step[] {
  if (engine !== 'scylla' || !cluster) return steps;
  const resume = sctool('resume', '-c', cluster, '--start-tasks');
  const ifItFails = `Manager begins no repair and no backup until the last step, or: ${resume}`;
  return [
    here(`Manager begins no repair and no backup until: ${resume}`, sctool('suspend', '-c', cluster)),
    ...[...steps, here('Manager goes on', resume)].map((step) => ({ ...step, ifItFails })),
  ];
}

const rewrite = (given: Given) =>
  given
    .need('nodes')
    .map((node) =>
      onNode(node, 'rewrites all its files', command('nodetool', 'upgradesstables', given.keyspace)),
    );

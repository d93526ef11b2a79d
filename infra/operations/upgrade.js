import { sctool } from './manager.js';
import { expectAllUp, restarted } from './nodes.js';
import { here, onNode } from './plan.js';
import { SERVICE } from './service.js';
import { command } from './shell.js';

/** @typedef {import('./given.js').Given} Given */

/** How a new version gets onto a node: Debian's way; where it is another, `--install` says so. */
const INSTALL = {
  scylla: () => 'sudo apt-get update && sudo apt-get dist-upgrade -y scylla',
  cassandra: (/** @type {string} */ version) =>
    `sudo apt-get update && ${command('sudo', 'apt-get', 'install', '-y', `cassandra=${version}`)}`,
};

const VERSION = { scylla: 'scylla --version', cassandra: 'nodetool version' };

/** @satisfies {import('./given.js').Operation} */
export const upgrade = {
  help: 'a new version, node by node, while the others serve',
  flags: {
    to: { type: 'text', help: 'the version, such as 2026.1.6' },
    install: { type: 'text', help: 'command that installs it on a node; default: by apt' },
    'rewrite-sstables': {
      type: 'switch',
      help: 'Cassandra: writes all files in the form of the new version afterwards; after a major one',
    },
  },
  plan(given) {
    const [nodes, to] = [given.need('nodes'), given.need('to')];
    const [first] = nodes;
    const { stop, start } = given.commands(SERVICE[given.engine]);
    const install = given.install ?? INSTALL[given.engine](to);
    return [
      ...pause(given),
      onNode(first, 'all nodes have one schema', 'nodetool describecluster'),
      ...nodes.flatMap((node) => [
        expectAllUp(node, nodes.length),
        onNode(
          node,
          `takes the snapshot before-${to}, to go back to`,
          command('nodetool', 'snapshot', '-t', `before-${to}`, given.keyspace),
        ),
        ...restarted(node, nodes, { stop, start, between: [onNode(node, `installs ${to}`, install)] }),
        onNode(node, 'its version', VERSION[given.engine]),
      ]),
      ...resume(given),
      ...(given['rewrite-sstables'] ? rewrite(given) : []),
    ];
  },
};

/** Repairs and backups between two versions are not supported. @param {Given} given */
const pause = ({ engine, cluster }) =>
  engine === 'scylla' && cluster
    ? [here('Manager begins no repair and no backup meanwhile', sctool('suspend', '-c', cluster))]
    : [];

/** @param {Given} given */
const resume = ({ engine, cluster }) =>
  engine === 'scylla' && cluster
    ? [here('Manager goes on', sctool('resume', '-c', cluster, '--start-tasks'))]
    : [];

/** @param {Given} given */
const rewrite = (given) =>
  given
    .need('nodes')
    .map((node) =>
      onNode(node, 'writes its files anew', command('nodetool', 'upgradesstables', given.keyspace)),
    );

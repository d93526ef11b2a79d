import { MillraceError } from '../../common/errors.js';

/** Stops and starts the database on a node by its package. `--stop` and `--start` override it. */
export const SERVICE = {
  scylla: { stop: 'sudo systemctl stop scylla-server', start: 'sudo systemctl start scylla-server' },
  cassandra: { stop: 'sudo systemctl stop cassandra', start: 'sudo systemctl start cassandra' },
};

/**
 * Pods are stopped and started by what keeps them; compose.sh stops and starts the container.
 *
 * @param {string} reach
 * @throws {MillraceError} `usage`
 */
export function expectService(reach) {
  if (!/\bkubernetes\.sh\b/.test(reach)) return;
  throw new MillraceError(
    'usage',
    'A pod is stopped and started by what keeps it, not from here: change its ScyllaCluster (infra/kubernetes/README.md), or say how by --stop and --start.',
  );
}

/**
 * @param {string} reach
 * @param {string} instead what is done in containers
 * @throws {MillraceError} `usage`
 */
export function expectMachine(reach, instead) {
  if (!/\b(compose|kubernetes)\.sh\b/.test(reach)) return;
  throw new MillraceError('usage', `Containers have no packages and no settings of their own: ${instead}`);
}

import { MillraceError } from '../../../common/errors.js';

/** Stops and starts the database on a node by its package. `--stop` and `--start` override it. */
export const SERVICE = {
  scylla: { stop: 'sudo systemctl stop scylla-server', start: 'sudo systemctl start scylla-server' },
  cassandra: { stop: 'sudo systemctl stop cassandra', start: 'sudo systemctl start cassandra' },
};

/**
 * The Kubernetes operator stops and starts pods. compose.sh stops and starts the container.
 *
 * @param {string} reach
 * @throws {MillraceError} `usage`
 */
export function expectService(reach) {
  if (!/\bkubernetes\.sh\b/.test(reach)) return;
  throw new MillraceError(
    'usage',
    'The operator stops and starts a pod, not this command: change its ScyllaCluster (docs/how-to/deploy-to-kubernetes.md), or set --stop and --start.',
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

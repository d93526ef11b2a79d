import { MillraceError } from '../../../common/errors.ts';

/** Names from the package of the database. The flags `--stop` and `--start` replace them. */
export const SERVICE = {
  scylla: { stop: 'sudo systemctl stop scylla-server', start: 'sudo systemctl start scylla-server' },
  cassandra: { stop: 'sudo systemctl stop cassandra', start: 'sudo systemctl start cassandra' },
};

/**
 * In Kubernetes only the operator stops and starts pods. In docker compose, compose.sh stops and starts the container.
 * @throws `usage`
 */
export function expectService(reach: string) {
  if (!/\bkubernetes\.sh\b/.test(reach)) return;
  throw new MillraceError(
    'usage',
    'The operator stops and starts a pod, not this command: change its ScyllaCluster (docs/how-to/deploy-to-kubernetes.md), or set --stop and --start.',
  );
}

/** @param instead sentence for the error message: the procedure for containers @throws `usage` */
export function expectMachine(reach: string, instead: string) {
  if (!/\b(compose|kubernetes)\.sh\b/.test(reach)) return;
  throw new MillraceError('usage', `Containers have no packages and no settings of their own: ${instead}`);
}

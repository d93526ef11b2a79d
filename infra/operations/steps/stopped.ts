import { here } from '../plan.ts';
import { command } from './shell.ts';

/** During a restore, a running packer would mark hours as packed before their samples are restored, and this mark is permanent. */
export const expectAllStopped = (keyspace: string) =>
  here(
    'no process of the application runs, or this goes no further',
    `${command(`CQL_KEYSPACE=${keyspace}`)} node infra/operations/steps/expect-stopped.ts`,
  );

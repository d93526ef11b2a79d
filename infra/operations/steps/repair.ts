import type { Given } from '../flags.ts';
import { onNode, type Step } from '../plan.ts';
import { managed } from './manager.ts';
import { command } from './shell.ts';

/** Gives every node the writes that it missed. */
export const repairAll = ({ engine, need, keyspace, tag }: Given): Step[] =>
  engine === 'scylla'
    ? managed('repairs all nodes', {
        cluster: need('cluster'),
        type: 'repair',
        name: `millrace-${tag}`,
        words: ['-K', keyspace],
      })
    : repairs(need('nodes'), keyspace);

/**
 * Each node repairs its primary ranges. So every range is repaired once, and not once for each of three copies. A full repair also covers
 * the data that an incremental repair has marked as repaired.
 */
export const repairs = (nodes: string[], keyspace: string) =>
  nodes.map((node) =>
    onNode(
      node,
      'compares its own ranges with the other replicas, and all get what they lack',
      command('nodetool', 'repair', '--full', '--partitioner-range', keyspace),
    ),
  );

import { onNode } from '../plan.js';
import { managed } from './manager.js';
import { command } from './shell.js';

/** @import { Given } from '../flags.js' */
/** @import { Step } from '../plan.js' */

/** @param {Given} given @returns {Step[]} steps of a repair, which gives every node the writes that it missed */
export const repairAll = ({ engine, need, keyspace, tag }) =>
  engine === 'scylla'
    ? managed('repairs all nodes', {
        cluster: need('cluster'),
        type: 'repair',
        name: `millrace-${tag}`,
        words: ['-K', keyspace],
      })
    : repairs(need('nodes'), keyspace);

/**
 * Returns steps in which each node repairs its primary ranges. So every range is repaired once, and not once for each of three copies. A
 * full repair also covers the data that an incremental repair has marked as repaired.
 *
 * @param {string[]} nodes
 * @param {string} keyspace
 */
export const repairs = (nodes, keyspace) =>
  nodes.map((node) =>
    onNode(
      node,
      'compares its own ranges with the other replicas, and all get what they lack',
      command('nodetool', 'repair', '--full', '--partitioner-range', keyspace),
    ),
  );

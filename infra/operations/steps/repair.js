import { onNode } from '../plan.js';
import { managed } from './manager.js';
import { command } from './shell.js';

/** @import { Given } from '../flags.js' */
/** @import { Step } from '../plan.js' */

/** @param {Given} given @returns {Step[]} the steps that give every node the writes that it missed */
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
 * Each node repairs its own ranges, so that none is left out and none is repaired three times. A full repair also covers
 * the data that an incremental repair has marked.
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

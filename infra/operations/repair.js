import { managed } from './manager.js';
import { onNode } from './plan.js';
import { command } from './shell.js';

/** @import { Operation } from './given.js' */

/** @satisfies {Operation} */
export const repair = {
  help: 'gives every node what it has missed',
  examples: ['--cluster prod --dry-run', '--engine cassandra --nodes a,b,c'],
  shared: ['engine', 'cluster', 'nodes', 'reach', 'keyspace', 'tag'],
  flags: {},
  plan: (given) =>
    given.engine === 'scylla'
      ? managed('repairs all nodes', {
          cluster: given.need('cluster'),
          type: 'repair',
          name: `millrace-${given.tag}`,
          words: ['-K', given.keyspace],
        })
      : repairs(given.need('nodes'), given.keyspace),
};

/**
 * Each node repairs the ranges that are its own, so that together none is left out and none is done three times. In full:
 * what an incremental repair has marked is not looked at again.
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

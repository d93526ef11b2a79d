import { onNode } from '../plan.js';
import { until } from './wait.js';

/** @import { Step } from '../plan.js' */

/**
 * True when `nodetool status` knows exactly so many nodes, and all of them are up and take part. The check ignores addresses, because
 * the nodes may be reached from here by other ones.
 *
 * @param {number} count
 */
const allUp = (count) =>
  `nodetool status | awk "/^[UD][NLJM] / {all++} /^UN / {up++} END {exit all != ${count} || up != ${count}}"`;

/**
 * No operation begins while a node is down, because two of three nodes down are no quorum.
 *
 * @param {string} viewer
 * @param {number} count
 */
export const expectAllUp = (viewer, count) =>
  onNode(viewer, `all ${count} nodes are up, or this goes no further`, allUp(count));

/** @param {string} viewer who waits until it sees so @param {number} count @param {number} within ms */
export const awaitAllUp = (viewer, count, within) =>
  onNode(
    viewer,
    `waits until it sees ${count} nodes, all up`,
    until(allUp(count), {
      within,
      late: `this node does not see ${count} nodes, all up: look at nodetool status here, and at the log of the one that is missing; --within waits longer.`,
    }),
  );

/**
 * True when all nodes have one schema. A node that has left is reported as unreachable for days. `allUp` finds a node that is down.
 */
const ONE_SCHEMA =
  'nodetool describecluster | awk "/Schema versions:/ {on = 1; next} /^[^\\t]/ {on = 0} /UNREACHABLE/ {next} on && /: \\[/ {n++} END {exit n != 1}"';

/** Nodes with two schemas agree on one within seconds, if nothing is wrong. */
const AGREE_WITHIN_MS = 120_000;

/** @param {string} viewer @param {number} within ms */
export const awaitOneSchema = (viewer, within) =>
  onNode(
    viewer,
    'all nodes have one schema, or this goes no further',
    until(ONE_SCHEMA, {
      within: Math.min(within, AGREE_WITHIN_MS),
      late: 'the nodes have not one schema: look at nodetool describecluster.',
    }),
  );

/**
 * A node opens its port for clients last, when it has joined and has read its log.
 *
 * @param {string} node
 * @param {number} within ms
 */
export const awaitServing = (node, within) =>
  onNode(
    node,
    'waits until it serves clients',
    until('nodetool info 2>/dev/null | grep -Eq "^Native Transport active *: *true"', {
      within,
      late: 'it does not serve clients: look at its log, and at nodetool netstats where it is fetching data; --within waits longer.',
    }),
  );

/**
 * Stops and starts one node while the others serve. The steps end when the other nodes see it again.
 *
 * @param {string} node
 * @param {string[]} nodes all
 * @param {{ stop: string, start: string, within: number, between?: Step[] }} commands `within`: ms for each wait
 * @returns {Step[]}
 */
export const restarted = (node, nodes, { stop, start, within, between = [] }) => [
  onNode(node, 'takes no more requests, and writes down what memory holds', 'nodetool drain'),
  onNode(node, 'stops', stop),
  ...between,
  onNode(node, 'starts', start),
  awaitServing(node, within),
  ...nodes.filter((other) => other !== node).map((other) => awaitAllUp(other, nodes.length, within)),
];

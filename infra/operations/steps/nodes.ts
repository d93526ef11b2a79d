import { onNode, type Step } from '../plan.ts';
import { until } from './wait.ts';

/** All nodes must be up and normal (UN). The check ignores addresses, because this machine may use other addresses for the nodes. */
const allUp = (count: number) =>
  `nodetool status | awk "/^[UD][NLJM] / {all++} /^UN / {up++} END {exit all != ${count} || up != ${count}}"`;

/**
 * No operation may begin while a node is down: it stops a second node, and two of three nodes are needed for a quorum.
 * @param viewer the node whose view of the cluster counts
 */
export const expectAllUp = (viewer: string, count: number) =>
  onNode(viewer, `all ${count} nodes are up, or this goes no further`, allUp(count));

/** @param within ms */
export const awaitAllUp = (viewer: string, count: number, within: number) =>
  onNode(
    viewer,
    `waits until it sees ${count} nodes, all up`,
    until(allUp(count), {
      within,
      late: `this node does not see ${count} nodes, all up: look at nodetool status here, and at the log of the one that is missing; --within waits longer.`,
    }),
  );

/**
 * Ignores unreachable nodes, because a node that has left the cluster is listed as unreachable for days. `allUp` detects a node that is
 * down.
 */
const ONE_SCHEMA =
  'nodetool describecluster | awk "/Schema versions:/ {on = 1; next} /^[^\\t]/ {on = 0} /UNREACHABLE/ {next} on && /: \\[/ {n++} END {exit n != 1}"';

/** Without a problem, nodes agree within seconds. */
const AGREE_WITHIN_MS = 120_000;

/** @param within ms */
export const awaitOneSchema = (viewer: string, within: number) =>
  onNode(
    viewer,
    'all nodes have one schema, or this goes no further',
    until(ONE_SCHEMA, {
      within: Math.min(within, AGREE_WITHIN_MS),
      late: 'the nodes have not one schema: look at nodetool describecluster.',
    }),
  );

/** A node opens its port for clients last, after it has joined and read its commit log. @param within ms */
export const awaitServing = (node: string, within: number) =>
  onNode(
    node,
    'waits until it serves clients',
    until('nodetool info 2>/dev/null | grep -Eq "^Native Transport active *: *true"', {
      within,
      late: 'it does not serve clients: look at its log, and at nodetool netstats where it is fetching data; --within waits longer.',
    }),
  );

/**
 * Ends when the other nodes report the node as up again.
 * @param nodes all nodes of the cluster
 * @param commands `within`: time limit of each wait, in ms; `between`: steps while the node is stopped
 */
export const restarted = (
  node: string,
  nodes: string[],
  { stop, start, within, between = [] }: { stop: string; start: string; within: number; between?: Step[] },
): Step[] => [
  onNode(node, 'takes no more requests, and writes down what memory holds', 'nodetool drain'),
  onNode(node, 'stops', stop),
  ...between,
  onNode(node, 'starts', start),
  awaitServing(node, within),
  ...nodes.filter((other) => other !== node).map((other) => awaitAllUp(other, nodes.length, within)),
];

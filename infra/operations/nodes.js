import { onNode } from './plan.js';

/** @typedef {import('./plan.js').Step} Step */

/** Between two looks at something that takes minutes, in s. */
const LOOK_EVERY_S = 5;

/** @param {string} condition @returns {string} waits until it holds */
const until = (condition) => `until ${condition}; do sleep ${LOOK_EVERY_S}; done`;

/**
 * True when `nodetool status` knows just so many nodes, and all of them are up and take part. Addresses play no part in
 * it: they may be others than those by which the nodes are reached from here.
 *
 * @param {number} count
 */
const allUp = (count) =>
  `nodetool status | awk "/^[UD][NLJM] / {all++} /^UN / {up++} END {exit all != ${count} || up != ${count}}"`;

/**
 * Nothing is begun while a node is away: two nodes of three away are no quorum.
 *
 * @param {string} viewer
 * @param {number} count
 */
export const expectAllUp = (viewer, count) =>
  onNode(viewer, `all ${count} nodes are up, or this goes no further`, allUp(count));

/** @param {string} viewer who waits until it sees so @param {number} count */
export const awaitAllUp = (viewer, count) =>
  onNode(viewer, `waits until it sees ${count} nodes, all up`, until(allUp(count)));

/** A node opens its port for clients last, when it has joined and has read its log. @param {string} node */
export const awaitServing = (node) =>
  onNode(
    node,
    'waits until it serves clients',
    until('nodetool info 2>/dev/null | grep -Eq "^Native Transport active *: *true"'),
  );

/**
 * One node stopped and started, while the others serve: it is back, and known to be back, before this ends.
 *
 * @param {string} node
 * @param {string[]} nodes all
 * @param {{ stop: string, start: string, between?: Step[] }} commands
 * @returns {Step[]}
 */
export const restarted = (node, nodes, { stop, start, between = [] }) => [
  onNode(node, 'takes no more requests, and writes down what memory holds', 'nodetool drain'),
  onNode(node, 'stops', stop),
  ...between,
  onNode(node, 'starts', start),
  awaitServing(node),
  ...nodes.filter((other) => other !== node).map((other) => awaitAllUp(other, nodes.length)),
];

import { command } from './steps/shell.js';

/**
 * A step of an operation: a script for a POSIX shell, which is printed or run unchanged.
 *
 * @typedef {object} Step
 * @property {string} title text for the operator: what the step does
 * @property {string} script
 * @property {string} [node] the node on which the step runs; missing: this machine
 * @property {string} [ifItFails] one line: what the operator must correct after a failure
 */

/** Creates a step that runs on this machine. @param {string} title @param {string} script @returns {Step} */
export const here = (title, script) => ({ title, script });

/** Creates a step that runs on a node. @param {string} node @param {string} title @param {string} script @returns {Step} */
export const onNode = (node, title, script) => ({ title: `${node}: ${title}`, script, node });

/**
 * Returns the command line of a step. For a step on a node, it calls a program with the name of the node and a script, as `ssh` does.
 *
 * @param {Step} step
 * @param {string} reach the program that runs a script on a node, with its first arguments
 */
export const commandLine = ({ node, script }, reach) =>
  node === undefined ? script : `${reach} ${command(node, script)}`;

/**
 * Returns the lines of a step in a script. `set -e` does not end a shell if `a` of `a && b` fails, but it does if a nested shell fails. So
 * a step with `&&` runs in a nested shell.
 *
 * @param {Step} step
 * @param {string} reach
 */
function scriptLines(step, reach) {
  const line = commandLine(step, reach);
  return step.node === undefined && line.includes('&&') ? `(\n${line}\n)` : line;
}

/**
 * Returns a plan as a script that runs the same steps as `runPlan`.
 *
 * @param {Step[]} steps
 * @param {{ reach: string, from: number }} options `from`: number of the first step, counted from 1
 * @returns {string}
 */
export function printPlan(steps, { reach, from }) {
  const lines = steps.map(
    (step, index) => `# ${index + 1}/${steps.length} ${step.title}\n${scriptLines(step, reach)}\n`,
  );
  return ['#!/bin/sh\nset -eu\n', ...lines.slice(from - 1)].join('\n');
}

import { command } from './steps/shell.js';

/**
 * A step of an operation: text for a POSIX shell, which is printed or run unchanged.
 *
 * @typedef {object} Step
 * @property {string} title text for the operator: what the step does
 * @property {string} script
 * @property {string} [node] the node on which the step runs; missing: this machine
 * @property {string} [ifItFails] one line: what the operator must correct after a failure
 */

/** @param {string} title @param {string} script @returns {Step} */
export const here = (title, script) => ({ title, script });

/** @param {string} node @param {string} title @param {string} script @returns {Step} */
export const onNode = (node, title, script) => ({ title: `${node}: ${title}`, script, node });

/**
 * The command line of a step. A node is reached by a program that takes its name and a script for its shell, as `ssh` does.
 *
 * @param {Step} step
 * @param {string} reach the program that reaches nodes, with its first arguments
 */
export const commandLine = ({ node, script }, reach) =>
  node === undefined ? script : `${reach} ${command(node, script)}`;

/**
 * A step as lines of a script. `set -e` does not end a shell if `a` of `a && b` fails, but it does if a nested shell fails.
 * So a step with `&&` runs in a nested shell.
 *
 * @param {Step} step
 * @param {string} reach
 */
function scriptLines(step, reach) {
  const line = commandLine(step, reach);
  return step.node === undefined && line.includes('&&') ? `(\n${line}\n)` : line;
}

/**
 * A plan as a script that does what `runPlan` does, step by step.
 *
 * @param {Step[]} steps
 * @param {{ reach: string, from: number }} options `from`: number of the first step, 1 on
 * @returns {string}
 */
export function printPlan(steps, { reach, from }) {
  const lines = steps.map(
    (step, index) => `# ${index + 1}/${steps.length} ${step.title}\n${scriptLines(step, reach)}\n`,
  );
  return ['#!/bin/sh\nset -eu\n', ...lines.slice(from - 1)].join('\n');
}

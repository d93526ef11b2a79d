import { command } from './steps/shell.ts';

/** A step of an operation: a script for a POSIX shell, which is printed or run unchanged. */
export interface Step {
  /** text for the operator: what the step does */
  title: string;
  script: string;
  /** the node on which the step runs; missing: this machine */
  node?: string;
  /** one line: what the operator must correct after a failure */
  ifItFails?: string;
}

/** Creates a step that runs on this machine. */
export const here = (title: string, script: string): Step => ({ title, script });

/** Creates a step that runs on a node. */
export const onNode = (node: string, title: string, script: string): Step => ({
  title: `${node}: ${title}`,
  script,
  node,
});

/**
 * Returns the command line of a step. For a step on a node, it calls a program with the name of the node and a script, as `ssh` does.
 * @param reach the program that runs a script on a node, with its first arguments
 */
export const commandLine = ({ node, script }: Step, reach: string) =>
  node === undefined ? script : `${reach} ${command(node, script)}`;

/**
 * Returns the lines of a step in a script. `set -e` does not end a shell if `a` of `a && b` fails, but it does if a nested shell fails. So
 * a step with `&&` runs in a nested shell.
 */
function scriptLines(step: Step, reach: string) {
  const line = commandLine(step, reach);
  return step.node === undefined && line.includes('&&') ? `(\n${line}\n)` : line;
}

/**
 * Returns a plan as a script that runs the same steps as `runPlan`.
 * @param options `from`: number of the first step, counted from 1
 */
export function printPlan(steps: Step[], { reach, from }: { reach: string; from: number }): string {
  const lines = steps.map(
    (step, index) => `# ${index + 1}/${steps.length} ${step.title}\n${scriptLines(step, reach)}\n`,
  );
  return ['#!/bin/sh\nset -eu\n', ...lines.slice(from - 1)].join('\n');
}

import { command } from './steps/shell.ts';

/** The script is for a POSIX shell, and is printed or run unchanged. */
export interface Step {
  title: string;
  script: string;
  /** missing: this machine */
  node?: string;
  /** one line for the operator */
  ifItFails?: string;
}

export const here = (title: string, script: string): Step => ({ title, script });

export const onNode = (node: string, title: string, script: string): Step => ({
  title: `${node}: ${title}`,
  script,
  node,
});

/** @param reach is called with the name of the node and a script, as `ssh` is */
export const commandLine = ({ node, script }: Step, reach: string) =>
  node === undefined ? script : `${reach} ${command(node, script)}`;

/**
 * `set -e` does not end a shell if `a` of `a && b` fails, but it does if a nested shell fails. So a step with `&&` runs in a nested shell.
 */
function scriptLines(step: Step, reach: string) {
  const line = commandLine(step, reach);
  return step.node === undefined && line.includes('&&') ? `(\n${line}\n)` : line;
}

/** The script runs the same steps as `runPlan`. @param options `from`: number of the first step, counted from 1 */
export function printPlan(steps: Step[], { reach, from }: { reach: string; from: number }): string {
  const lines = steps.map(
    (step, index) => `# ${index + 1}/${steps.length} ${step.title}\n${scriptLines(step, reach)}\n`,
  );
  return ['#!/bin/sh\nset -eu\n', ...lines.slice(from - 1)].join('\n');
}

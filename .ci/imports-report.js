import { readFile } from 'node:fs/promises';

const KNOWN = new URL('known-imports.json', import.meta.url);

/** @typedef {{ from: string, to: string, rule: { name: string, severity: string } }} Violation */

/** @type {Violation[]} */
const known = JSON.parse(await readFile(KNOWN, 'utf8'));

/** @param {Violation} violation */
const arrow = ({ from, to }) => `${from} -> ${to}`;

/**
 * The report of dependency-cruiser: every forbidden import, and every known one that is gone, so that their list only gets shorter.
 *
 * @param {{ summary: { violations: Violation[], totalCruised: number } }} result
 * @returns {{ output: string, exitCode: number }}
 */
export default function report({ summary: { violations, totalCruised } }) {
  const found = new Set(violations.map(arrow));
  const problems = [
    ...violations
      .filter(({ rule }) => rule.severity !== 'ignore')
      .map(
        (violation) => `${arrow(violation)}: forbidden by "${violation.rule.name}" in .dependency-cruiser.js`,
      ),
    ...known
      .map(arrow)
      .filter((each) => !found.has(each))
      .map((each) => `${each}: no longer there; remove it from .ci/known-imports.json`),
  ];
  const counts = `imports: ${totalCruised} modules, ${known.length} known arrows, ${problems.length} problems`;
  return { output: [...problems, counts, ''].join('\n'), exitCode: Math.min(problems.length, 1) };
}

import { parser } from '@grafana/lezer-logql';

/** @param {string} expression LogQL @returns {string[]} its syntax errors */
export function logqlErrors(expression) {
  /** @type {string[]} */
  const errors = [];
  parser.parse(expression).iterate({
    enter({ from, type }) {
      if (type.isError) errors.push(`${expression} at ${from}`);
    },
  });
  return errors;
}

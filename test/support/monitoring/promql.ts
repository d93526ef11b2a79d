import { parser } from '@prometheus-io/lezer-promql';

/** Variables that Grafana replaces before it sends a query. */
const VARIABLES = { $__rate_interval: '5m', $__range: '1h' };

/**
 * @param {string} expression PromQL, with Grafana's variables
 * @returns {{ errors: string[], metrics: string[] }} the syntax errors, and the metrics that it queries
 */
export function readPromql(expression) {
  const text = Object.entries(VARIABLES).reduce(
    (all, [name, value]) => all.replaceAll(name, value),
    expression,
  );
  /** @type {string[]} */
  const errors = [];
  /** @type {string[]} */
  const metrics = [];
  parser.parse(text).iterate({
    enter(node) {
      const { from, to, type, name } = node;
      if (type.isError) errors.push(`${text} at ${from}`);
      if (name === 'Identifier' && node.node.parent?.name === 'VectorSelector')
        metrics.push(text.slice(from, to));
    },
  });
  return { errors, metrics };
}

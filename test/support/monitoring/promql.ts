import { parser } from '@prometheus-io/lezer-promql';

/** Variables that Grafana replaces before it sends a query. */
const VARIABLES = { $__rate_interval: '5m', $__range: '1h' };

/**
 * @param expression PromQL, with Grafana's variables
 * @returns the syntax errors, and the metrics that it queries
 */
export function readPromql(expression: string): { errors: string[]; metrics: string[] } {
  const text = Object.entries(VARIABLES).reduce(
    (all, [name, value]) => all.replaceAll(name, value),
    expression,
  );
  const errors: string[] = [];
  const metrics: string[] = [];
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

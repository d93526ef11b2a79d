import { parser } from '@grafana/lezer-logql';

export function logqlErrors(expression: string): string[] {
  const errors: string[] = [];
  parser.parse(expression).iterate({
    enter({ from, type }) {
      if (type.isError) errors.push(`${expression} at ${from}`);
    },
  });
  return errors;
}

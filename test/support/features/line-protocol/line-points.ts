import { LineParser } from '../../../../api/features/line-protocol/parser.ts';

/** A point whose fields are those with numbers, and the number of its texts. */
type NumericPoint = {
  line: number;
  measurement: string;
  tags: [string, string][];
  fields: [string, number][];
  texts: number;
  time: string;
};

export function readLines(text: string) {
  const parser = new LineParser(text, {
    seriesOf: (measurement, tags) => ({ measurement, tags: [...tags] }),
    fieldOf: (_, key) => key,
  });
  const points: NumericPoint[] = [];
  const bad: Array<[line: number, rule: string]> = [];
  while (parser.next()) {
    const { line, error, series, count, texts, time } = parser;
    if (error !== null || !series) bad.push([line, String(error)]);
    else {
      const fields = Array.from({ length: count }, (_, at) => [parser.fields[at], parser.values[at]]);
      points.push({ line, ...series, fields: fields as never, texts, time });
    }
  }
  return { points, bad };
}

import type { RequestHandler } from 'express';
import { z } from 'zod';
import { MillraceError } from '../../../common/errors.ts';
import { abortOnClose, json } from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import { sendPieces } from '../shared/files/index.ts';
import { durationOf } from './durations.ts';
import { type Expression, parseExpression } from './expression.ts';
import { METRIC_NAME } from './labels.ts';
import type { PrometheusDeps } from './requests.ts';
import {
  getAndPost,
  LIMIT_PARAMETER,
  operationOf,
  parametersOf,
  successBody,
  timeParameter,
  withPrometheusErrors,
} from './requests.ts';
import { SCHEMAS } from './schemas.ts';
import { evaluate, type Series } from './vector.ts';
import { Windows } from './windows.ts';

/** The same limit as in Prometheus. */
const MAX_STEPS = 11_000;

/** In ms, for a selector without a window. A longer step replaces it. */
const DEFAULT_WINDOW_MS = 5 * 60_000;

/** Grafana tests a data source with this expression, here without its spaces. */
const TEST_EXPRESSION = '1+1';

const step = z.string().transform((text) => durationOf(text));

const EXPRESSION = z.string().meta({
  description: 'The expression.',
  example: 'avg_over_time(millrace_value{device="my-desk"}[5m])',
});

const INSTANT_QUERY = {
  query: EXPRESSION,
  time: timeParameter(
    'The instant of evaluation: Unix seconds, or RFC 3339. Without it, the instant is now.',
    '1795680000',
  ).optional(),
  limit: LIMIT_PARAMETER,
};

const RANGE_QUERY = {
  query: EXPRESSION,
  start: timeParameter('The first step: Unix seconds, or RFC 3339.', '1795680000'),
  end: timeParameter(
    'No step is later than this instant, which is included: Unix seconds, or RFC 3339.',
    '1795683600',
  ),
  step: step.meta({
    description:
      'The time between two steps, at least 1 ms: a duration such as `15s`, or a number of seconds.',
    example: '15s',
    means: { type: 'string' },
  }),
  limit: LIMIT_PARAMETER,
};

export const getRange = (deps: PrometheusDeps): RequestHandler =>
  withPrometheusErrors(async (req, res) => {
    const { query: text, start, end, step: width, limit } = await parametersOf(req, res, RANGE_QUERY);
    if (start > end) throw new MillraceError('bad_range', 'end is before start');
    if ((end - start) / width > MAX_STEPS)
      throw new MillraceError(
        'query_too_large',
        `The range has more than ${MAX_STEPS} steps. Take a longer step.`,
      );
    const answer = async (signal: AbortSignal) => {
      const expression = parseExpression(text);
      const windows = windowsOf(expression, { start, end, step: width });
      const begin = '{"status":"success","data":{"resultType":"matrix","result":[';
      const read = evaluate(deps, expression, { windows, signal });
      return sendPieces(res, { begin, end: ']}}', signal }, pieces(read, windows, limit));
    };
    await deps.promql(res, () => abortOnClose(res, answer));

    async function* pieces(read: AsyncIterable<Series>, windows: Windows, limit: number | undefined) {
      for await (const { labels, values } of takeFirst(read, limit)) {
        const points = values.flatMap((value, index) =>
          value === null ? [] : [[windows.timeOf(index) / 1000, String(value)]],
        );
        yield [JSON.stringify({ metric: labels, values: points })];
      }
    }
  });

export const getInstant = (deps: PrometheusDeps): RequestHandler =>
  withPrometheusErrors(async (req, res) => {
    const {
      query: text,
      time: instant = deps.context.clock(),
      limit,
    } = await parametersOf(req, res, INSTANT_QUERY);
    if (text.replaceAll(/\s/g, '') === TEST_EXPRESSION)
      return void res.json(successBody({ resultType: 'scalar', result: [instant / 1000, '2'] }));
    async function answer(signal: AbortSignal) {
      const expression = parseExpression(text);
      const windows = windowsOf(expression, { start: instant, end: instant, step: 1 });
      const result = [];
      const read = evaluate(deps, expression, { windows, signal });
      for await (const { labels, values } of takeFirst(read, limit)) {
        const [value = null] = values;
        if (value !== null) result.push({ metric: labels, value: [instant / 1000, String(value)] });
      }
      res.json(successBody({ resultType: 'vector', result }));
    }
    await deps.promql(res, () => abortOnClose(res, answer));
  });

function windowsOf({ windowMs }: Expression, steps: { start: number; end: number; step: number }) {
  return new Windows(steps, windowMs ?? Math.max(DEFAULT_WINDOW_MS, steps.step));
}

/** `limit` 0: no limit. */
async function* takeFirst<T>(items: AsyncIterable<T>, limit: number = 0): AsyncGenerator<T, void> {
  let count = 0;
  for await (const item of items) {
    yield item;
    if (++count === limit) return;
  }
}

const DESCRIPTION = `Millrace answers a part of PromQL, for clients of Prometheus such as Grafana and \`promtool\`. One metric, \`${METRIC_NAME}\`, contains the values of all
sensors. Its labels are \`device\`, \`sensor\`, \`type\`, \`unit\` and \`site\`. A device or sensor without a name appears with its id.

- Supported are selectors, \`avg_over_time\`, \`min_over_time\`, \`max_over_time\`, \`sum_over_time\`, \`count_over_time\`, \`first_over_time\` and
  \`last_over_time\`, and one aggregation around these: \`sum\`, \`avg\`, \`min\`, \`max\` or \`count\`, with or without \`by\`.
- A window includes its start and excludes its step. A sample at the very instant of a step counts only for later steps. Prometheus does the opposite.
- A selector has at most 30 matchers. A regular expression has at most 1,000 characters, and those of a request at most 300 instructions of RE2. A list of texts such as \`(a|b)\` does not count.
- A selector without a window takes the newest value of the 5 minutes before the step, or of the whole step if it is longer.`;

export const queryRange = operationOf('prometheusRange', 'Values of series at each step of a range', {
  query: RANGE_QUERY,
  answer: json(SCHEMAS.PrometheusMatrix),
  description: DESCRIPTION,
});

export const queryInstant = operationOf('prometheusInstant', 'Values of series at an instant', {
  query: INSTANT_QUERY,
  answer: json(SCHEMAS.PrometheusVector),
  description: DESCRIPTION,
});

export const routes: Array<Route<PrometheusDeps>> = [
  ...getAndPost('query_range', getRange, queryRange),
  ...getAndPost('query', getInstant, queryInstant),
];

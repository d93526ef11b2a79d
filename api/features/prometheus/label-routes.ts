import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { MillraceError } from '../../../common/errors.ts';
import type { Operation } from '../../http/contract/operation.ts';
import { abortOnClose, json } from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import { type Labels, NAME_LABEL, parseSelector } from './expression.ts';
import { METRIC_NAME, selectMatching } from './labels.ts';
import { PatternBudget } from './matchers.ts';
import type { PrometheusDeps } from './requests.ts';
import {
  getAndPost,
  LIMIT_PARAMETER,
  operationOf,
  PROMETHEUS_PATH,
  parametersOf,
  successBody,
  withPrometheusErrors,
} from './requests.ts';
import { SCHEMAS } from './schemas.ts';
import { MAX_SERIES } from './vector.ts';

const MAX_SELECTORS = 100;

const MATCH = {
  'match[]': z
    .union([z.string(), z.array(z.string())], 'a text, which may be repeated')
    .transform((given) => [given].flat())
    .refine((texts) => texts.length <= MAX_SELECTORS, `at most ${MAX_SELECTORS} of them`)
    .optional()
    .meta({
      description: `A selector. A client may repeat it, up to ${MAX_SELECTORS} times. The answer covers every sensor that at least one selector matches. Default: all sensors.`,
      example: ['millrace_value{site="Office"}'],
      means: { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: MAX_SELECTORS },
    }),
  limit: LIMIT_PARAMETER,
};

export const getSeries = (deps: PrometheusDeps): RequestHandler =>
  withPrometheusErrors(async (req, res) => {
    const { 'match[]': texts, limit } = await parametersOf(req, res, MATCH);
    const most = limit || MAX_SERIES;
    const series: Labels[] = [];
    await eachSensor(deps, { res, texts }, (labels) => {
      if (series.length < most) series.push(labels);
      else if (!limit)
        throw new MillraceError(
          'query_too_large',
          `More than ${most} series. Send a limit, or select fewer.`,
        );
    });
    if (!res.closed) res.json(successBody(series));
  });

export const getLabels = (deps: PrometheusDeps): RequestHandler =>
  withPrometheusErrors((req, res) => answerTexts(deps, req, res, (labels) => Object.keys(labels)));

export const getLabelValues = (deps: PrometheusDeps): RequestHandler =>
  withPrometheusErrors((req, res) =>
    answerTexts(deps, req, res, (labels) => labels[String(req.params['label'])] ?? []),
  );

/** `textsOf`: texts of an answer from the labels of one sensor. */
async function answerTexts(
  deps: PrometheusDeps,
  req: Request,
  res: Response,
  textsOf: (labels: Labels) => string | string[],
) {
  const { 'match[]': texts, limit } = await parametersOf(req, res, MATCH);
  const found: Set<string> = new Set();
  await eachSensor(deps, { res, texts }, (labels) => {
    for (const text of [textsOf(labels)].flat()) found.add(text);
  });
  if (!res.closed) res.json(successBody([...found].sort().slice(0, limit || undefined)));
}

/**
 * Labels of sensors that at least one selector (`texts`) matches. The sensors themselves are not kept, so that a fleet of any size has an
 * answer.
 */
async function eachSensor(
  deps: PrometheusDeps,
  { res, texts = [`{${NAME_LABEL}="${METRIC_NAME}"}`] }: { res: Response; texts: string[] | undefined },
  onLabels: (labels: Labels) => void,
) {
  const accepts = (labels: Labels) => {
    onLabels(labels);
    return false;
  };
  const read = async (signal: AbortSignal) => {
    const budget = new PatternBudget();
    const selectors = texts.map((text) => parseSelector(text, budget));
    await selectMatching(deps, selectors, { limit: 0, to: 0, signal, accepts });
  };
  await deps.promql(res, () => abortOnClose(res, read));
}

export const getMetadata = (): RequestHandler => (req, res) => {
  const { metric } = req.query;
  const isKnown = metric === undefined || metric === '' || metric === METRIC_NAME;
  res.json(
    successBody(
      isKnown ? { [METRIC_NAME]: [{ type: 'gauge', help: 'A value of a sensor.', unit: '' }] } : {},
    ),
  );
};

const OF_SELECTED =
  'of the sensors that at least one `match[]` selects (default: all sensors), at all times.';

export const listSeries = operationOf('prometheusSeries', 'The labels of series', {
  query: MATCH,
  answer: json(SCHEMAS.PrometheusSeries),
  description: `The labels ${OF_SELECTED}`,
});

export const listLabels = operationOf('prometheusLabels', 'The names of labels', {
  query: MATCH,
  answer: json(SCHEMAS.PrometheusTexts),
  description: `The names of the labels ${OF_SELECTED}`,
});

export const listLabelValues = operationOf('prometheusLabelValues', 'The values of a label', {
  query: MATCH,
  answer: json(SCHEMAS.PrometheusTexts),
  description: `The values of a label ${OF_SELECTED}`,
});

export const readMetadata: Operation = {
  id: 'prometheusMetadata',
  tag: 'prometheus',
  scope: 'read',
  summary: 'The metrics',
  query: {
    metric: z.string().optional().meta({ description: 'The name of a metric. Default: all metrics.' }),
  },
  answers: { 200: json(SCHEMAS.PrometheusMetadata) },
  problems: [],
};

export const routes: Array<Route<PrometheusDeps>> = [
  ...getAndPost('series', getSeries, listSeries),
  ...getAndPost('labels', getLabels, listLabels),
  {
    method: 'get',
    path: `${PROMETHEUS_PATH}/api/v1/label/{label}/values`,
    operation: listLabelValues,
    handler: getLabelValues,
  },
  {
    method: 'get',
    path: `${PROMETHEUS_PATH}/api/v1/metadata`,
    operation: readMetadata,
    handler: getMetadata,
  },
];

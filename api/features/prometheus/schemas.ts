import { z } from 'zod';

const Labels = z.record(z.string(), z.string());

/** Unix seconds, and a value as a text. */
const Point = z.array(z.union([z.number(), z.string()])).length(2);

const success = z.literal('success');

const PrometheusMatrix = z
  .strictObject({
    status: success,
    data: z.strictObject({
      resultType: z.literal('matrix'),
      result: z.array(z.strictObject({ metric: Labels, values: z.array(Point) })),
    }),
  })
  .meta({
    description:
      'Series. `values` has a pair for each step with a value: the time in Unix seconds, and the value as a string.',
  });

const PrometheusVector = z
  .strictObject({
    status: success,
    data: z.union([
      z.strictObject({
        resultType: z.literal('vector'),
        result: z.array(z.strictObject({ metric: Labels, value: Point })),
      }),
      z.strictObject({ resultType: z.literal('scalar'), result: Point }),
    ]),
  })
  .meta({
    description: 'A value of each series. `1+1`, with which Grafana tests a data source, is a scalar.',
  });

const PrometheusSeries = z
  .strictObject({ status: success, data: z.array(Labels) })
  .meta({ description: 'The labels of each series.' });

const PrometheusTexts = z
  .strictObject({ status: success, data: z.array(z.string()) })
  .meta({ description: 'Names or values of labels in alphabetical order, each once.' });

const PrometheusMetadata = z
  .strictObject({
    status: success,
    data: z.record(
      z.string(),
      z.array(z.strictObject({ type: z.string(), help: z.string(), unit: z.string() })),
    ),
  })
  .meta({ description: 'The type, help text and unit of each metric.' });

const PrometheusError = z
  .strictObject({ status: z.literal('error'), errorType: z.literal('bad_data'), error: z.string().min(1) })
  .meta({ description: 'The reason why Millrace refused the request.' });

export const SCHEMAS = {
  PrometheusMatrix,
  PrometheusVector,
  PrometheusSeries,
  PrometheusTexts,
  PrometheusMetadata,
  PrometheusError,
};

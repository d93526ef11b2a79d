import type { RequestHandler } from 'express';
import type { Metrics } from '../../observability/metrics.ts';
import type { Readiness } from '../../observability/readiness.ts';
import { json, type Operation } from '../contract/operation.ts';
import { SCHEMAS } from '../contract/schemas/index.ts';
import type { Route } from '../route.ts';

export interface ServiceDeps {
  readiness: Readiness;
  metrics: Metrics;
}

export const getHealth = (): RequestHandler => (_req, res) => {
  res.json({ status: 'alive' });
};

export const getReadiness =
  ({ readiness }: ServiceDeps): RequestHandler =>
  async (_req, res) => {
    const state = await readiness.read();
    res.status(state.ready ? 200 : 503).json(state);
  };

export const getMetrics =
  ({ metrics }: ServiceDeps): RequestHandler =>
  async (_req, res) => {
    res.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  };

export const readHealth: Operation = {
  id: 'readHealth',
  tag: 'operation',
  scope: 'open',
  summary: 'Answers if this process is alive',
  answers: { 200: json(SCHEMAS.Alive) },
  problems: [],
};

export const readReadiness: Operation = {
  id: 'readReadiness',
  tag: 'operation',
  scope: 'open',
  summary: 'The readiness of this process, with its checks',
  answers: { 200: json(SCHEMAS.Readiness), 503: json(SCHEMAS.Readiness) },
  problems: [],
};

export const readMetrics: Operation = {
  id: 'readMetrics',
  tag: 'operation',
  scope: 'read',
  summary: 'Metrics in the text format of Prometheus',
  answers: {
    200: {
      'text/plain; version=0.0.4': {
        text: 'Each line has a name, labels and a value.',
        example: 'iot_http_streams 3\n',
      },
    },
  },
  problems: [],
};

export const readOpenApi: Operation = {
  id: 'readOpenApi',
  tag: 'contract',
  scope: 'open',
  summary: 'The HTTP interface, as OpenAPI 3.1',
  answers: { 200: json(SCHEMAS.Document) },
  problems: [],
};

export interface DocumentDeps {
  openApi: object;
}

export const getOpenApi =
  ({ openApi }: DocumentDeps): RequestHandler =>
  (_req, res) => {
    res.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' }).json(openApi);
  };

/** The state of this process. A process in any role serves these. */
export const routes: Array<Route<ServiceDeps>> = [
  { method: 'get', path: '/healthz', operation: readHealth, handler: getHealth },
  { method: 'get', path: '/readyz', operation: readReadiness, handler: getReadiness },
  { method: 'get', path: '/metrics', operation: readMetrics, handler: getMetrics },
];

/** Only a process that serves the API serves these. */
export const documentRoutes: Array<Route<DocumentDeps>> = [
  { method: 'get', path: '/openapi.json', operation: readOpenApi, handler: getOpenApi },
];

import { json } from '../contract/operation.js';
import { SCHEMAS } from '../contract/schemas/index.js';

/** @import { RequestHandler } from 'express' */
/** @import { Access } from '../../access/http/index.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Readiness } from '../../observability/readiness.js' */
/** @import { Operation } from '../contract/operation.js' */

/**
 * @typedef {object} ServiceDeps
 * @property {Access} access
 * @property {Readiness} readiness
 * @property {Metrics} metrics
 */

/** `GET /healthz`: reports that this process runs. @returns {RequestHandler} */
export const getHealth = () => (_req, res) => {
  res.json({ status: 'alive' });
};

/** `GET /readyz`: reports whether this process is ready. @param {ServiceDeps} deps @returns {RequestHandler} */
export const getReadiness =
  ({ readiness }) =>
  async (_req, res) => {
    const state = await readiness.read();
    res.status(state.ready ? 200 : 503).json(state);
  };

/** `GET /metrics`: returns the metrics of this process. @param {ServiceDeps} deps @returns {RequestHandler} */
export const getMetrics =
  ({ metrics }) =>
  async (_req, res) => {
    res.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  };

/** @type {Operation} */
export const readHealth = {
  id: 'readHealth',
  tag: 'operation',
  scope: 'open',
  summary: 'Whether this process is alive',
  answers: { 200: json(SCHEMAS.Alive) },
  problems: [],
};

/** @type {Operation} */
export const readReadiness = {
  id: 'readReadiness',
  tag: 'operation',
  scope: 'open',
  summary: 'Whether this process is ready, and its checks',
  answers: { 200: json(SCHEMAS.Readiness), 503: json(SCHEMAS.Readiness) },
  problems: [],
};

/** @type {Operation} */
export const readMetrics = {
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

/** @type {Operation} */
export const readOpenApi = {
  id: 'readOpenApi',
  tag: 'contract',
  scope: 'open',
  summary: 'The HTTP interface, as OpenAPI 3.1',
  answers: { 200: json(SCHEMAS.Document) },
  problems: [],
};

/** @type {Operation} */
export const readAsyncApi = {
  id: 'readAsyncApi',
  tag: 'contract',
  scope: 'open',
  summary: 'The MQTT interface, as AsyncAPI 3.0',
  answers: { 200: json(SCHEMAS.Document) },
  problems: [],
};

/**
 * @typedef {object} DocumentDeps
 * @property {Access} access
 * @property {object} openApi
 * @property {object} asyncApi
 */

/** `GET /openapi.json` @param {DocumentDeps} deps */
export const getOpenApi = ({ openApi }) => answerWith(openApi);

/** `GET /asyncapi.json` @param {DocumentDeps} deps */
export const getAsyncApi = ({ asyncApi }) => answerWith(asyncApi);

/** @param {object} document @returns {RequestHandler} */
const answerWith = (document) => (_req, res) => {
  res.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' }).json(document);
};

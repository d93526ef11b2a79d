import { json } from '../operation.js';
import { SCHEMAS } from '../schemas.js';

/** @typedef {import('../operation.js').Operation} Operation */

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
  summary: 'Whether it can do its work now, and what is missing',
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
        text: 'Lines of a name, labels and a value.',
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

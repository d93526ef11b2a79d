import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { ERRORS } from '../../../common/errors.js';
import { COOKIE } from '../../access/http/cookie.js';
import { componentSchemas, refTo } from './components.js';
import { TAGS } from './operation.js';
import { pathParameters, queryParameters } from './parameters.js';
import { PAYLOADS } from './payloads.js';
import { PROBLEM_CODES, PROBLEMS, problemName, problemsOf } from './problems.js';
import { SCHEMAS } from './schemas.js';

/** @typedef {import('./operation.js').Operation} Operation */
/** @typedef {import('../routes/index.js').Route} Route */

const DESCRIPTION = `Reads what sensors measured, and takes measurements from those who have no MQTT.

Times go out as \`2026-11-21T00:00:00.000Z\` and are taken as ISO 8601 or as integer milliseconds. Ranges are half-open,
\`[from, to)\`. Devices and sensors are named by a UUID or by their name, percent-encoded. A page that is not the last one
ends with a cursor, \`next\`, and may be short. An error is a problem document (RFC 9457) with a stable \`code\`.`;

/** @type {Record<string, z.ZodType>} */
const NAMED = {
  ...SCHEMAS,
  ...PAYLOADS,
  ...Object.fromEntries(PROBLEM_CODES.map((code) => [problemName(code), PROBLEMS[code]])),
};

const nameOf = new Map(Object.entries(NAMED).map(([name, schema]) => [schema, name]));

/**
 * The HTTP interface as an OpenAPI document, made of the table of routes.
 *
 * @param {object} of
 * @param {Route[]} of.routes
 * @param {string} of.version
 * @param {boolean} of.guarded whether a token is demanded
 */
export function openApiDocument({ routes, version, guarded }) {
  /** @type {Record<string, Record<string, object>>} */
  const paths = {};
  for (const { method, path, operation } of routes) {
    paths[path] = { ...paths[path], [method]: describe(path, operation, guarded) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: componentSchemas(NAMED), securitySchemes: SECURITY },
  };
}

const SECURITY = {
  token: { type: 'http', scheme: 'bearer', description: 'A token of the settings.' },
  password: { type: 'http', scheme: 'basic', description: 'Any user; the password is the same token.' },
  session: { type: 'apiKey', in: 'cookie', name: COOKIE, description: 'Begun by `POST /session`.' },
};

/**
 * @param {string} path
 * @param {Operation} operation
 * @param {boolean} guarded
 */
function describe(path, operation, guarded) {
  const { id, tag, summary, description, query = {}, body, answers, scope } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    parameters: [...pathParameters(path), ...queryParameters(query)],
    ...(body && { requestBody: { required: true, content: contentOf(body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, content]) => [
          status,
          goodResponse(operation, status, content),
        ]),
      ),
      ...problemResponses(operation),
    },
    security:
      guarded && scope !== 'open' ? [{ token: [scope] }, { password: [scope] }, { session: [scope] }] : [],
  };
}

/** @param {Operation} operation @param {string} status @param {import('./operation.js').Content} content */
function goodResponse({ id, query, links }, status, content) {
  const nextPage = query?.['cursor'] && {
    nextPage: { to: id, parameters: { cursor: '$response.body#/next' } },
  };
  const named = Object.entries({ ...nextPage, ...links });
  return {
    description: String(STATUS_CODES[Number(status)]),
    content: contentOf(content),
    ...(named.length > 0 && {
      links: Object.fromEntries(
        named.map(([name, { to, parameters }]) => [name, { operationId: to, parameters }]),
      ),
    }),
  };
}

/** @param {Operation} operation */
function problemResponses(operation) {
  const responses = [...problemsOf(operation)].map(([status, codes]) => {
    const schemas = codes.map((code) => refTo(problemName(code)));
    const schema = schemas.length === 1 ? schemas[0] : { oneOf: schemas };
    const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join('\n\n');
    return [status, { description, content: { 'application/problem+json': { schema } } }];
  });
  return Object.fromEntries(responses);
}

/** @param {import('./operation.js').Content} content */
const contentOf = (content) =>
  Object.fromEntries(Object.entries(content).map(([type, body]) => [type, mediaOf(body)]));

/** @param {import('./operation.js').Body} body */
function mediaOf(body) {
  if (!(body instanceof z.ZodType)) {
    const { text, example } = body;
    return { schema: { type: 'string', description: text }, ...(example && { example }) };
  }
  const name = nameOf.get(body);
  if (!name) throw new Error('an answer has no name in SCHEMAS');
  return { schema: refTo(name) };
}

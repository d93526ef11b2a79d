import { z } from 'zod';
import { PROBLEMS, problemsOf, statusOf } from '../../../api/http/contract/operation.js';
import { ROUTES } from '../../../api/http/routes/index.js';

/** @import { Content } from '../../../api/http/contract/operation.js' */
/** @import { ErrorCode } from '../../../common/errors.js' */

/**
 * An answer as received.
 *
 * @typedef {object} Answer
 * @property {string} method
 * @property {string} path with its query
 * @property {number} status
 * @property {(name: string) => string | undefined} header
 * @property {string | null} text null: not read
 */

const TABLE = ROUTES.map((route) => ({
  ...route,
  pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i'),
}));

/** Error codes of paths without a route, or before the route is known. */
const NO_ROUTE = /** @type {const} */ (['not_found', 'bad_parameter', 'rate_limited', 'wrong_host']);

/** Limit for quoted text, in characters. */
const SHOWN = 500;

const BAD_GATEWAY = 502;

/** Headers that answers of a status must have. @type {Record<number, string>} */
const REQUIRED = { 401: 'www-authenticate', 405: 'allow', 429: 'retry-after' };

/**
 * Checks an answer against the contract.
 *
 * @param {Answer} answer
 * @returns {string | null} the first difference from the document; null: none
 */
export function objectionTo(answer) {
  const objection = findObjection(answer);
  if (!objection) return null;
  const { method, path, status, text } = answer;
  return `${method} ${path.slice(0, SHOWN)} answered ${status}: ${objection.slice(0, SHOWN)}\n${text?.slice(0, SHOWN)}`;
}

/** @param {Answer} answer @returns {string | null} */
function findObjection(answer) {
  // Only a proxy in front of Millrace answers with 502.
  if (answer.status === BAD_GATEWAY) return null;
  const path = String(answer.path.split('?', 1)[0]);
  const matching = TABLE.filter(({ pattern }) => pattern.test(path));
  // OpenAPI 3.1.1, Path Templating: a path without templates matches before those with templates.
  const concrete = matching.filter((candidate) => candidate.path === path);
  const routes = concrete.length > 0 ? concrete : matching;
  const required = REQUIRED[answer.status];
  if (required && !answer.header(required)) return `no header ${required}`;
  if (routes.length === 0) return checkWithoutRoute(path, answer);
  const method = answer.method === 'HEAD' ? 'get' : answer.method.toLowerCase();
  const route = routes.find((candidate) => candidate.method === method);
  if (!route) return problemObjection(answer, ['method_not_allowed', ...NO_ROUTE]);
  const content = route.operation.answers[answer.status];
  if (content) return bodyObjection(answer, content);
  return problemObjection(answer, problemsOf(route.operation).get(answer.status) ?? []);
}

/** The dashboard and its files are not part of the contract. Problem documents are. @param {string} path @param {Answer} answer */
function checkWithoutRoute(path, answer) {
  const isApi = /^\/api(\/|$)/.test(path) || mediaType(answer) === 'application/problem+json';
  return isApi ? problemObjection(answer, ['method_not_allowed', 'headers_too_large', ...NO_ROUTE]) : null;
}

/** @param {Answer} answer @param {Content} content */
function bodyObjection(answer, content) {
  if (Object.keys(content).length === 0) return answer.text ? 'a body, but none is described' : null;
  const type = mediaType(answer);
  const [, body] = Object.entries(content).find(([described]) => described.split(';', 1)[0] === type) ?? [];
  if (!body) return `the media type ${type} is not described`;
  return body instanceof z.ZodType ? jsonObjection(answer, body) : null;
}

/** @param {Answer} answer @param {readonly ErrorCode[]} codes */
function problemObjection(answer, codes) {
  if (mediaType(answer) !== 'application/problem+json') return `${mediaType(answer)} is no problem document`;
  if (answer.text === null || answer.method === 'HEAD') {
    return codes.some((code) => statusOf(code) === answer.status) ? null : 'the status is not described';
  }
  const { code } = JSON.parse(answer.text);
  const schema = PROBLEMS[code];
  return schema && codes.includes(code) ? jsonObjection(answer, schema) : `the code ${code} is not described`;
}

/** @param {Answer} answer @param {z.ZodType} schema */
function jsonObjection({ method, text }, schema) {
  if (text === null || method === 'HEAD') return null;
  const { error } = schema.safeParse(JSON.parse(text));
  return error ? z.prettifyError(error) : null;
}

/** @param {Answer} answer */
const mediaType = ({ header }) => header('content-type')?.split(';', 1)[0];

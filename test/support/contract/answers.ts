import { z } from 'zod';
import { CONTRACTS, ROUTES } from '../../../api/features/index.ts';
import { problemSchemas } from '../../../api/http/contract/openapi.ts';
import { type Content, problemsOf, statusOf } from '../../../api/http/contract/operation.ts';
import type { ErrorCode } from '../../../common/errors.ts';

/** An answer as received. */
export interface Answer {
  method: string;
  /** with its query */
  path: string;
  status: number;
  header: (name: string) => string | undefined;
  /** null: not read */
  text: string | null;
}

const PROBLEMS = problemSchemas(CONTRACTS);

const TABLE = ROUTES.map((route) => ({
  ...route,
  pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i'),
}));

/** Error codes of paths without a route, or before the route is known. */
const NO_ROUTE = ['not_found', 'bad_parameter', 'rate_limited', 'wrong_host'] as const;

/** Limit for quoted text, in characters. */
const SHOWN = 500;

const BAD_GATEWAY = 502;

/** Headers that answers of a status must have. */
const REQUIRED: Record<number, string> = { 401: 'www-authenticate', 405: 'allow', 429: 'retry-after' };

/** Checks an answer against the contract. @returns the first difference from the document; null: none */
export function objectionTo(answer: Answer): string | null {
  const objection = findObjection(answer);
  if (!objection) return null;
  const { method, path, status, text } = answer;
  return `${method} ${path.slice(0, SHOWN)} answered ${status}: ${objection.slice(0, SHOWN)}\n${text?.slice(0, SHOWN)}`;
}

function findObjection(answer: Answer): string | null {
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

/** The dashboard and its files are not part of the contract. Problem documents are. */
function checkWithoutRoute(path: string, answer: Answer) {
  const isApi = /^\/api(\/|$)/.test(path) || mediaType(answer) === 'application/problem+json';
  return isApi ? problemObjection(answer, ['method_not_allowed', 'headers_too_large', ...NO_ROUTE]) : null;
}

function bodyObjection(answer: Answer, content: Content) {
  if (Object.keys(content).length === 0) return answer.text ? 'a body, but none is described' : null;
  const type = mediaType(answer);
  const [, body] = Object.entries(content).find(([described]) => described.split(';', 1)[0] === type) ?? [];
  if (!body) return `the media type ${type} is not described`;
  return body instanceof z.ZodType ? jsonObjection(answer, body) : null;
}

function problemObjection(answer: Answer, codes: readonly ErrorCode[]) {
  if (mediaType(answer) !== 'application/problem+json') return `${mediaType(answer)} is no problem document`;
  if (answer.text === null || answer.method === 'HEAD') {
    return codes.some((code) => statusOf(code) === answer.status) ? null : 'the status is not described';
  }
  const { code } = JSON.parse(answer.text);
  const schema = PROBLEMS.get(code);
  return schema && codes.includes(code) ? jsonObjection(answer, schema) : `the code ${code} is not described`;
}

function jsonObjection({ method, text }: Answer, schema: z.ZodType) {
  if (text === null || method === 'HEAD') return null;
  const { error } = schema.safeParse(JSON.parse(text));
  return error ? z.prettifyError(error) : null;
}

const mediaType = ({ header }: Answer) => header('content-type')?.split(';', 1)[0];

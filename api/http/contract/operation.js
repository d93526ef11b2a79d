import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { ERRORS } from '../../../common/errors.js';
import { SCOPES } from '../../access/http/tokens.js';
import { Refusal } from './schemas.js';

/** @import { ErrorCode as Code } from '../../../common/errors.js' */
/** @import { Scope } from '../../access/http/tokens.js' */
/** @import { ZodRawShape, ZodType } from 'zod' */

/**
 * What a stranger has to know of a route. The document at `/openapi.json` is made of it, requests are held to its media
 * types, and the tests hold every answer to it.
 *
 * @typedef {object} Operation
 * @property {string} id unique, in camel case
 * @property {keyof typeof TAGS} tag
 * @property {'open' | Scope} scope what a token must be good for, where tokens are set; `open`: none is asked for
 * @property {string} summary a few words
 * @property {string} [description] what the summary leaves open, in Markdown
 * @property {ZodRawShape} [query] the shape that the handler gives to `readQuery`
 * @property {Content} [body] what it takes
 * @property {Record<number, Content>} answers by status; all but problems
 * @property {Record<string, Link>} [links] where a good answer leads, beside its next page
 * @property {Code[]} problems of its own, beside those of every route
 *
 *
 * @typedef {{ to: string, parameters: Record<string, string> }} Link the operation, and where in this one's answer its
 *   parameters are, as OpenAPI writes it
 *
 * @typedef {Record<string, Body>} Content by media type
 *
 * @typedef {ZodType | { text: string, example?: string }} Body one of `SCHEMAS` (or of `PAYLOADS`) as JSON;
 *   or what a text, or bytes, are
 */

/** Groups of routes, in the order in which they are read. */
export const TAGS = {
  latest: 'The latest value of every sensor, or of some, also followed live.',
  devices: 'Devices and their sensors.',
  measurements: 'The samples of one sensor, and a way in for those who have no MQTT.',
  'dead-letters': 'What was refused, and why.',
  credentials: 'What devices sign in to the broker with, where `MQTT_AUTH` is on.',
  operation: 'How this process is.',
  access: 'Who asks, and what he may do.',
  contract: 'What you read here, for programs.',
};

/** @param {ZodType} schema @returns {Content} */
export const json = (schema) => ({ 'application/json': schema });

/** Of every listing that comes in pages. @type {Code[]} */
export const PAGED = ['bad_parameter', 'bad_cursor', 'unavailable'];

/** Every error that can be the problem of a request. */
export const PROBLEM_CODES = /** @type {Code[]} */ (
  Object.entries(ERRORS)
    .filter(([, { kind }]) => kind !== 'stop')
    .map(([code]) => code)
);

/** What a message can be refused for as a whole. */
export const REFUSAL_CODES = PROBLEM_CODES.filter((code) => ERRORS[code].kind === 'refusal');

/** What any route can answer, and what is answered before it is known which route it is. @type {Code[]} */
export const ANYWHERE = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_acceptable',
  'too_slow',
  'wrong_host',
  'headers_too_large',
  'rate_limited',
  'internal',
];

/** What keeps nobody out cannot be refused for want of a token. @type {Code[]} */
export const ANYWHERE_OPEN = ANYWHERE.filter((code) => !['unauthorized', 'forbidden'].includes(code));

/** @param {Code} code @returns {number} */
export const statusOf = (code) => /** @type {{ status?: number }} */ (ERRORS[code]).status ?? 500;

const told = {
  accepted: z.int().min(0),
  refused: z.array(Refusal),
};

/** Members beside those of every problem. @type {Partial<Record<Code, ZodRawShape>>} */
const MEMBERS = {
  bad_parameter: {
    parameters: z.array(z.strictObject({ name: z.string(), reason: z.string() })).optional(),
  },
  forbidden: {
    scope: z.enum(SCOPES).optional().meta({ description: 'What a token must be good for here.' }),
  },
  refused: told,
};

/** Refused with a message as a whole, one of these says what became of its measurements: nothing. */
const optionallyTold = z.strictObject(told).partial().shape;

/** @param {Code} code */
const problemOf = (code) =>
  z
    .strictObject({
      type: z.literal('about:blank'),
      title: z.literal(STATUS_CODES[statusOf(code)] ?? ''),
      status: z.literal(statusOf(code)),
      code: z.literal(code),
      detail: z.string().min(1).meta({ description: 'What is wrong with this request, for a person.' }),
      request_id: z.string().optional().meta({
        description: 'That of `X-Request-Id`: by it the log says more. Missing where it was no HTTP.',
      }),
      ...(MEMBERS[code] ?? (ERRORS[code].kind === 'refusal' ? optionallyTold : {})),
    })
    .meta({ description: `${ERRORS[code].title}.` });

/** The problem documents (RFC 9457), by code. */
export const PROBLEMS = /** @type {Record<string, ZodType>} */ (
  Object.fromEntries(PROBLEM_CODES.map((code) => [code, problemOf(code)]))
);

/** @param {Code} code @returns {string} `bad_id`: `BadIdProblem`, its name in the documents */
export const problemName = (code) =>
  `${code.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase())}Problem`;

/**
 * @param {Operation} operation
 * @returns {Map<number, Code[]>} the problems that it can give, by status
 */
export function problemsOf({ problems, scope }) {
  const codes = [...new Set([...problems, ...(scope === 'open' ? ANYWHERE_OPEN : ANYWHERE)])];
  const statuses = [...new Set(codes.map(statusOf))].sort((a, b) => a - b);
  return new Map(statuses.map((status) => [status, codes.filter((code) => statusOf(code) === status)]));
}

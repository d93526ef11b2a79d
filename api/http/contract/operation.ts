import { STATUS_CODES } from 'node:http';
import { type ZodRawShape, type ZodType, z } from 'zod';
import { type ErrorCode as Code, ERRORS } from '../../../common/errors.ts';
import { SCOPES, type Scope, type TargetsOf } from '../../access/http/index.ts';
import { Refusal } from './schemas/index.ts';

/**
 * The document at `/openapi.json` is made from these. The server checks requests against their media types, and the tests check every
 * answer against them.
 */
export interface Operation {
  /** `operationId` of OpenAPI: unique, in camel case */
  id: string;
  /** a name of `tags` of its contract */
  tag: string;
  /** that a token needs; `open`: no token is needed */
  scope: 'open' | Scope;
  /**
   * what a request touches. Missing: the whole installation, which a bound token does not reach. `body`: the handler calls `requireReach`
   */
  targets?: TargetsOf | 'body';
  /** for clients of InfluxDB 1: the query parameter `p` may have the token */
  tokenInQuery?: boolean;
  summary: string;
  /** in Markdown */
  description?: string;
  /** the answer is the live stream. The description ends with a table of its events */
  sendsEvents?: boolean;
  /** the handler passes it to `readQuery` */
  query?: ZodRawShape;
  body?: Content;
  /** a request without a body is valid as well */
  emptyBody?: boolean;
  /** by status, without problems */
  answers: Record<number, Content>;
  /** of a successful answer, in addition to the link to the next page */
  links?: Record<string, Link>;
  /** in addition to the problems of every route */
  problems: Code[];
}

/** `to`: id of an operation. `parameters`: where this answer contains them, as OpenAPI writes it. */
type Link = { to: string; parameters: Record<string, string> };

/** By media type. */
export type Content = Record<string, Body>;

/** A schema of `SCHEMAS` or `PAYLOADS` for JSON; or the description of a text or of bytes. */
export type Body = ZodType | { text: string; example?: string };

/** Groups of routes, in the order of the document. */
export const TAGS = {
  latest: 'The latest value of each sensor, and a live stream of changes.',
  devices: 'Devices and their sensors.',
  measurements: 'The samples of one sensor, and ingest over HTTP.',
  operation: 'The state of the processes.',
  access: 'The caller of a request and its scopes.',
  contract: 'These documents, for programs.',
};

export const json = (schema: ZodType): Content => ({ 'application/json': schema });

/** Every listing with pages has these problems. */
export const PAGED: Code[] = ['bad_parameter', 'bad_cursor', 'unavailable'];

/** Errors that can be the problem of a request. */
export const PROBLEM_CODES = Object.entries(ERRORS)
  .filter(([, { kind }]) => kind !== 'stop')
  .map(([code]) => code) as Code[];

/** These problems can refuse a whole message. */
export const REFUSAL_CODES = PROBLEM_CODES.filter((code) => ERRORS[code].kind === 'refusal');

/** Every route has these problems, some of them before routing. */
const ANYWHERE: Code[] = [
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

/** A route without a scope never answers with the two others. */
const ANYWHERE_OPEN: Code[] = ANYWHERE.filter((code) => !['unauthorized', 'forbidden'].includes(code));

export const statusOf = (code: Code): number => (ERRORS[code] as { status?: number }).status ?? 500;

const INGEST_RESULT = {
  accepted: z.int().min(0),
  refused: z.array(Refusal),
};

/** By code, in addition to the members of every problem. */
export type ProblemMembers = Partial<Record<Code, ZodRawShape>>;

export const PROBLEM_MEMBERS: ProblemMembers = {
  bad_parameter: {
    parameters: z.array(z.strictObject({ name: z.string(), reason: z.string() })).optional(),
  },
  forbidden: {
    scope: z.enum(SCOPES).optional().meta({ description: 'The scope that a token needs here.' }),
  },
  refused: INGEST_RESULT,
};

/** A problem that refuses a whole message contains these members if its measurements were counted. */
const OPTIONAL_RESULT = z.strictObject(INGEST_RESULT).partial().shape;

/** `members`: of the core and of features */
export const problemOf = (code: Code, members: ProblemMembers): ZodType =>
  z
    .strictObject({
      type: z.literal('about:blank'),
      title: z.literal(STATUS_CODES[statusOf(code)] ?? ''),
      status: z.literal(statusOf(code)),
      code: z.literal(code),
      detail: z.string().min(1).meta({ description: 'The fault of this request, for a person.' }),
      request_id: z.string().optional().meta({
        description:
          'The `X-Request-Id` of the answer. Log lines of the request contain it. Missing if the request was not valid HTTP.',
      }),
      ...(members[code] ?? (ERRORS[code].kind === 'refusal' ? OPTIONAL_RESULT : {})),
    })
    .meta({ description: `${ERRORS[code].title}.` });

/** Such as `BadIdProblem` for `bad_id`. */
export const problemName = (code: Code): string =>
  `${code.replace(/(?:^|_)(\w)/g, (_, first) => first.toUpperCase())}Problem`;

export function problemsOf({ problems, scope }: Operation): Map<number, Code[]> {
  const codes = [...new Set([...problems, ...(scope === 'open' ? ANYWHERE_OPEN : ANYWHERE)])];
  const statuses = [...new Set(codes.map(statusOf))].sort((a, b) => a - b);
  return new Map(statuses.map((status) => [status, codes.filter((code) => statusOf(code) === status)]));
}

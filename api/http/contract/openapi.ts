import { STATUS_CODES } from 'node:http';
import { type ZodRawShape, z } from 'zod';
import { ERRORS, type ErrorCode } from '../../../common/errors.ts';
import { COOKIE } from '../../access/http/index.ts';
import type { Route } from '../route.ts';
import type { Channel } from './channels.ts';
import {
  type Body,
  type Content,
  type Operation,
  PROBLEM_CODES,
  type ProblemMembers,
  problemName,
  problemOf,
  problemsOf,
} from './operation.ts';

const DESCRIPTION = `Reads measurements and devices. Takes measurements from devices without MQTT.

Answers contain times as \`2026-11-21T00:00:00.000Z\`. Requests may contain ISO 8601, integer milliseconds, or a time before
now such as \`-1h\` (\`ms\`, \`s\`, \`m\`, \`h\`, \`d\`, \`y\`) and \`now\`. Ranges are half-open,
\`[from, to)\`. A UUID or a percent-encoded name addresses a device or a sensor. Every page except the last one
has a cursor, \`next\`, and may be short. An error is a problem document (RFC 9457) with a stable \`code\`.`;

/** `text`: stands after the name of the schema in the table of events. */
export type StreamEvent = { schema: z.ZodType; text: string };

/** The part of the documents that the core or a feature adds. */
export interface Contract {
  /** groups of routes with their descriptions */
  tags?: Record<string, string>;
  /** schemas of bodies, by their names in the document */
  schemas?: Record<string, z.ZodType>;
  /** parameters of paths, by name */
  parameters?: Record<string, object>;
  routes?: Route[];
  /** further members of problem documents, by code */
  problems?: ProblemMembers;
  /** events of the live stream, by name */
  events?: Record<string, StreamEvent>;
  /** topics of `/asyncapi.json`, by id */
  channels?: Record<string, Channel>;
  /** schemas of payloads that only MQTT carries, by their names in the document */
  messages?: Record<string, z.ZodType>;
}

/** Each name is used once. */
export const mergeOf = <T>(parts: Array<Record<string, T> | undefined>): Record<string, T> =>
  Object.fromEntries(parts.flatMap((part = {}) => Object.entries(part)));

/** Of the problems that a route answers with. */
export function problemSchemas(contracts: Contract[]): Map<ErrorCode, z.ZodType> {
  const members = mergeOf(contracts.map(({ problems }) => problems)) as ProblemMembers;
  const routes = contracts.flatMap(({ routes = [] }) => routes);
  const used = new Set(routes.flatMap(({ operation }) => [...problemsOf(operation).values()].flat()));
  // It belongs to no operation.
  used.add('method_not_allowed');
  return new Map(
    PROBLEM_CODES.filter((code) => used.has(code)).map((code) => [code, problemOf(code, members)]),
  );
}

export function openApiDocument(
  contracts: Contract[],
  { version, guarded }: { version: string; guarded: boolean },
) {
  const problems = Object.fromEntries(
    [...problemSchemas(contracts)].map(([code, schema]) => [problemName(code), schema]),
  );
  const named = mergeOf([...contracts.map(({ schemas }) => schemas), problems]);
  const known: Known = {
    nameOf: new Map(Object.entries(named).map(([name, schema]) => [schema, name])),
    parameters: mergeOf(contracts.map(({ parameters }) => parameters)),
    events: mergeOf(contracts.map(({ events }) => events)),
  };
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, operation } of contracts.flatMap(({ routes = [] }) => routes)) {
    paths[path] = { ...paths[path], [method]: describe(path, operation, guarded, known) };
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
    tags: Object.entries(mergeOf(contracts.map(({ tags }) => tags))).map(([name, description]) => ({
      name,
      description,
    })),
    paths,
    components: { schemas: componentSchemas(named), securitySchemes: SECURITY },
  };
}

const SECURITY = {
  token: { type: 'http', scheme: 'bearer', description: 'A token from the settings.' },
  password: { type: 'http', scheme: 'basic', description: 'Any user name; the password is the token.' },
  session: { type: 'apiKey', in: 'cookie', name: COOKIE, description: '`POST /session` sets this cookie.' },
};

/** Schemas with a name, and described parameters of paths. */
interface Known {
  nameOf: Map<z.ZodType, string>;
  parameters: Record<string, object>;
  events: Record<string, StreamEvent>;
}

function describe(path: string, operation: Operation, guarded: boolean, known: Known) {
  const { id, tag, summary, query = {}, body, emptyBody = false, answers, scope } = operation;
  const description = operation.sendsEvents
    ? `${operation.description}\n\n${eventTable(known)}`
    : operation.description;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    parameters: [...pathParameters(path, known), ...queryParameters(query)],
    ...(body && { requestBody: { required: !emptyBody, content: contentOf(body, known) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, content]) => [
          status,
          goodResponse(operation, status, content, known),
        ]),
      ),
      ...problemResponses(operation),
    },
    security:
      guarded && scope !== 'open' ? [{ token: [scope] }, { password: [scope] }, { session: [scope] }] : [],
  };
}

/** In Markdown. */
const eventTable = ({ events, nameOf }: Known): string =>
  [
    '| event | data |',
    '| --- | --- |',
    ...Object.entries(events).map(
      ([name, { schema, text }]) => `| \`${name}\` | \`${nameOf.get(schema)}\`: ${text} |`,
    ),
  ].join('\n');

function goodResponse({ id, query, links }: Operation, status: string, content: Content, known: Known) {
  const nextPage = query?.['cursor'] && {
    nextPage: { to: id, parameters: { cursor: '$response.body#/next' } },
  };
  const named = Object.entries({ ...nextPage, ...links });
  return {
    description: String(STATUS_CODES[Number(status)]),
    content: contentOf(content, known),
    ...(named.length > 0 && {
      links: Object.fromEntries(
        named.map(([name, { to, parameters }]) => [name, { operationId: to, parameters }]),
      ),
    }),
  };
}

function problemResponses(operation: Operation) {
  const responses = [...problemsOf(operation)].map(([status, codes]) => {
    const schemas = codes.map((code) => refTo(problemName(code)));
    const schema = schemas.length === 1 ? schemas[0] : { oneOf: schemas };
    const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join('\n\n');
    return [status, { description, content: { 'application/problem+json': { schema } } }];
  });
  return Object.fromEntries(responses);
}

const contentOf = (content: Content, known: Known) =>
  Object.fromEntries(Object.entries(content).map(([type, body]) => [type, mediaOf(body, known)]));

function mediaOf(body: Body, { nameOf }: Known) {
  if (!(body instanceof z.ZodType)) {
    const { text, example } = body;
    return { schema: { type: 'string', description: text }, ...(example && { example }) };
  }
  const name = nameOf.get(body);
  if (!name) throw new Error('the schema of an answer has no name in its contract');
  return { schema: refTo(name) };
}

const named = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));

/** @throws if a parameter of the path has no description. */
const pathParameters = (path: string, { parameters }: Known): object[] =>
  named(path).map((name) => {
    const described = parameters[name];
    if (!described) throw new Error(`${path}: {${name}} is not described in its contract`);
    return { name, in: 'path', required: true, ...described };
  });

/** The field's `meta` has its description and example. */
const queryParameters = (shape: ZodRawShape): object[] =>
  Object.entries(shape).map(([name, field]) => {
    const schema = field as z.ZodType;
    const {
      $schema,
      description,
      example,
      means,
      default: _,
      ...described
    } = z.toJSONSchema(schema, { io: 'input' });
    if (!description) throw new Error(`the query parameter ${name} has no description`);
    const absent = schema.safeParse(undefined);
    return {
      name,
      in: 'query',
      required: !absent.success,
      // The default is in the description. With `default` in the schema, a generated client would send the parameter in every
      // request, even to routes that refuse it.
      description: absent.data === undefined ? description : `${description} Default: ${absent.data}.`,
      schema: (means ?? described) as object,
      ...(example === undefined ? {} : { example }),
    };
  });

/** As JSON Schema, with references to `#/components/schemas`. */
export function componentSchemas(named: Record<string, z.ZodType>): Record<string, object> {
  const registry: z.core.$ZodRegistry<{ id?: string | undefined }> = z.registry();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { ...schema.meta(), id });
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, withoutIndex(schema)]),
  );
}

/**
 * Removes `additionalProperties: {}`, the default of JSON Schema. With it, generated types would accept a member with a misspelled name. An
 * object without described members keeps it.
 */
const withoutIndex = <T>(schema: T): T =>
  JSON.parse(JSON.stringify(schema), (_, value) => {
    if (!isOpenObject(value)) return value;
    const { additionalProperties, ...rest } = value;
    return rest;
  });

/** Such a schema describes members and allows any others. */
const isOpenObject = (value: { properties?: unknown; additionalProperties?: unknown } | null): boolean =>
  Object.keys(value?.properties ?? {}).length > 0 &&
  typeof value?.additionalProperties === 'object' &&
  Object.keys(value.additionalProperties ?? {}).length === 0;

export const refTo = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

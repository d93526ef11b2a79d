import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { ZodType } from 'zod';
import { CONTRACTS, ROUTES } from '../../../api/features/index.ts';
import { openApiDocument } from '../../../api/http/contract/openapi.ts';
import { kafkaTopics } from '../../../tools/reference/kafka-topics.ts';
import { webTypeFiles } from '../../../tools/reference/web-types.ts';
import { expectReferences } from '../../support/contract/references.ts';
import type { Json } from '../../support/json.ts';
import { isUnplugged } from '../../support/unplugged.ts';

const document = openApiDocument(CONTRACTS, { version: '1.2.3', guarded: true });

interface Link {
  operationId: string;
  parameters: object;
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: {
    name: string;
    in: string;
    required: boolean;
    schema: { default?: unknown };
    description: string;
  }[];
  requestBody?: { content: object };
  security?: object[];
  responses: Record<string, { content?: object; links?: Record<string, Link> }>;
}

const operations: Array<[string, Operation]> = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, operation]) => [`${method} ${path}`, operation] as [string, Operation],
  ),
);

test('OpenAPI: routes: each is described exactly once', () => {
  const routes = ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(routes).size).toBe(routes.length);
  expect(operations.map(([route]) => route).sort()).toEqual([...routes].sort());
  const ids = operations.map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  ['OpenAPI', document],
  ['AsyncAPI of Kafka', JSON.parse(kafkaTopics())],
] as Array<[string, Json]>)('%s document: references: each leads to an existing part', (_, whole) =>
  expectReferences(whole),
);

describe.each(operations)('%s', (route, operation) => {
  test('OpenAPI operation: summary, tag, descriptions of parameters, responses: present', () => {
    expect(operation.summary).toMatch(/^[A-Z].{8,}[^.]$/);
    expect(document.tags.map(({ name }) => name)).toContain(operation.tags[0]);
    for (const parameter of operation.parameters) expect(parameter.description).toMatch(/^[A-Z].*\.$/s);
    expect(['200', '201', '204'].some((status) => status in operation.responses)).toBe(true);
    expect(operation.responses['500']).toBeDefined();
  });

  test('OpenAPI operation: query parameters and their defaults: equal those of the handler', () => {
    const { operation: described } = ROUTES.find(({ method, path }) => `${method} ${path}` === route) ?? {};
    const query = operation.parameters.filter((one) => one.in === 'query');
    expect(query.map((one) => one.name)).toEqual(Object.keys(described?.query ?? {}));
    for (const { name, required, schema, description } of query) {
      const field = described?.query?.[name] as ZodType;
      const absent = field.safeParse(undefined);
      const [, stated] = / Default: (\w+)\.$/.exec(description) ?? [];
      expect({ name, required, stated, sent: schema.default }).toEqual({
        name,
        required: !absent.success,
        stated: absent.data?.toString(),
        // A generated client would send a schema default with every request.
        sent: undefined,
      });
    }
  });
});

test('OpenAPI: schemas of the document: each is used in it', () => {
  const text = JSON.stringify(document);
  const referred = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name));
  // Only stream events use these schemas, and the problem 405 belongs to no operation.
  const events = CONTRACTS.flatMap((contract) => Object.values(contract.events ?? {}));
  const schemas = CONTRACTS.flatMap((contract) => Object.entries(contract.schemas ?? {}));
  const ofEvents = schemas.filter(([, schema]) => events.some((event) => event.schema === schema));
  for (const name of [...ofEvents.map(([name]) => name), 'Stats', 'MethodNotAllowedProblem'])
    referred.add(name);
  expect([...referred].sort()).toEqual(Object.keys(document.components.schemas).sort());
});

test.each(Object.entries(webTypeFiles()))(
  'Types of the dashboard: %s: equal the OpenAPI document (npm run docs:reference writes them)',
  async (path, generate) => {
    expect(readFileSync(path, 'utf8')).toBe(await generate());
  },
);

test('OpenAPI: routes without a token: only health, documents and sign-in', () => {
  const open = operations.filter(([, { security }]) => security?.length === 0).map(([route]) => route);
  expect(open.sort()).toEqual(
    [
      'delete /api/v1/session',
      'get /api/v1/session',
      ...(isUnplugged('api/features/asyncapi') ? [] : ['get /asyncapi.json']),
      ...(isUnplugged('api/features/line-protocol') ? [] : ['get /health', 'get /ping']),
      'get /healthz',
      'get /openapi.json',
      'get /readyz',
      'post /api/v1/session',
    ].sort(),
  );
});

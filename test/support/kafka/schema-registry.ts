import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * A schema registry with the HTTP contract of Confluent Schema Registry 7: subjects, lookup, registration, schemas by id, and
 * errors with `error_code`. Schemas are compared as texts without white space.
 */
export interface TestRegistry {
  url: string;
  /** versions, the oldest first */
  subjects: Map<string, Array<{ id: number; schema: string }>>;
  /** method and path of each */
  requests: string[];
  /** of registrations; null: they are accepted */
  refusal: { status: number; code: number; message: string } | null;
  stop: () => Promise<void>;
}

/** @param options `port`: default: a free one */
export async function startTestRegistry({
  port = 0,
  username,
  password,
}: {
  port?: number;
  username?: string;
  password?: string;
} = {}): Promise<TestRegistry> {
  const credentials = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  /** a schema has its index + 1 as id */
  const schemas: string[] = [];
  const registry: TestRegistry = {
    url: '',
    subjects: new Map(),
    requests: [],
    refusal: null,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  function answer(method: string, path: string, body: string): [status: number, answer: object] {
    const [, subject = '', versions] = /^\/subjects\/([^/]+)(\/versions)?$/.exec(path) ?? [];
    if (method !== 'POST' || !subject) return [404, { error_code: 404, message: 'HTTP 404 Not Found' }];
    const name = decodeURIComponent(subject);
    const { schema } = JSON.parse(body);
    const text = JSON.stringify(JSON.parse(schema));
    const found = registry.subjects.get(name) ?? [];
    const index = found.findIndex((each) => each.schema === text);
    const version = found[index];
    if (version) {
      const { id } = version;
      return [200, versions ? { id } : { subject: name, id, version: index + 1, schema: text }];
    }
    if (!versions) {
      return found.length > 0
        ? [404, { error_code: 40403, message: 'Schema not found' }]
        : [404, { error_code: 40401, message: `Subject '${name}' not found.` }];
    }
    if (registry.refusal) {
      const { status, code, message } = registry.refusal;
      return [status, { error_code: code, message }];
    }
    const id = schemas.indexOf(text) + 1 || schemas.push(text);
    registry.subjects.set(name, [...found, { id, schema: text }]);
    return [200, { id }];
  }

  const server = createServer(async (request, response) => {
    const body = await text(request);
    registry.requests.push(`${request.method} ${request.url}`);
    const isKnown = username === undefined || request.headers.authorization === credentials;
    const [status, content] = isKnown
      ? answer(String(request.method), String(request.url), body)
      : [401, { error_code: 40101, message: 'Unauthorized' }];
    response.writeHead(status, { 'Content-Type': 'application/vnd.schemaregistry.v1+json' });
    response.end(JSON.stringify(content));
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)));
  const address = server.address() as AddressInfo;
  registry.url = `http://127.0.0.1:${address.port}`;
  return registry;
}

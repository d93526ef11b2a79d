import { createRequire } from 'node:module';
import { afterAll, expect, test } from '@jest/globals';
import type { Client } from 'cassandra-driver';
import fc from 'fast-check';
import { createClient } from '../../../../api/store/client.ts';
import { createPreparedWrites, driverInternals, framesOf } from '../../../../api/store/sending/frames.ts';

type Frames = Parameters<typeof framesOf>[0];
type Frame = InstanceType<Frames['ExecuteRequest'] | Frames['BatchRequest']>;
type Execution = Frame['options'];

const load = createRequire(import.meta.url);
const driver: Frames & {
  DefaultExecutionOptions: { create: (options: object, client: Client) => Execution };
} = {
  ...load('cassandra-driver/lib/requests'),
  ...load('cassandra-driver/lib/execution-options'),
};
const Encoder = load('cassandra-driver/lib/encoder');

/** A client with the options of Millrace that never connects. */
function idleClient() {
  const client = createClient(
    {
      contactPoints: ['127.0.0.1:1'],
      localDc: 'datacenter1',
      consistency: 'LOCAL_QUORUM',
      localPort: 1,
    } as never,
    { keyspace: 'k' },
  );
  (
    client as unknown as { controlConnection: { protocolVersion: number } }
  ).controlConnection.protocolVersion = 4;
  return client;
}

const client = idleClient();
afterAll(() => client.shutdown());
const encoder = new Encoder(4, (client as unknown as { options: object }).options);
const { ExecuteFrame, BatchFrame } = framesOf(driver);

const buffer = (most: number) => fc.uint8Array({ maxLength: most }).map((bytes) => Buffer.from(bytes));
const item = fc.record({
  query: fc.constant('INSERT'),
  queryId: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes)),
  params: fc.array(buffer(40), { minLength: 1, maxLength: 6 }),
});
const options = fc.record(
  {
    logged: fc.constant(false),
    consistency: fc.constantFrom(1, 6),
    serialConsistency: fc.constantFrom(8, 9),
    timestamp: fc.constantFrom(null, 1, 1_795_000_000_000_123),
    fetchSize: fc.constantFrom(0, 100),
    customPayload: fc.constantFrom(undefined, { key: Buffer.from('value') }),
  },
  { requiredKeys: ['logged'] },
);
const streamId = fc.integer({ min: 0, max: 32_767 });
const blobs = (params: unknown[]) => ({
  columns: params.map(() => ({ type: { code: 0x03 } })),
});

function expectSameFrame(own: Frame, theirs: Frame, id: number) {
  theirs.timestamp = own.timestamp;
  const frame = own.write(encoder, id);
  expect(frame.toString('hex')).toBe(theirs.write(encoder, id).toString('hex'));
  expect(own.length).toBe(theirs.length);
}

test('Prepared Cassandra writes: any batch: the frame equals that of the driver, byte by byte', () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 5 }), options, streamId, (items, some, id) => {
      const queries = items.map((one) => ({ ...one, meta: blobs(one.params) }));
      const execution = driver.DefaultExecutionOptions.create(some, client);
      expectSameFrame(new BatchFrame(queries, execution), new driver.BatchRequest(queries, execution), id);
    }),
  );
});

test('Prepared Cassandra writes: any single statement: the frame equals that of the driver, byte by byte', () => {
  fc.assert(
    fc.property(item, options, streamId, ({ query, queryId, params }, some, id) => {
      const execution = driver.DefaultExecutionOptions.create(some, client);
      const args = [query, queryId, params, execution, blobs(params)] as const;
      expectSameFrame(new ExecuteFrame(...args), new driver.ExecuteRequest(...args), id);
    }),
  );
});

test('Prepared Cassandra writes: installed driver: has the internal functions that are needed', () => {
  expect(driverInternals(client)).not.toBeNull();
});

const known = { metadata: { getPreparedInfo: () => ({ queryId: Buffer.alloc(16) }) } };
const routing = Buffer.from('routing');

const others: Array<{ what: string; inside: object; routingKey?: Buffer; value?: unknown }> = [
  { what: 'driver has no list of prepared statements', inside: {}, routingKey: routing },
  {
    what: 'driver has not prepared the statement yet',
    inside: { metadata: { getPreparedInfo: () => ({}) } },
    routingKey: routing,
  },
  { what: 'a value is no Buffer', inside: known, routingKey: routing, value: 7 },
  { what: 'routing key is missing', inside: known },
];
test.each(others)('Prepared Cassandra writes: $what: driver functions send the write', async (other) => {
  const { inside, routingKey, value = Buffer.alloc(8) } = other;
  const sent: unknown[] = [];
  const plain = {
    ...inside,
    execute: async (...args: unknown[]) => sent.push(['execute', ...args]),
    batch: async (...args: unknown[]) => sent.push(['batch', ...args]),
  } as never;
  const write = createPreparedWrites(plain);
  const query = { query: 'INSERT', params: [value] };
  await write([query], routingKey);
  await write([query, query], routingKey);
  // Blocks have write timestamps of their own: see cql-values.ts.
  expect(sent).toEqual([
    ['execute', 'INSERT', [value], { routingKey, timestamp: expect.any(Number) }],
    ['batch', [query, query], { logged: false, routingKey, timestamp: expect.any(Number) }],
  ]);
});

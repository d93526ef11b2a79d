import { test } from '@jest/globals';
import { asyncApiDocument } from '../../../api/features/asyncapi/document.ts';
import { CONTRACTS } from '../../../api/features/index.ts';
import { ASYNC_API, useSchemaCheck } from '../../support/contract/schema-check.ts';

const check = useSchemaCheck();

test('AsyncAPI 3.0 document: official JSON schema: no violation', () =>
  check(asyncApiDocument(CONTRACTS, { version: '1.2.3' }), ASYNC_API));

import { test } from '@jest/globals';
import { asyncApiDocument } from '../../../../api/features/asyncapi/document.ts';
import { CONTRACTS } from '../../../../api/features/index.ts';
import { expectReferences } from '../../../support/contract/references.ts';

test('AsyncAPI document: references: each leads to an existing part', () =>
  expectReferences(asyncApiDocument(CONTRACTS, { version: '1.2.3' })));

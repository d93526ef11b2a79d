import type { RequestHandler } from 'express';
import type { Access } from '../access/http/index.ts';
import type { Reading } from '../history/reading/index.ts';
import type { Corrections } from '../ingest/corrections.ts';
import type { Ingest } from '../ingest/index.ts';
import type { Context } from '../observability/index.ts';
import type { Store } from '../store/index.ts';
import type { Operation } from './contract/operation.ts';
import type { Cursors } from './cursor.ts';
import type { Limits } from './long-requests.ts';

/**
 * A route is a value next to its handler. To add one:
 *
 * 1. write the handler; its query is a zod shape in which every field has a description;
 * 2. write the operation: summary, scope, query, answers by status and media type, and the codes of `common/errors.ts` that it can answer
 *    with, except those of every route (`ANYWHERE` in `contract/operation.ts`);
 * 3. add both to `routes` of the file.
 *
 * The tests compare every answer with its operation. `npm run test:contract` sends generated requests.
 */
export interface Route<D = never> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** full path as OpenAPI writes it, with parameters in braces */
  path: string;
  operation: Operation;
  handler: (deps: D) => RequestHandler;
}

/** The parts of the core that every handler gets. A handler of a feature gets all of the core, and the parts of its feature. */
export interface RouteCore {
  context: Context;
  store: Store;
  reading: Reading;
  ingest: Ingest;
  /** replaces and removes stored samples */
  corrections: Corrections;
  /** what checks requests */
  http: { access: Access; cursors: Cursors; limits: Limits };
}

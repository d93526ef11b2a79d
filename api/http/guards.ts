import { createAccess } from '../access/http/index.ts';
import type { Rate } from '../access/http/rate-limits.ts';
import type { Context } from '../observability/index.ts';
import { createCursors, cursorSecret } from './cursor.ts';
import { createConcurrencyLimits, MAX_CONCURRENT } from './long-requests.ts';

/** Limit for one address. */
const WRONG_TOKENS: Rate = { most: 10, windowMs: 60_000 };

/** What checks the requests of a process: tokens and sessions, cursors, and limits of concurrency. */
export async function createGuards({ config, clock, logger }: Context, attempts: Rate = WRONG_TOKENS) {
  const secret = config.http.cursorSecret ?? (await cursorSecret(config.dataDir));
  return {
    access: createAccess({ settings: config.http, secret, attempts, clock, logger }),
    cursors: createCursors({ secret, clock }),
    limits: createConcurrencyLimits(MAX_CONCURRENT),
  };
}

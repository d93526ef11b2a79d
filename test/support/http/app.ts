import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import express from 'express';
import type { Logger } from 'pino';
import pino from 'pino';
import { type BoundToken, createAccess } from '../../../api/access/http/index.ts';
import type { Rate } from '../../../api/access/http/rate-limits.ts';
import { createApp } from '../../../api/http/app.ts';
import * as session from '../../../api/http/routes/session.ts';
import { type BoundRoute, bindRoutes, serve } from '../../../api/http/serve.ts';
import { createMetrics } from '../../../api/observability/metrics.ts';
import { Readiness } from '../../../api/observability/readiness.ts';
import type { Config } from '../../../common/settings/config.ts';
import { useStarted } from '../clean-ups.ts';
import { send } from './index.ts';
import { listening } from './listening.ts';

/** Tokens of an application whose clients need one. */
export const TOKENS = {
  apiToken: 'a-token-of-the-scope-admin',
  readTokens: ['a-token-of-the-scope-read'],
  ingestTokens: ['a-token-of-the-scope-ingest'],
  correctTokens: ['a-token-of-the-scope-correct'],
};

type HttpSettings = Config['http'];

const SETTINGS: Pick<
  HttpSettings,
  | 'host'
  | 'tls'
  | 'trustProxy'
  | 'requestsPerSecond'
  | 'apiToken'
  | 'readTokens'
  | 'ingestTokens'
  | 'correctTokens'
  | 'sessionMs'
> = {
  host: '127.0.0.1',
  tls: null,
  trustProxy: 0,
  requestsPerSecond: 1000,
  apiToken: undefined,
  readTokens: [],
  ingestTokens: [],
  correctTokens: [],
  sessionMs: 3_600_000,
};

/** Routes that need a scope each and answer with the caller. */
const CALLER_ROUTES = (
  [
    ['get', 'read'],
    ['post', 'ingest'],
    ['delete', 'admin'],
  ] as const
).map(([method, scope]) => ({
  method,
  path: '/api/v1/caller',
  operation: { scope, answers: {} } as never,
  handler: (_req: express.Request, res: express.Response) => void res.json(res.locals['caller']),
}));

/**
 * Starts the HTTP application with its guards, limits, access and session routes, without a database. `/api/v1/caller` answers
 * with the caller: GET needs the scope `read`, POST `ingest`, DELETE `admin`.
 */
export async function startHttpApp(
  options: {
    settings?: Partial<typeof SETTINGS>;
    /** epoch ms */
    clock?: () => number;
    /** limit for wrong tokens from one address */
    attempts?: Rate;
    /** key that signs sessions */
    secret?: string;
    logger?: Logger;
    boundTokens?: BoundToken[];
    /** default: `/api/v1/caller` */
    routes?: BoundRoute[];
  } = {},
) {
  const { clock = Date.now, attempts = { most: 10, windowMs: 60_000 }, secret = 'a secret' } = options;
  const { logger = pino({ level: 'silent' }), boundTokens = [], routes = CALLER_ROUTES } = options;
  const settings = { ...SETTINGS, ...options.settings };
  const access = createAccess({ settings, secret, attempts, clock, logger });
  access.bind(boundTokens);
  const router = express.Router();
  serve(router, [...bindRoutes(session.routes, { http: { access } } as never), ...routes], access);
  const app = createApp({
    api: router,
    contracts: [],
    readiness: new Readiness({ health: { clockDifference: async () => 0 }, checks: {} }),
    version: 'test',
    access,
    settings,
    logger,
    metrics: createMetrics({ version: 'test', role: 'http' }),
  });
  const server = createServer({ requireHostHeader: false }, app);
  const port = await listening(server);
  const url = `http://127.0.0.1:${port}`;

  return {
    url,

    send: (path: string, request?: Omit<Parameters<typeof send>[2], 'isReader'>) =>
      send(url, path, { ...request, isReader: false }),

    /** Sends the head of one request unchanged. @param lines without line ends */
    async sendLines(lines: string[]): Promise<{ status: number; text: string }> {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1');
      let answer = '';
      for await (const piece of socket) answer += piece;
      return { status: Number(answer.split(' ', 2)[1]), text: answer.slice(answer.indexOf('\r\n\r\n') + 4) };
    },

    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type HttpApp = Awaited<ReturnType<typeof startHttpApp>>;

export const useHttpApp = (options?: Parameters<typeof startHttpApp>[0]) =>
  useStarted(
    () => startHttpApp(options),
    ({ stop }) => stop(),
  );
